// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, picture, ready } from './browser.js';
import { Cluster } from './fixture/cluster.js';
import { FixtureHub } from './fixture/server.js';

async function withHub(options, work) {
  const hub = await new FixtureHub(new Cluster({ pods: 2, leaves: 2, nodes: 10 })).start();
  hub.needToken = Boolean(options.needToken);
  const { page, close } = await openPage(hub, options);
  await work(hub, page);
  await close();
  await hub.stop();
}

test('Who may only read sees no buttons that act', () => withHub({ hash: '#cluster/node/n00003/1' }, async (hub, page) => {
  await page.locator('#panel .gpu-list').waitFor();
  await page.locator('#access-name', { hasText: 'loopback' }).waitFor();
  assert.equal(await page.locator('.actions button').count(), 0);
}));

test('An admin drains a node after reading what will happen', () => withHub({ token: 'admin', hash: '#cluster/node/n00003' }, async (hub, page) => {
  await page.getByRole('button', { name: 'Drain…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('No new job will start on n00003.').waitFor();
  assert.match(await dialog.innerText(), /1 job there \(\d+\) will run to the end/);
  await picture(page, 'confirm');
  await dialog.getByRole('button', { name: 'Drain' }).click();
  assert.deepEqual(hub.actions, [], 'a reason is asked for');
  await dialog.getByLabel('Reason').fill('bad cable');
  await dialog.getByRole('button', { name: 'Drain' }).click();
  await dialog.getByText('Done: drain n00003').waitFor();
  assert.deepEqual(hub.actions, [{ action: 'drain', node: 'n00003', reason: 'bad cable' }]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  assert.equal(await dialog.isVisible(), false);
}));

test('Nothing is done when the person does not agree', () => withHub({ token: 'admin', hash: '#cluster/node/n00003/2' }, async (hub, page) => {
  await page.getByRole('button', { name: 'Clear…' }).click();
  await page.getByRole('dialog').getByText('GPU 2 will be given to jobs again').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('dialog').isVisible(), false);
  await page.getByRole('button', { name: 'Quarantine…' }).click();
  await page.getByRole('dialog').getByText('The other 7 GPUs of n00003 stay in service.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual(hub.actions, []);
}));

test('A refusal is shown where it was asked', () => withHub({ token: 'admin', hash: '#cluster/node/n00003' }, async (hub, page) => {
  await page.getByRole('button', { name: 'Return…' }).click();
  hub.broken.set('/v1/actions', { status: 409, body: '{"error":"alice drained it: \\"fans\\""}' });
  await page.getByRole('dialog').getByRole('button', { name: 'Return' }).click();
  await page.getByText('Not done: alice drained it: "fans".').waitFor();
}));

test('A hub that wants a token gets one, and it goes with the tab', () => withHub({ needToken: true }, async (hub, page) => {
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This token is not known or has expired.').waitFor();
  await picture(page, 'token');
  await dialog.getByLabel('Token').fill('wrong');
  await dialog.getByRole('button', { name: 'Use this token' }).click();
  await dialog.getByText('This token is not known or has expired.').waitFor();
  await dialog.getByLabel('Token').fill('admin');
  await dialog.getByRole('button', { name: 'Use this token' }).click();
  await ready(page);
  await page.locator('#access-name', { hasText: 'root' }).waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem('acrf-token')), 'admin');
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage)), '{}');
  await page.locator('#access').click();
  await dialog.getByRole('button', { name: 'Forget it' }).click();
  assert.equal(await page.evaluate(() => sessionStorage.getItem('acrf-token')), null);
}));
