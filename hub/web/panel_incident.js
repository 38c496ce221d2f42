// SPDX-License-Identifier: GPL-2.0-or-later
// The side panel for an incident, with its whole way through the system.
import { get } from './api.js';
import { fill, h } from './dom.js';
import { clockWithMs, count, moment, seconds, text } from './format.js';
import { isOpen } from './incident_parts.js';
import { asList, facts, jobLink, severityMark, timeline } from './parts.js';
import { linkTo } from './route.js';

// Its steps are acts of others, of which the incident itself tells nothing: they are looked for. A job may restart after its end.
const lookMs = 2000;
const lateMs = 60000;

function place(incident) {
  const gpu = Number.isInteger(incident.gpu_index) ? incident.gpu_index : -1;
  if (!incident.node) return text(incident.where);
  return h('a', { href: linkTo('node', incident.node, gpu) }, gpu >= 0 ? `${incident.node} GPU ${gpu}` : text(incident.node));
}

function evidence(value) {
  if (value === undefined || value === null || value === '') return null;
  const lines = Array.isArray(value) ? value.map(text).join('\n') : text(value);
  return [h('h3', {}, 'Evidence'), h('pre', { tabindex: '0' }, lines)];
}

// Since the step before: where the time went.
function trace(entries) {
  return timeline(entries.map((entry, at) => {
    const before = entries[at - 1]?.unix_ms;
    const took = typeof before === 'number' && typeof entry.unix_ms === 'number' ? `+${seconds(Math.max(0, entry.unix_ms - before) / 1000)}` : '';
    return { ...entry, took };
  }), clockWithMs);
}

export class IncidentPanel {
  #timer = 0;
  #stopped = false;
  #shown = '';

  constructor(app, route) {
    this.app = app;
    this.route = route;
    this.title = 'Incident';
    this.element = h('div', {});
  }

  async load() {
    clearTimeout(this.#timer);
    const incident = await get(`v1/incidents/${encodeURIComponent(this.route.id)}`);
    const again = isOpen(incident) || Date.now() - incident.closed_ms < lateMs;
    if (again && !this.#stopped) this.#timer = setTimeout(() => this.refresh(), lookMs);
    const known = JSON.stringify(incident);
    if (known === this.#shown) return; // what is selected there stays so
    this.#shown = known;
    this.#show(incident);
  }

  #show(incident) {
    const steps = asList(incident.trace);
    fill(this.element,
      h('p', { class: 'lead' }, severityMark(incident.severity), ' ', h('b', {}, text(incident.class)), ' on ', place(incident)),
      facts([
        ['State', isOpen(incident) ? text(incident.state ?? 'open') : 'closed'],
        ['Action', text(incident.action)], ['Mode', incident.mode && text(incident.mode)],
        ['Scope', incident.scope && text(incident.scope)], ['Where', incident.where && text(incident.where)],
        ['Xid', incident.xid], ['GPU UUID', incident.gpu_uuid && text(incident.gpu_uuid)],
        ['Opened', moment(incident.opened_ms)], ['Closed', incident.closed_ms ? moment(incident.closed_ms) : null],
        ['Job', incident.job ? h('span', {}, jobLink(incident.job), incident.user ? ` of ${text(incident.user)}` : '') : null],
        ['Log lines', count(incident.count ?? incident.lines)], ['Outcome', incident.outcome && text(incident.outcome)],
        ['Id', text(this.route.id)],
      ]),
      h('h3', {}, 'Trace'),
      steps.length ? trace(steps) : h('p', { class: 'faint' }, 'No step on record yet.'),
      evidence(incident.evidence));
  }

  concerns(type, detail) {
    return type === 'incident' && String(detail.incident.id) === this.route.id;
  }

  refresh() {
    return this.load().catch(() => {});
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
