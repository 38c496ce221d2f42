// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever names and numbers come from the cluster: nothing runs, nothing breaks, everything is said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, picture, ready } from './browser.js';
import { Cluster } from './fixture/cluster.js';
import { FixtureHub } from './fixture/server.js';
import { overflow, panelTitle, until } from './seen.js';

const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

async function withHub(change, options, work) {
  const hub = await new FixtureHub(new Cluster({ pods: 2, leaves: 2, nodes: 10 })).start();
  change(hub);
  const { page, faults, close } = await openPage(hub, options);
  await work(hub, page);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
  await hub.stop();
}

test('Hostile names are text', () => withHub((hub) => {
  const { cluster } = hub;
  cluster.names[4] = hostile;
  cluster.pods[0].leaves[0].nodes[4] = hostile;
  cluster.pods[0].name = hostile;
  cluster.jobs[0].name = hostile;
  cluster.jobs[0].user = hostile;
  cluster.incidents = [cluster.incident(4, Date.now(), { id: hostile, class: hostile, action: hostile, severity: hostile, evidence: hostile, outcome: hostile, closed_ms: 0 })];
  cluster.audit = [{ time_ms: 1, node: hostile, what: hostile, subject: hostile, decided_by: hostile, evidence: hostile, incident: hostile, sentence: hostile, result: hostile }];
  cluster.brakes = [{ brake: hostile, group: hostile, full: true, nodes: [hostile], sentence: hostile }];
}, { token: 'admin' }, async (hub, page) => {
  await ready(page);
  await page.locator('#find').fill(hostile);
  await page.locator('#find').press('Enter');
  await until(async () => (await panelTitle(page)).includes('<img src=x'), 'the name is shown as it is');
  await page.locator('#panel .gpu-list').waitFor();
  await page.getByRole('button', { name: 'Drain…' }).click();
  assert.match(await page.getByRole('dialog').innerText(), /<script>window/);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Table' }).click();
  for (const view of ['incidents', 'jobs', 'brakes', 'audit']) {
    await page.locator(`#tab-${view}`).click();
    await page.locator('#view-list', { hasText: '<img' }).waitFor();
  }
  await page.locator('#tab-incidents').click();
  await page.locator('#view-list tbody a').first().click();
  await page.locator('#panel pre').waitFor();
  assert.equal(await page.locator('img').count(), 0);
  assert.ok(await overflow(page) <= 0);
  await picture(page, 'hostile');
}));

test('Unknown states and missing fields are shown as unknown', () => withHub((hub) => {
  hub.broken.set('/v1/fleet', { status: 200, body: JSON.stringify({ pods: [{ leaves: [{ nodes: ['a', 'b', 'c'] }] }], node_state: '1?', gpu_count: 4, gpu_state: '1:' }) });
  hub.broken.set('/v1/nodes/a', { status: 200, body: '{"name":"a","state":"melted","gpus":[{},null,{"state":42,"temperature_c":"hot"}],"incidents":[null,{}],"jobs":"no"}' });
  hub.broken.set('/v1/nodes/a/history', { status: 200, body: '{"points":[[1],null,["x",1,2,3],{}]}' });
  hub.broken.set('/v1/status', { status: 200, body: '[]' });
  hub.broken.set('/v1/incidents', { status: 200, body: '{"incidents":[null,7,{"id":"lonely"}]}' });
}, {}, async (hub, page) => {
  await ready(page);
  await page.locator('.legend-item', { hasText: 'Unknown' }).filter({ hasText: '2' }).waitFor();
  await page.locator('#find').fill('a');
  await page.locator('#find').press('Enter');
  await page.getByText('Unknown (melted)').waitFor();
  await page.getByText('Nothing was recorded in this time.').waitFor();
  await page.locator('.close').click();
  await page.locator('.feed-item').first().waitFor();
}));

test('An empty cluster is explained', () => withHub((hub) => {
  hub.broken.set('/v1/fleet', { status: 200, body: '{"pods":[]}' });
}, {}, async (hub, page) => {
  await page.getByText('The hub knows no nodes yet').waitFor();
  await picture(page, 'no-nodes');
}));

test('An answer that is not JSON is said to be none', () => withHub((hub) => {
  hub.broken.set('/v1/fleet', { status: 200, body: '<html>proxy</html>' });
}, {}, async (hub, page) => {
  await page.getByText('The hub answered with something that is not JSON.').waitFor();
}));
