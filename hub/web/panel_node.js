// SPDX-License-Identifier: GPL-2.0-or-later
// The side panel for a node, and for one of its GPUs.
import { get } from './api.js';
import { actionButtons } from './actions.js';
import { fill, h } from './dom.js';
import { ago, number, text } from './format.js';
import { GpuHistory, metrics, NodeHistory } from './history.js';
import { feedItem } from './incident_parts.js';
import { asList, facts, jobLink, nodeLink, stateLabel } from './parts.js';
import { linkTo } from './route.js';
import { stateIcon, stateIndex, states } from './states.js';

const refreshMs = 5000;

function gpuList(details, chosen) {
  return h('ul', { class: 'gpu-list', 'aria-label': 'GPUs' }, asList(details.gpus).map((gpu, at) => {
    const index = Number.isInteger(gpu.index) ? gpu.index : at;
    const state = stateIndex(gpu.state);
    return h('li', {}, h('a', { href: linkTo('node', details.name, index), class: `state-${states[state].name}`, 'aria-current': index === chosen ? 'true' : null },
      h('span', { class: 'gpu-name' }, stateIcon(state), `GPU ${index}`),
      h('span', { class: 'gpu-state' }, states[state].label.toLowerCase()),
      h('span', { class: 'number' }, `${number(gpu.temperature_c)} °C`),
      h('span', { class: 'number' }, `${number(gpu.utilization_percent)} %`)));
  }));
}

function jobsOf(details) {
  const jobs = asList(details.jobs);
  return jobs.length ? jobs.map((id, at) => [at ? ', ' : '', jobLink(id)]) : 'none';
}

function nodeFacts(details) {
  return facts([
    ['State', stateLabel(details.state)],
    ['Slurm', details.slurm_state && text(details.slurm_state)],
    ['Reason', details.reason && text(details.reason)],
    ['Verdict', text(details.verdict_text || details.verdict)],
    ['Place', [details.pod, details.leaf].filter(Boolean).map(text).join(' › ')],
    ['Partitions', asList(details.partitions).map(text).join(', ')],
    ['Jobs', jobsOf(details)],
    ['Risk', typeof details.risk === 'number' && details.risk > 0 ? number(details.risk) : null],
    ['Driver', details.driver && text(details.driver)],
    ['acrf-healthd', details.version && text(details.version)],
    ['Last report', ago(details.last_report_ms)],
  ]);
}

function gpuFacts(details, gpu) {
  return facts([
    ['State', stateLabel(gpu.state)],
    ['Node', nodeLink(details.name)],
    ['Model', gpu.name && text(gpu.name)],
    ['UUID', gpu.uuid && text(gpu.uuid)],
    ['PCI address', gpu.pci && text(gpu.pci)],
    ['Job', jobLink(gpu.job)],
    ...metrics.map((metric) => [metric.label, typeof gpu[metric.key] === 'number' ? `${number(gpu[metric.key])} ${metric.unit ?? ''}`.trim() : null]),
  ]);
}

function incidentsOf(details, gpu) {
  const all = asList(details.incidents).filter((incident) => gpu < 0 || incident.gpu_index === gpu);
  return h('section', {}, h('h3', {}, 'Incidents'),
    all.length ? h('ol', { class: 'feed' }, all.slice(0, 20).map(feedItem)) : h('p', { class: 'faint' }, 'None on record.'));
}

export class NodePanel {
  #timer = 0;
  #history = null;

  constructor(app, route) {
    this.app = app;
    this.route = route;
    this.title = route.gpu >= 0 ? `${route.id} GPU ${route.gpu}` : route.id;
    this.now = h('div', {});
    this.actions = h('div', {});
    this.target = { node: route.id, gpu: route.gpu, gpus: 0, jobs: [] };
    this.past = h('div', {});
    this.parts = h('div', {});
    this.element = h('div', {}, this.now, this.actions, this.parts, this.past);
  }

  get #path() {
    return `v1/nodes/${encodeURIComponent(this.route.id)}`;
  }

  async load() {
    const details = await get(this.#path);
    this.#show(details);
    this.#showHistory(details);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh(), refreshMs);
  }

  // Everything but the plots, which a person may be reading.
  async refresh() {
    clearTimeout(this.#timer);
    if (!this.element.isConnected) return;
    await get(this.#path).then((details) => this.#show(details)).catch(() => {});
    if (this.element.isConnected) this.#timer = setTimeout(() => this.refresh(), refreshMs);
  }

  #show(details) {
    const focused = this.parts.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    const gpus = asList(details.gpus);
    Object.assign(this.target, { gpus: gpus.length, jobs: asList(details.jobs) });
    this.#showActions();
    const gpu = gpus[this.route.gpu];
    fill(this.now,
      this.route.gpu < 0 ? nodeFacts(details) : gpu ? gpuFacts(details, gpu) : h('p', { class: 'warning' }, 'The node has no such GPU.'));
    fill(this.parts, h('h3', {}, 'GPUs'), gpuList({ ...details, name: this.route.id }, this.route.gpu), incidentsOf(details, this.route.gpu));
    if (focused) this.parts.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  // Made anew only when other buttons are allowed: a dialog gives the focus back to the one that opened it.
  #showActions() {
    const { access } = this.app.store;
    const allowed = `${access.may_act} ${access.may_inject}`;
    if (this.actions.dataset.allowed === allowed) return;
    this.actions.dataset.allowed = allowed;
    const kinds = this.route.gpu < 0 ? ['drain', 'return', 'clear', 'inject'] : ['quarantine', 'clear', 'inject'];
    fill(this.actions, actionButtons(access, kinds, this.target, () => this.refresh()));
  }

  #showHistory(details) {
    this.#history?.stop();
    const indices = asList(details.gpus).map((gpu, at) => (Number.isInteger(gpu.index) ? gpu.index : at));
    this.#history = this.route.gpu >= 0 ? new GpuHistory(this.route.id, this.route.gpu) : new NodeHistory(this.route.id, indices);
    fill(this.past, this.#history.element);
  }

  concerns(type, detail) {
    if (type === 'nodes') return detail.some((node) => this.app.store.fleet.names[node] === this.route.id);
    return type === 'access' || (type === 'incident' && detail.incident.node === this.route.id);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#history?.stop();
  }
}
