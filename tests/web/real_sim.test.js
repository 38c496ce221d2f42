// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator's tab on the acrf-sim that $ACRF_SIM names, which is started here with a small cluster below $ACRF_SIM_ROOT: what
// is pressed happens there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { openPage, picture, ready } from './browser.js';
import { until } from './seen.js';

const patientMs = 60000;
const program = process.env.ACRF_SIM;

// -> {url, stop: ends it as Ctrl-C does and gives its status}
async function startSimulator(t) {
  const child = spawn(program, ['live', '--root', process.env.ACRF_SIM_ROOT, '--port', '0', '--nodes', '2', '--gpus', '2', '--rate', '0.1', '--failures', '0',
    '--job-seconds', '3'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => { said += text; });
  const [, url] = await until(() => said.match(/^Dashboard: (\S+)$/m), 'acrf-sim says where its dashboard is', patientMs);
  return { url: `${url}/`, stop: async () => {
    child.kill('SIGINT');
    return (await ended)[0];
  } };
}

if (program) {
  test('A real simulator does what its tab is told', async (t) => {
    const simulator = await startSimulator(t);
    const { page, faults, close } = await openPage(simulator, { hash: '#sim' });
    page.setDefaultTimeout(patientMs);
    await ready(page);
    const state = async () => (await page.request.get(`${simulator.url}v1/sim`)).json();
    const said = (text) => page.locator('.sim .result.good', { hasText: text }).waitFor();
    for (const [name, rate] of [['Light', 1], ['Normal', 6], ['High', 15], ['Extreme', 30], ['Maximum', 50]]) {
      await page.getByRole('button', { name, exact: true }).click();
      await said(`${name} from now on.`);
      assert.deepEqual([(await state()).preset, (await state()).rate_per_min], [name, rate]);
      await page.locator('button[aria-pressed=true]', { hasText: name }).waitFor();
      await page.getByText(`${rate} a minute`, { exact: true }).waitFor();
    }
    await until(async () => (await state()).submitted > 2, 'Maximum submits jobs', patientMs);
    await page.getByRole('slider', { name: 'Jobs a minute' }).focus();
    await page.keyboard.press('Home');
    await said('0.1 jobs a minute from now on.');
    assert.deepEqual([(await state()).preset, (await state()).rate_per_min], ['', 0.1]);
    await page.getByRole('button', { name: 'Pause' }).click();
    await said('Paused');

    const before = (await state()).submitted;
    await page.getByRole('button', { name: 'training', exact: true }).click();
    await said('Submitted: training.');
    assert.equal((await state()).submitted, before + 1);
    const newest = page.locator('.sim tbody tr').first();
    await page.locator('.sim tbody tr', { hasText: 'training-' }).first().waitFor();
    assert.match(await newest.innerText(), /training-\d+\s+(low|normal|high)\s+\d+\s+[A-Z]+\s+\d+\s+\d/);
    await page.getByLabel('Node', { exact: true }).selectOption('n2');
    await page.getByRole('button', { name: 'Inject a fault' }).click();
    await said('A fault was injected on n2.');
    assert.equal((await state()).injected, 1);
    await until(async () => (await state()).completed >= before, 'the jobs end', patientMs);
    await picture(page, 'real-simulator');

    for (const wrong of ['{"preset":"Fast"}', '{"rate_per_min":51}', '{"rate_per_min":"many"}', '{"paused":true,"submit":"nothing"}', '{"inject":"n9"}', '{"speed":1}', '[]']) {
      const answer = await page.request.post(`${simulator.url}v1/sim`, { data: wrong, headers: { 'Content-Type': 'application/json', 'X-ACRF-Confirm': 'yes' } });
      assert.equal(answer.status(), 400, wrong);
      assert.match((await answer.json()).error, /^[a-z][^[\]]+$/, wrong);
    }
    assert.deepEqual(faults, []);
    await close();
    assert.equal(await simulator.stop(), 0, 'Ctrl-C ends it, and no job was lost');
  });
}
