// SPDX-License-Identifier: GPL-2.0-or-later
// Debian's Chromium, one for all tests, and a page in it that must stay free of errors and of requests
// to anybody but the hub.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const pictures = process.env.WEB_PICTURES ?? fileURLToPath(new URL('../../build/web', import.meta.url));
mkdirSync(pictures, { recursive: true });

let browser;

export async function openBrowser() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
  });
  return browser;
}

export async function closeBrowser() {
  await browser?.close();
}

export const desktop = { width: 1440, height: 900 };
export const phone = { width: 360, height: 740 };

// -> {page, faults: what must be empty at the end}
export async function openPage(hub, { viewport = desktop, dark = false, touch = false, token = '', hash = '' } = {}) {
  const context = await (await openBrowser()).newContext({ viewport, colorScheme: dark ? 'dark' : 'light', hasTouch: touch, isMobile: touch,
    reducedMotion: 'reduce', timezoneId: 'UTC', locale: 'en-GB' });
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(hub.url) && !request.url().startsWith('data:')) faults.push(`a request to ${request.url()}`);
  });
  if (token) await page.addInitScript((value) => sessionStorage.setItem('acrf-token', value), token);
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(hub.url + hash);
  return { page, faults, work: () => pageWork(session), close: () => context.close() };
}

// Milliseconds of CPU that the page's own thread has used: who else uses the machine does not matter.
async function pageWork(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return Math.round(1000 * metrics.find(({ name }) => name === 'TaskDuration').value);
}

export async function ready(page) {
  await page.waitForFunction(() => performance.getEntriesByName('acrf-first-picture').length > 0);
}

export async function picture(page, name) {
  await page.screenshot({ path: `${pictures}/${name}.png` });
}

// Waits until two frames were painted.
export async function painted(page) {
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
}
