// SPDX-License-Identifier: GPL-2.0-or-later
// What the tests look at: pixels of the picture, texts of the page.
import assert from 'node:assert/strict';

// How many pixels of the picture have the colour of a style sheet's variable, such as --state-down.
export function pixelsOf(page, variable) {
  return page.evaluate((name) => {
    const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    const canvas = document.querySelector('#stage canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b) ++found;
    return found;
  }, variable);
}

export async function until(question, sentence, limitMs = 10000) {
  const end = Date.now() + limitMs;
  let answer = await question();
  while (!answer && Date.now() < end) {
    await new Promise((resolve) => { setTimeout(resolve, 20); });
    answer = await question();
  }
  assert.ok(answer, sentence);
  return answer;
}

export function place(page) {
  return page.locator('#place li').allInnerTexts();
}

export async function panelTitle(page) {
  return page.locator('#panel h2').innerText();
}

export async function stageCentre(page) {
  const box = await page.locator('#stage').boundingBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

// Nothing may be wider than the window.
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
