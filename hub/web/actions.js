// SPDX-License-Identifier: GPL-2.0-or-later
// Drain, return, quarantine, clear and, on a test cluster, inject. Each says first what will happen and
// to whom, and nothing is sent before the person agrees.
import { post } from './api.js';
import { cancelButton, openDialog } from './dialog.js';
import { fill, h } from './dom.js';
import { plural, text } from './format.js';

function jobsSentence(jobs) {
  if (jobs.length === 0) return 'No job runs there now.';
  const shown = jobs.slice(0, 5).join(', ');
  const more = jobs.length > 5 ? ` and ${jobs.length - 5} more` : '';
  return `${plural(jobs.length, 'job')} there (${shown}${more}) will run to the end.`;
}

function partOf(target) {
  return target.gpu >= 0 ? `GPU ${target.gpu} of ${target.node}` : target.node;
}

// target: {node, gpu, gpus, jobs}
const actions = {
  drain: {
    label: 'Drain', title: (t) => `Drain ${t.node}?`, reason: true,
    effects: (t) => [`No new job will start on ${t.node}.`, jobsSentence(t.jobs), 'It stays out of service until somebody returns it.'],
  },
  return: {
    label: 'Return', title: (t) => `Return ${t.node} to service?`,
    effects: (t) => [`New jobs may start on ${t.node} at once. It is not tested first.`,
      'Only a drain by ACRF, its commands or this page is taken back. What a person drained by other means stays drained.'],
  },
  quarantine: {
    label: 'Quarantine', title: (t) => `Quarantine GPU ${t.gpu} of ${t.node}?`, reason: true,
    effects: (t) => [`GPU ${t.gpu} will be hidden from new jobs. The other ${plural(Math.max(0, t.gpus - 1), 'GPU')} of ${t.node} stay in service.`,
      'A job that uses it now is not stopped.', 'It stays hidden until somebody clears it.'],
  },
  clear: {
    label: 'Clear', title: (t) => `Clear ${partOf(t)}?`,
    effects: (t) => [`${t.gpu >= 0 ? `GPU ${t.gpu}` : `Every hidden GPU of ${t.node}`} will be given to jobs again. It is not tested first.`,
      'Suspicion and probation end with it.'],
  },
  inject: {
    label: 'Inject a fault', title: (t) => `Inject a fault on ${t.node}?`,
    effects: (t) => [`${t.gpu >= 0 ? `GPU ${t.gpu}` : 'A GPU'} of ${t.node} will fail as if it had fallen off the bus.`,
      'ACRF will then do what it does about a real fault: jobs on the node are interrupted and come back elsewhere.'],
    body: (t) => ({ fault: 'lost', ...(t.gpu >= 0 ? { gpu: t.gpu } : { gpu: 0 }) }),
  },
  'brakes-reset': {
    label: 'Reset the brakes', title: () => 'Reset the brakes?',
    effects: () => ['What ACRF did up to now will no longer count against its limits.', 'Nodes that a brake holds back may then be drained.',
      'Do this when you have looked at the cause.'],
  },
};

function body(kind, target, reason) {
  const sent = { action: kind };
  if (target.node) sent.node = target.node;
  if (target.gpu >= 0) sent.gpu = target.gpu;
  if (reason) sent.reason = reason;
  return { ...sent, ...actions[kind].body?.(target) };
}

async function perform(kind, target, form, after) {
  const result = form.querySelector('.result');
  const send = form.querySelector('.main');
  send.disabled = true;
  fill(result, 'Asking the hub…');
  try {
    const answer = await post('v1/actions', body(kind, target, form.querySelector('#reason')?.value.trim()));
    const done = answer?.result === 'done';
    fill(result, `${done ? 'Done' : text(answer?.result)}${answer?.text ? `: ${text(answer.text)}` : '.'}`);
    result.className = `result ${done ? 'good' : 'warning'}`;
    send.remove();
    fill(form.querySelector('.quiet'), 'Close');
    after?.();
  } catch (error) {
    send.disabled = false;
    result.className = 'result warning';
    fill(result, `Not done: ${error.message}.`);
  }
}

export function confirmAction(kind, target, after) {
  const action = actions[kind];
  const content = [
    h('ul', { class: 'effects' }, action.effects(target).map((sentence) => h('li', {}, sentence))),
    action.reason && [h('label', { for: 'reason' }, 'Reason'), h('input', { id: 'reason', required: true, maxlength: 200, autocomplete: 'off' })],
    h('p', { class: 'faint' }, 'It will be recorded in the audit log under your name.'),
    h('p', { class: 'result', role: 'status' }),
  ];
  openDialog(action.title(target), content, [cancelButton(), h('button', { type: 'submit', class: 'main danger' }, action.label)],
    (form) => perform(kind, target, form, after));
}

// A row of buttons for what this person may do; nothing when that is nothing.
export function actionButtons(access, kinds, target, after) {
  const allowed = kinds.filter((kind) => (kind === 'inject' ? access.may_inject : access.may_act));
  if (allowed.length === 0) return null;
  return h('div', { class: 'actions', role: 'group', 'aria-label': 'Actions' }, allowed.map((kind) =>
    h('button', { type: 'button', click: () => confirmAction(kind, target, after) }, `${actions[kind].label}…`)));
}
