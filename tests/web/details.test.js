// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage, picture, ready } from './browser.js';
import { Cluster } from './fixture/cluster.js';
import { FixtureHub } from './fixture/server.js';
import { panelTitle, until } from './seen.js';

let hub;
before(async () => { hub = await new FixtureHub(new Cluster({ pods: 4, leaves: 5, nodes: 20 })).start(); });
after(() => hub.stop());

async function at(hash, work) {
  const { page, faults, close } = await openPage(hub, { hash });
  await ready(page);
  await work(page);
  assert.deepEqual(faults, []);
  await close();
}

test('A node shows its facts and the history of all its GPUs', () => at('#cluster/node/n00012', async (page) => {
  const panel = page.locator('#panel');
  await panel.getByText('570.86.10').waitFor();
  assert.equal(await panel.locator('.gpu-list li').count(), 8);
  await panel.locator('.line').nth(7).waitFor();
  assert.match(await panel.locator('.plot-box').getAttribute('aria-label'), /Temperature of each GPU, °C, .* least .* most/);
  assert.ok(await panel.locator('.tick').count() >= 5, 'the axes have numbers');
  await panel.getByLabel('Measure').selectOption('Power');
  await panel.getByText('Power of each GPU').waitFor();
  await panel.locator('.line').nth(7).waitFor();
  await panel.locator('.plot').scrollIntoViewIfNeeded();
  await picture(page, 'node-history');
}));

test('A GPU shows eight plots that can be read', () => at('#cluster/node/n00012/3', async (page) => {
  const panel = page.locator('#panel');
  await panel.locator('.band').nth(7).waitFor();
  assert.deepEqual(await panel.locator('.plot-title').allInnerTexts(), ['Temperature', 'Memory temperature', 'Power', 'Utilisation', 'ECC errors, corrected', 'ECC errors, uncorrected', 'NVLink errors', 'PCIe replays']);
  const plot = panel.locator('.plot').first();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.locator('.plot-box').boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
  assert.match(await plot.locator('.readout').innerText(), /^\d\d:\d\d:\d\d \d+(\.\d+)? \(\d+(\.\d+)?–\d+(\.\d+)?\)$/);
  await picture(page, 'gpu-history');
  await plot.locator('.plot-box').focus();
  await page.keyboard.press('ArrowLeft');
  const last = await plot.locator('.readout').innerText();
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await plot.locator('.readout').innerText(), last, 'arrow keys read the points');
  await panel.getByRole('button', { name: '30 d' }).click();
  await panel.locator('.band').nth(7).waitFor();
}));

test('A job shows its time, its timeline and its ETTR', () => at('#jobs', async (page) => {
  await page.locator('#view-list tbody tr').first().waitFor();
  await page.getByRole('link', { name: '1003', exact: true }).click();
  await until(async () => (await panelTitle(page)) === 'Job 1003', 'the job is opened beside the list');
  const panel = page.locator('#panel');
  await panel.getByText('from step 12400, 41 steps lost').waitFor();
  assert.match(await panel.innerText(), /ETTR\s+\d+\.\d %/);
  assert.match(await panel.innerText(), /Work done again\s+31 min 40 s/);
  // It runs for days: each of its times has its own.
  const submitted = hub.cluster.jobs.find((job) => job.id === 1003).submit_ms;
  const day = new Date(submitted).toISOString().slice(0, 10);
  const isToday = day === new Date().toISOString().slice(0, 10);
  assert.match(await panel.locator('.timeline li').first().innerText(), isToday ? /^\d\d:\d\d:\d\d\s/ : new RegExp(`^${day} `));
  await picture(page, 'jobs');
  await panel.getByRole('button', { name: 'Show on the cluster' }).click();
  await page.locator('#stage').waitFor();
  assert.match(page.url(), /#cluster\/job\/1003$/);
}));

test('The queue says what each job waits for', () => at('#jobs', async (page) => {
  await page.getByRole('button', { name: 'Queue' }).click();
  await page.getByText('Waits for').waitFor();
  assert.equal(await page.locator('#view-list tbody tr').count(), 14);
}));

test('An incident shows its whole way with times', () => at('#incidents', async (page) => {
  await page.locator('#view-list tbody a').first().click();
  const panel = page.locator('#panel');
  await panel.locator('.timeline li').nth(4).waitFor();
  const steps = await panel.locator('.timeline li').allInnerTexts();
  assert.match(steps[2], /^\d\d:\d\d:\d\d\.\d\d\d\s*slurmctld · drained\s*\+27 ms\s*ACRF: /);
  assert.match(steps[4], /restarted\s*\+1\.4 s/);
  assert.match(await panel.locator('pre').innerText(), /fallen off the bus/);
  await picture(page, 'incident');
}));

test('An incident that is looked at grows with what is done about it', async () => {
  const own = await new FixtureHub(new Cluster({ pods: 1, leaves: 1, nodes: 20 })).start();
  const incident = own.cluster.incidents.find((one) => !one.closed_ms);
  const way = own.cluster.trace(incident);
  own.cluster.trace = () => way.slice(0, 1);
  const { page, faults, close } = await openPage(own, { hash: `#incidents/incident/${incident.id}` });
  await ready(page);
  const steps = page.locator('#panel .timeline li');
  await until(async () => (await steps.count()) === 1, 'it has been seen');
  own.cluster.trace = () => way; // no event tells of it
  await until(async () => (await steps.count()) === 5, 'the job is back');
  assert.deepEqual(faults, []);
  await close();
  await own.stop();
});

test('Brakes say what tripped them', () => at('#brakes', async (page) => {
  await page.getByText('1 of 4 brakes have tripped').waitFor();
  const first = page.locator('.brake').first();
  assert.match(await first.innerText(), /common-class nvlink_error[\s\S]*Tripped[\s\S]*3 of 3[\s\S]*a common cause is likely[\s\S]*n00041/);
  await page.locator('#brakes-count', { hasText: '1 tripped' }).waitFor();
  await picture(page, 'brakes');
}));

test('The audit log is listed and narrowed to a node', () => at('#audit', async (page) => {
  await page.locator('#view-list tbody tr').first().waitFor();
  const node = hub.cluster.audit[0].node;
  await page.getByLabel('Only of this node').fill(node);
  await page.keyboard.press('Enter');
  await until(async () => (await page.locator('#view-list tbody tr').count()) === hub.cluster.audit.filter((entry) => entry.node === node).length, 'only its entries');
  await picture(page, 'audit');
}));

test('What there is none of is said', async () => {
  hub.broken.set('/v1/jobs', { status: 200, body: '{"jobs":[]}' });
  hub.broken.set('/v1/incidents', { status: 200, body: '{"incidents":[]}' });
  hub.broken.set('/v1/audit', { status: 200, body: '{}' });
  hub.broken.set('/v1/queue', { status: 200, body: '{"jobs":[]}' });
  await at('#jobs', async (page) => {
    await page.getByText('None runs now.').waitFor();
    await page.getByRole('button', { name: 'Queue' }).click();
    await page.getByText('No job waits.').waitFor();
    await page.locator('#tab-incidents').click();
    await page.getByText('No open incidents').waitFor();
    await picture(page, 'empty');
    await page.locator('#tab-audit').click();
    await page.getByText('Nothing was decided or done.').waitFor();
  });
  hub.broken.clear();
});

test('What cannot be loaded says so and is tried again', async () => {
  hub.broken.set('/v1/jobs', { status: 500, body: '{"error":"the disk has failed"}' });
  await at('#jobs', async (page) => {
    await page.getByText('The disk has failed.').waitFor();
    await picture(page, 'error');
    hub.broken.clear();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('#view-list tbody tr').first().waitFor();
  });
});

test('What the hub does not know is said', () => at('#cluster/node/n99999', async (page) => {
  await page.getByText('The hub does not know it').waitFor();
}));
