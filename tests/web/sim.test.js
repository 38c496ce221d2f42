// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, phone, picture, ready } from './browser.js';
import { Cluster } from './fixture/cluster.js';
import { FixtureHub } from './fixture/server.js';
import { overflow, until } from './seen.js';

function simulator() {
  return { running: true, paused: false, seconds: 75, preset: 'Normal', rate_per_min: 6, failure_percent_per_min: 8,
    presets: [['Light', 1], ['Normal', 6], ['High', 15], ['Extreme', 30], ['Maximum', 50]].map(([name, rate]) => ({ name, rate_per_min: rate })),
    types: ['sleep', 'compute', 'matrix', 'training', 'fault'].map((name) => ({ name, weight: 1, description: `a ${name} job` })),
    submitted: 12, completed: 7, failed: 0, recovered: 3, injected: 4, repaired: 2, jobs: [{ id: '41', name: 'training-7', type: 'training', state: 'RUNNING', nodes: 2, gpus: 16, priority: 'high', retry: 0, restarts: 1, submit_ms: Date.now() }], replay: false };
}

test('Without a simulator there is no tab for it', async () => {
  const hub = await new FixtureHub(new Cluster({ pods: 1, leaves: 1, nodes: 8 })).start();
  const { page, close } = await openPage(hub);
  await ready(page);
  await page.locator('#access-name', { hasText: 'loopback' }).waitFor();
  assert.equal(await page.locator('#tab-sim').isVisible(), false);
  await close();
  await hub.stop();
});

test('The simulator is steered and watched', async () => {
  const hub = await new FixtureHub(new Cluster({ pods: 1, leaves: 1, nodes: 8 })).start();
  hub.sim = simulator();
  const { page, faults, close } = await openPage(hub);
  await ready(page);
  await page.locator('#tab-sim').click();
  const last = () => hub.simPosts.at(-1);
  await page.getByText('6 a minute').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Normal' }).getAttribute('aria-pressed'), 'true');
  for (let i = 0; i < 12; ++i) {
    hub.push('stats', { ...hub.cluster.stats(), jobs: { running: 3 + (i % 4), pending: i % 3 } });
    hub.push('sim', { ...hub.sim, seconds: 75 + i, submitted: 12 + i, injected: 4 + Math.floor(i / 3) });
  }
  await page.getByText('23', { exact: true }).waitFor();
  await page.locator('.plots .line').first().waitFor();
  await picture(page, 'simulator');
  const rate = page.getByRole('slider', { name: 'Jobs a minute' });
  await rate.focus();
  await page.keyboard.press('End');
  await until(() => last()?.rate_per_min === 50, 'the slider goes up to 50 a minute');
  await page.keyboard.press('Home');
  await until(() => last()?.rate_per_min === 0.1, 'and down to 0.1');
  await page.getByRole('button', { name: 'High' }).click();
  await until(() => last()?.preset === 'High', 'presets');
  await page.getByRole('button', { name: 'training' }).click();
  await until(() => last()?.submit === 'training', 'a job is submitted');
  await page.getByLabel('Node', { exact: true }).selectOption('n00003');
  await page.getByRole('button', { name: 'Inject a fault' }).click();
  await until(() => last()?.inject === 'n00003', 'a fault is injected');
  await page.getByRole('button', { name: 'Pause' }).click();
  await until(() => last()?.paused === true, 'it is paused');
  await page.getByRole('button', { name: 'Go on' }).waitFor();
  await page.setViewportSize(phone);
  assert.ok(await overflow(page) <= 0, 'it fits on a phone');
  await picture(page, 'phone-simulator');
  assert.deepEqual(faults, []);
  await close();
  await hub.stop();
});
