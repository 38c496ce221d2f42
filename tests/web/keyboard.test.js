// SPDX-License-Identifier: GPL-2.0-or-later
// Without a mouse, from the first Tab to a drained node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, picture, ready } from './browser.js';
import { Cluster } from './fixture/cluster.js';
import { FixtureHub } from './fixture/server.js';
import { panelTitle, place, until } from './seen.js';

const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);

async function tabTo(page, wanted) {
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === wanted) return;
  }
  assert.fail(`${wanted} was not reached with Tab`);
}

test('Everything is reached by keyboard alone', async () => {
  const hub = await new FixtureHub(new Cluster({ pods: 6, leaves: 4, nodes: 9 })).start();
  const { page, faults, close } = await openPage(hub, { token: 'admin' });
  await ready(page);
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'skip');
  await page.keyboard.press('Enter');
  assert.equal(await focused(page), 'main');
  await tabTo(page, 'stage');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await until(async () => /^n0\d+, [a-z]+; 8 GPUs; /.test(await page.locator('#cursor-note').textContent()), 'the node is spoken');
  for (const depth of [2, 3, 4]) {
    await page.keyboard.press('PageDown');
    await until(async () => (await place(page)).length >= depth, `Page Down leads to depth ${depth}`);
  }
  await page.keyboard.press('PageDown');
  await page.keyboard.press('ArrowRight');
  await until(async () => /; GPU 1: /.test(await page.locator('#cursor-note').textContent()), 'the GPU is spoken');
  await picture(page, 'zoom-gpu');
  await page.keyboard.press('Enter');
  await until(async () => / GPU 1$/.test(await panelTitle(page)), 'Enter opens the GPU');
  await until(() => page.evaluate(() => document.activeElement.matches('#panel h2')), 'the focus goes to the details');
  await page.locator('.gpu-list').waitFor();
  await tabTo(page, 'Quarantine…');
  await page.keyboard.press('Enter');
  await page.keyboard.type('by keyboard');
  await page.keyboard.press('Enter');
  await until(() => hub.actions.length === 1, 'the action is done');
  assert.equal(hub.actions[0].reason, 'by keyboard');
  assert.equal(hub.actions[0].gpu, 1);
  await page.getByText(/^Done/).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await focused(page), 'Quarantine…', 'the focus comes back');
  await page.keyboard.press('Escape');
  await until(async () => (await panelTitle(page)) === 'Incidents, live', 'Escape closes the details');
  assert.equal(await focused(page), 'stage', 'and leads back to the picture');
  assert.deepEqual(faults, []);
  await close();
  await hub.stop();
});

test('Landmarks, names and live regions are there for screen readers', async () => {
  const hub = await new FixtureHub(new Cluster({ pods: 2, leaves: 2, nodes: 10 })).start();
  const { page, close } = await openPage(hub);
  await ready(page);
  for (const role of ['banner', 'main', 'complementary', 'search']) assert.equal(await page.getByRole(role).count(), 1, role);
  assert.ok(await page.getByRole('navigation', { name: 'Views' }).count() === 1);
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, a, input, select')]
    .filter((element) => element.checkVisibility() && !(element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.length))
    .map((element) => element.outerHTML));
  assert.deepEqual(nameless, []);
  assert.equal(await page.locator('[aria-live=polite]#announce').count(), 1);
  assert.equal(await page.locator('h1').count(), 1);
  await close();
  await hub.stop();
});
