// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, painted, picture, ready } from './browser.js';
import { Cluster } from './fixture/cluster.js';
import { FixtureHub } from './fixture/server.js';
import { pixelsOf, until } from './seen.js';

async function withHub(work, options = {}) {
  const hub = await new FixtureHub(new Cluster(options.cluster)).start();
  const opened = await openPage(hub, options);
  try {
    await ready(opened.page);
    await until(() => hub.streams.size > 0, 'the page follows the events');
    await work(hub, opened.page, opened.faults);
    assert.deepEqual(opened.faults, []);
  } finally {
    await opened.close();
    await hub.stop();
  }
}

test('An incident is seen and announced at once', () => withHub(async (hub, page) => {
  await page.locator('.feed-item').first().waitFor();
  const waits = [];
  for (let i = 0; i < 5; ++i) {
    const begun = Date.now();
    hub.push('incident', hub.cluster.incident(500 + i, begun, { id: `fresh-${i}`, class: `made_up_${i}`, severity: 'fatal', closed_ms: 0 }));
    await page.locator('.feed-item', { hasText: `made_up_${i}` }).waitFor();
    waits.push(Date.now() - begun);
  }
  assert.ok(Math.min(...waits) < 500, `seen after ${waits.join(', ')} ms`);
  assert.match(await page.locator('.feed-item').first().innerText(), /made_up_4/);
  await until(async () => /made_up_\d on n|\d new incidents/.test(await page.locator('#announce').innerText()), 'screen readers are told');
  await painted(page);
  await picture(page, 'incident-live');
}));

test('Only what changed is painted again', () => withHub(async (hub, page) => {
  const node = hub.cluster.nodeState.indexOf(1);
  await painted(page);
  await page.evaluate(() => {
    window.rectangles = 0;
    const real = CanvasRenderingContext2D.prototype.fillRect;
    CanvasRenderingContext2D.prototype.fillRect = function count(...box) {
      ++window.rectangles;
      return real.apply(this, box);
    };
  });
  const before = await pixelsOf(page, '--state-down');
  hub.cluster.setState(node, 7);
  hub.pushNode(node);
  await until(async () => (await pixelsOf(page, '--state-down')) > before, 'the node is seen down');
  const painted1 = await page.evaluate(() => window.rectangles);
  assert.ok(painted1 > 0 && painted1 < 100, `${painted1} rectangles for one node`);
  assert.match(await page.locator('.legend-item', { hasText: 'Down' }).innerText(), /14/);
}));

test('A job comes and goes in the picture', () => withHub(async (hub, page) => {
  await page.locator('#layer-jobs').click();
  await painted(page);
  const idle = await pixelsOf(page, '--picture-idle');
  const first = hub.cluster.names.length - 80;
  hub.push('job', { id: 77777, name: 'late', user: 'eve', state: 'RUNNING', ranges: [[first, 64]], gpus: 512 });
  await until(async () => (await pixelsOf(page, '--picture-idle')) < idle, 'its nodes are not idle any more');
  hub.push('job', { id: 77777, state: 'COMPLETED', ranges: [] });
  await until(async () => (await pixelsOf(page, '--picture-idle')) === idle, 'they are again');
}));

test('A lost hub is said, with the time, and the page comes back by itself', async () => {
  const cluster = new Cluster({ pods: 2, leaves: 2, nodes: 10 });
  let hub = await new FixtureHub(cluster).start();
  const { page, close } = await openPage(hub);
  await ready(page);
  await until(() => hub.streams.size > 0, 'connected');
  await hub.stop();
  await page.getByText(/Hub not reachable, last seen \d\d:\d\d:\d\d/).waitFor();
  await page.getByText(/What you see is from/).waitFor();
  await picture(page, 'hub-lost');
  cluster.setState(3, 7);
  hub = await new FixtureHub(cluster).start(hub.port);
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 15000 });
  assert.equal(await page.locator('#banner').isVisible(), false);
  assert.ok(Number(hub.lastEventId) >= 1, 'it resumes from the last event');
  await close();
  await hub.stop();
});

test('A hub that is not there yet is waited for', async () => {
  const hub = await new FixtureHub(new Cluster({ pods: 1, leaves: 1, nodes: 8 })).start();
  hub.broken.set('/v1/fleet', { status: 503, body: '{"error":"slurmctld has not answered yet"}' });
  const { page, close } = await openPage(hub);
  await page.getByText(/Slurmctld has not answered yet\. Trying again/).waitFor();
  hub.broken.clear();
  await ready(page);
  await page.getByText('Live', { exact: true }).waitFor();
  await close();
  await hub.stop();
});

test('A reset makes the page look at everything anew', () => withHub(async (hub, page) => {
  hub.cluster.nodeState.fill(7, 0, 20);
  hub.push('reset', {});
  await page.locator('.legend-item', { hasText: 'Down' }).filter({ hasText: /2\d/ }).waitFor();
}, { cluster: { pods: 2, leaves: 2, nodes: 10 } }));

test('Broken events are passed over', () => withHub(async (hub, page) => {
  hub.pushRaw('event: fleet\ndata: {"nodes": [\n\nevent: incident\ndata: null\n\nevent: job\ndata: [1,2\n\ndata: 12\n\nevent: made-up\ndata: {}\n\n');
  hub.push('fleet', { nodes: [null, 7, { i: 'x' }] });
  hub.push('fleet', {});
  hub.push('incident', {});
  hub.push('job', { id: null });
  hub.push('stats', { nodes: 'many', jobs: null });
  hub.push('incident', hub.cluster.incident(3, Date.now(), { id: 'fine', class: 'after_all' }));
  await page.locator('.feed-item', { hasText: 'after_all' }).waitFor();
}, { cluster: { pods: 2, leaves: 2, nodes: 10 } }));
