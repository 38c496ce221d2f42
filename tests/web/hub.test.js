// SPDX-License-Identifier: GPL-2.0-or-later
// The page on a real acrf-hub of a private Slurm cluster with fake GPUs, which acrf-with-cluster --hub
// has started: what happens there is seen here, and what is pressed here happens there.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openPage, picture, ready } from './browser.js';
import { panelTitle, until } from './seen.js';

const run = promisify(execFile);
const url = process.env.ACRF_HUB_URL;
const patientMs = 60000;

async function slurm(...command) {
  return (await run(command[0], command.slice(1))).stdout;
}

async function open(hash = '') {
  const opened = await openPage({ url }, { hash });
  opened.page.setDefaultTimeout(patientMs);
  await ready(opened.page);
  return opened;
}

function stateOf(page, node) {
  return page.locator('#node-table tbody tr').filter({ has: page.getByRole('link', { name: node, exact: true }) }).locator('td').nth(1).innerText();
}

if (url) {
  test('A real cluster is seen as it is', async () => {
    const { page, faults, close } = await open();
    await page.locator('#show-table').click();
    for (const node of ['n1', 'n2', 'n3', 'n4']) {
      await until(async () => (await stateOf(page, node)) === 'Healthy', `${node} is seen healthy`, patientMs);
    }
    const answer = await page.request.get(url);
    assert.match(answer.headers()['content-security-policy'], /default-src 'none'/);
    assert.deepEqual(faults, []);
    await close();
  });

  test('A real job is drawn, and leaves when it ends', async () => {
    const { page, close } = await open('#jobs');
    const id = (await slurm('sbatch', '--parsable', '-N2', '--gpus-per-node=8', '-J', 'seen', '-o', '/dev/null', '--wrap', 'sleep 600')).trim();
    await page.getByRole('link', { name: id, exact: true }).waitFor();
    await page.getByRole('link', { name: id, exact: true }).click();
    await page.getByRole('button', { name: 'Show on the cluster' }).click();
    await until(async () => (await panelTitle(page)) === `Job ${id}`, 'the job is opened');
    await page.locator('#layer-jobs').click();
    await picture(page, 'real-job');
    await page.locator('#show-table').click();
    const held = () => page.locator('#node-table').getByRole('link', { name: id, exact: true }).count();
    await until(async () => (await held()) === 2, 'its two nodes are named');
    await slurm('scancel', id);
    await page.locator('#tab-jobs').click();
    await page.locator('#tab-cluster').click();
    await until(async () => (await held()) === 0, 'they are free again', patientMs);
    await close();
  });

  test('A GPU that fails is seen from the incident to its history', async () => {
    const { page, close } = await open('#cluster/node/n2/1');
    await page.locator('.band').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Inject a fault…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Inject a fault' }).click();
    await page.getByText(/^Done/).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.locator('.close').click();
    await page.locator('.feed-item', { hasText: 'n2' }).first().click();
    await page.locator('#panel .timeline li').first().waitFor();
    await page.locator('#show-table').click();
    await until(async () => (await stateOf(page, 'n2')) !== 'Healthy', 'the node is not healthy any more', patientMs);
    await picture(page, 'real-incident');
    await close();
  });

  test('A fault on a node is on the page within half a second', async (t) => {
    const { page, close } = await open();
    const waits = [];
    for (const node of ['n1', 'n3', 'n4']) {
      await slurm('acrf', 'inject', '--node', node, '--xid', '31'); // a program's fault, which costs nobody anything
      const begun = Date.now();
      await page.locator('.feed-item', { hasText: node }).waitFor();
      waits.push(Date.now() - begun);
    }
    t.diagnostic(`seen ${waits.join(', ')} ms after the injection`);
    assert.ok(Math.min(...waits) < 500, `seen after ${waits.join(', ')} ms`);
    await close();
  });

  test('A node that is drained in the page is drained in Slurm', async () => {
    const { page, close } = await open('#cluster/node/n3');
    await page.getByRole('button', { name: 'Drain…' }).click();
    await page.getByLabel('Reason').fill('seen in a browser');
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByText(/^Done/).waitFor();
    assert.match(await slurm('scontrol', 'show', 'node', 'n3'), /DRAIN[\s\S]*seen in a browser/);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.locator('.facts', { hasText: /Drain/ }).waitFor();
    await page.getByRole('button', { name: 'Return…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Return' }).click();
    await page.getByText(/^Done/).waitFor();
    assert.doesNotMatch(await slurm('scontrol', 'show', 'node', 'n3'), /DRAIN/);
    await page.goto(`${url}#audit`);
    await page.locator('#view-list', { hasText: 'seen in a browser' }).waitFor();
    await close();
  });
}
