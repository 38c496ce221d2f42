// SPDX-License-Identifier: GPL-2.0-or-later
// Incidents, jobs with the queue, brakes and audit.
import { query } from './api.js';
import { actionButtons } from './actions.js';
import { h } from './dom.js';
import { count, moment, percent, seconds, text } from './format.js';
import { incidentColumns } from './incident_parts.js';
import { ListView, switcher } from './list_view.js';
import { asList, emptyNote, incidentLink, jobLink, nodeLink, table } from './parts.js';

export class IncidentsView extends ListView {
  #open = '1';

  constructor(app) {
    super(app, 'Incidents');
    app.store.addEventListener('incident', () => this.refresh());
  }

  tools() {
    return switcher('Which incidents', [['1', 'Open'], ['', 'All']], this.#open, (value) => {
      this.#open = value;
      this.load();
    });
  }

  path() {
    return query('v1/incidents', { open: this.#open, limit: 500 });
  }

  content(answer) {
    const incidents = asList(answer?.incidents);
    if (incidents.length) return table('Incidents', incidentColumns, incidents);
    return this.#open ? emptyNote('No open incidents', 'Nothing is wrong that the hub knows of.') : emptyNote('No incidents on record');
  }
}

const runTime = (job) => {
  if (!job.start_ms) return null;
  return seconds(Math.max(0, (job.end_ms || Date.now()) - job.start_ms) / 1000);
};

const jobColumns = [
  { label: 'Job', of: (job) => jobLink(job.id) },
  { label: 'Name', of: (job) => text(job.name) },
  { label: 'User', of: (job) => text(job.user) },
  { label: 'State', of: (job) => text(job.state) },
  { label: 'GPUs', number: true, of: (job) => count(job.gpus) },
  { label: 'Started', of: (job) => moment(job.start_ms) },
  { label: 'Run time', number: true, of: runTime },
  { label: 'Restarts', number: true, of: (job) => count(job.restarts) },
  { label: 'ETTR', number: true, of: (job) => percent(job.ettr) },
  { label: 'Workload', of: (job) => text(job.workload) },
];

const queueColumns = [
  { label: 'Place', number: true, of: (job) => count(job.place) },
  { label: 'Job', of: (job) => jobLink(job.id) },
  { label: 'Name', of: (job) => text(job.name) },
  { label: 'User', of: (job) => text(job.user) },
  { label: 'GPUs', number: true, of: (job) => count(job.gpus) },
  { label: 'Waits for', wide: true, of: (job) => text(job.reason) },
  { label: 'Waiting since', of: (job) => moment(job.submit_ms) },
  { label: 'Restarts', number: true, of: (job) => count(job.restarts) },
];

export class JobsView extends ListView {
  #which = 'running';

  constructor(app) {
    super(app, 'Jobs');
    app.store.addEventListener('job', () => this.refresh());
  }

  tools() {
    return switcher('Which jobs', [['running', 'Running'], ['queue', 'Queue'], ['', 'All']], this.#which, (value) => {
      this.#which = value;
      this.load();
    });
  }

  path() {
    return this.#which === 'queue' ? 'v1/queue?limit=1000' : query('v1/jobs', { state: this.#which, limit: 1000 });
  }

  content(answer) {
    const jobs = asList(answer?.jobs ?? answer?.queue);
    if (this.#which === 'queue') {
      return jobs.length ? table('Queue', queueColumns, jobs.map((job, at) => ({ ...job, place: at + 1 }))) : emptyNote('The queue is empty', 'No job waits.');
    }
    return jobs.length ? table('Jobs', jobColumns, jobs) : emptyNote('No jobs', this.#which ? 'None runs now.' : 'The hub has seen none.');
  }
}

function brakeMeter(brake) {
  const limit = typeof brake.limit === 'number' ? brake.limit : 0;
  const counted = typeof brake.counted === 'number' ? brake.counted : 0;
  const share = limit > 0 ? Math.min(1, counted / limit) : brake.full ? 1 : 0;
  return h('div', { class: 'meter', 'aria-hidden': 'true' }, h('span', { style: { width: `${share * 100}%` } }));
}

function brakeCard(brake) {
  const nodes = typeof brake.nodes === 'string' ? brake.nodes.split(',').filter(Boolean) : asList(brake.nodes);
  return h('li', { class: brake.full ? 'brake full' : 'brake' },
    h('h3', {}, text(brake.brake), h('span', { class: 'faint' }, ` ${text(brake.group || 'cluster')}`)),
    h('p', { class: 'brake-state' }, brake.full ? '■ Tripped: ACRF holds back' : '□ Free', h('span', { class: 'number' }, `${count(brake.counted)} of ${count(brake.limit)}`)),
    brakeMeter(brake),
    brake.sentence && h('p', {}, text(brake.sentence)),
    nodes.length > 0 && h('p', { class: 'faint' }, 'Counted: ', nodes.slice(0, 20).map((node, at) => [at ? ', ' : '', nodeLink(text(node))]),
      nodes.length > 20 ? ` and ${count(nodes.length - 20)} more` : ''));
}

export class BrakesView extends ListView {
  constructor(app) {
    super(app, 'Brakes');
    app.store.addEventListener('brake', () => this.refresh());
    app.store.addEventListener('access', () => this.refresh());
  }

  path() {
    return 'v1/brakes';
  }

  content(answer) {
    const brakes = asList(answer?.brakes);
    if (brakes.length === 0) return emptyNote('No brakes', 'The hub has not read any from slurmctld yet.');
    const full = brakes.filter((brake) => brake.full);
    const sorted = [...full, ...brakes.filter((brake) => !brake.full)];
    return [
      h('p', { class: full.length ? 'lead warning' : 'lead' }, full.length
        ? `${full.length} of ${brakes.length} brakes have tripped: what they hold back waits for a person.`
        : `None of ${brakes.length} brakes has tripped.`),
      actionButtons(this.app.store.access, ['brakes-reset'], {}, () => this.load()),
      h('ul', { class: 'brakes' }, sorted.map(brakeCard)),
    ];
  }
}

const resultText = (entry) => [entry.result, entry.sentence].filter(Boolean).map(text).join(': ') || 'pending';

const auditColumns = [
  { label: 'Time', of: (entry) => moment(entry.time_ms) },
  { label: 'What', of: (entry) => [entry.kind, entry.what].filter(Boolean).map(text).join(' · ') },
  { label: 'Subject', of: (entry) => text(entry.subject) },
  { label: 'Node', of: (entry) => nodeLink(entry.node) },
  { label: 'Decided by', of: (entry) => text(entry.decided_by) },
  { label: 'Mode', of: (entry) => text(entry.mode) },
  { label: 'Result', wide: true, of: resultText },
  { label: 'Incident', of: (entry) => incidentLink(entry.incident) },
  { label: 'Evidence', wide: true, of: (entry) => text(entry.evidence) },
];

export class AuditView extends ListView {
  #node = '';

  constructor(app) {
    super(app, 'Audit');
    app.store.addEventListener('incident', () => this.refresh());
  }

  tools() {
    const field = h('input', { type: 'search', 'aria-label': 'Only of this node', placeholder: 'Node', value: this.#node, change: () => {
      this.#node = field.value.trim();
      this.load();
    } });
    return field;
  }

  path() {
    return query('v1/audit', { node: this.#node, limit: 500 });
  }

  content(answer) {
    const entries = asList(answer?.audit ?? answer?.entries);
    return entries.length ? table('Audit log', auditColumns, entries) : emptyNote('No entries', 'Nothing was decided or done.');
  }
}
