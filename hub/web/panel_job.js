// SPDX-License-Identifier: GPL-2.0-or-later
// The side panel for a job: what it is, what its time went into, and its life so far.
import { get } from './api.js';
import { fill, h } from './dom.js';
import { count, moment, percent, seconds, text } from './format.js';
import { asList, facts, timeline } from './parts.js';

const shares = [['useful_s', 'Useful work'], ['redone_s', 'Work done again'], ['waiting_s', 'Waiting']];

// A bar of the wall time in parts, each with its name and figure below.
function timeBar(job) {
  const known = shares.filter(([key]) => typeof job[key] === 'number' && job[key] >= 0);
  const whole = Math.max(known.reduce((sum, [key]) => sum + job[key], 0), 1e-9);
  if (known.length === 0) return null;
  return h('figure', { class: 'time-bar', 'aria-label': 'What the time went into' },
    h('div', { class: 'bar' }, known.map(([key]) => h('span', { class: key, style: { width: `${(job[key] / whole) * 100}%` } }))),
    h('ul', {}, known.map(([key, label]) => h('li', {}, h('span', { class: `swatch ${key}` }), `${label} `, h('b', {}, seconds(job[key]))))));
}

function nodesText(nodes) {
  if (typeof nodes === 'number') return count(nodes);
  if (Array.isArray(nodes)) return nodes.map(text).join(', ');
  return text(nodes);
}

export class JobPanel {
  constructor(app, route) {
    this.app = app;
    this.route = route;
    this.title = `Job ${route.id}`;
    this.element = h('div', {});
  }

  async load() {
    const job = await get(`v1/jobs/${encodeURIComponent(this.route.id)}`);
    const events = asList(job.timeline);
    fill(this.element,
      facts([
        ['Name', text(job.name)], ['User', text(job.user)], ['Partition', text(job.partition)],
        ['State', [text(job.state), job.reason && job.reason !== 'None' ? ` (${text(job.reason)})` : '']],
        ['GPUs', count(job.gpus)], ['Nodes', nodesText(job.nodes)],
        ['Workload', job.workload && text(job.workload)], ['Policy', job.policy && text(job.policy)],
        ['Restarts', count(job.restarts)], ['Submitted', moment(job.submit_ms)], ['Started', moment(job.start_ms)],
        ['Ended', job.end_ms ? moment(job.end_ms) : null],
        ['Wall time', seconds(job.wall_s)], ['ETTR', percent(job.ettr)],
        ['Steps lost', typeof job.steps_lost === 'number' ? count(job.steps_lost) : null],
      ]),
      h('div', { class: 'actions' }, this.#showButton()),
      timeBar(job), h('h3', {}, 'Timeline'),
      events.length ? timeline(events, moment) : h('p', { class: 'faint' }, 'Nothing on record.'));
  }

  #showButton() {
    if (!this.app.store.fleet.jobs.has(this.route.id)) return null;
    return h('button', { type: 'button', click: () => this.app.showJob(this.route.id) }, 'Show on the cluster');
  }

  concerns(type, detail) {
    return type === 'job' && String(detail.job.id) === this.route.id;
  }

  refresh() {
    return this.load().catch(() => {});
  }

  stop() {}
}
