// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, painted, phone, picture, ready } from './browser.js';
import { Cluster } from './fixture/cluster.js';
import { FixtureHub } from './fixture/server.js';
import { overflow, panelTitle, place, stageCentre, until } from './seen.js';

test('On a phone everything fits and fingers work', async () => {
  const hub = await new FixtureHub(new Cluster()).start();
  const { page, faults, close } = await openPage(hub, { viewport: phone, touch: true });
  await ready(page);
  await page.locator('.feed-item').first().waitFor();
  assert.ok(await overflow(page) <= 0, 'nothing is wider than the screen');
  await picture(page, 'phone');
  const centre = await stageCentre(page);
  await pinch(page, centre, 20, 150);
  await pinch(page, centre, 20, 150);
  await until(async () => (await place(page)).length >= 3, 'two fingers zoom in');
  await page.locator('#find').fill('n00494');
  await page.locator('#find').press('Enter');
  await until(async () => (await panelTitle(page)) === 'n00494', 'details open');
  await page.locator('.history .line').first().waitFor();
  assert.ok(await overflow(page) <= 0, 'details fit too');
  await picture(page, 'phone-node');
  await page.locator('.close').tap();
  await until(async () => (await panelTitle(page)) === 'Incidents, live', 'details close');
  for (const view of ['incidents', 'jobs', 'brakes', 'audit']) {
    await page.locator(`#tab-${view}`).click();
    await page.locator('#view-list h2').waitFor();
    assert.ok(await overflow(page) <= 0, view);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  await page.locator('#tab-cluster').click();
  await painted(page);
  assert.ok(await overflow(page) <= 0, '320 pixels');
  await picture(page, 'phone-320');
  assert.deepEqual(faults, []);
  await close();
  await hub.stop();
});

// Two fingers, from `from` to `to` pixels left and right of a point.
async function pinch(page, { x, y }, from, to) {
  const cdp = await page.context().newCDPSession(page);
  const fingers = (d) => [{ x: x - d, y, id: 0 }, { x: x + d, y, id: 1 }];
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(from) });
  for (let step = 1; step <= 6; ++step) {
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(from + ((to - from) * step) / 6) });
  }
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}
