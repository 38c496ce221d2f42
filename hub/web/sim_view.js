// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator's tab: how much work and how many faults come, and what becomes of them.
import { post } from './api.js';
import { fill, h } from './dom.js';
import { clock, count, number, seconds, text } from './format.js';
import { asList, jobLink, table } from './parts.js';
import { Plot } from './plot.js';

const leastRate = 0.1;
const mostRate = 50;
const mostFailures = 30;
const sliderSteps = 1000;
const keptSeconds = 600;
const pollMs = 1000;

// The slider is logarithmic: as much room for 0.1 to 1 as for 10 to 100.
const toSlider = (rate) => Math.round((Math.log(rate / leastRate) / Math.log(mostRate / leastRate)) * sliderSteps);
const fromSlider = (at) => Number((leastRate * (mostRate / leastRate) ** (at / sliderSteps)).toPrecision(2));

const counters = [['submitted', 'Submitted'], ['completed', 'Completed'], ['failed', 'Failed'], ['recovered', 'Recovered'],
  ['injected', 'Faults injected'], ['repaired', 'Repaired']];

const jobColumns = [
  { label: 'Job', of: (job) => jobLink(job.id) },
  { label: 'Name', of: (job) => text(job.name) },
  { label: 'Priority', of: (job) => text(job.priority) },
  { label: 'GPUs', number: true, of: (job) => count(job.gpus) },
  { label: 'State', of: (job) => text(job.state) },
  { label: 'Restarts', number: true, of: (job) => count(job.restarts) },
  { label: 'Submitted', of: (job) => clock(job.submit_ms) },
];

const plotted = [
  { title: 'Jobs running', of: (sim, stats) => stats.jobs?.running, counts: true },
  { title: 'Jobs waiting', of: (sim, stats) => stats.jobs?.pending, counts: true },
  { title: 'GPUs in use', unit: '%', of: (sim, stats) => (typeof stats.gpu_utilization === 'number' ? stats.gpu_utilization * 100 : undefined) },
  { title: 'Time to recover, median', unit: 's', of: (sim, stats) => (stats.recoveries?.count > 0 ? stats.recoveries.p50_s : undefined) },
  { title: 'ETTR', unit: '%', of: (sim, stats) => (typeof stats.ettr === 'number' ? stats.ettr * 100 : undefined) },
  { title: 'Faults injected', of: (sim) => sim.injected, counts: true },
];

export class SimView {
  #kept = plotted.map(() => []);
  #plots = [];
  #dragging = false;
  #timer = 0;
  #updated = 0;

  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.store.addEventListener('sim', () => this.#update());
  }

  show(root) {
    this.#plots = plotted.map((one) => new Plot(one.title, { ...one, height: 90 }));
    this.note = h('p', { class: 'result', role: 'status' });
    this.figures = h('dl', { class: 'tiles' });
    this.jobs = h('div', {});
    this.element = h('section', { class: 'list-view sim', 'aria-label': 'Simulator' },
      h('div', { class: 'row list-head' }, h('h2', { tabindex: '-1' }, 'Simulator'), this.#pauseButton()),
      h('div', { class: 'sim-grid' }, this.#workCard(), this.#faultCard(), this.#handCard()), this.note,
      this.figures, h('div', { class: 'plots' }, this.#plots.map((plot) => plot.element)), h('h3', {}, 'Last jobs'), this.jobs);
    fill(root, this.element);
    this.#update(false);
    this.#poll();
  }

  // While it is looked at the state is asked for, unless the hub tells it by itself.
  #poll() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      if (!this.element.isConnected) return;
      if (Date.now() - this.#updated >= pollMs) await this.store.refreshSim();
      this.#poll();
    }, pollMs);
  }

  async #send(body, said) {
    try {
      await post('v1/sim', body);
      this.note.className = 'result good';
      fill(this.note, said);
    } catch (error) {
      this.note.className = 'result warning';
      fill(this.note, `Not done: ${error.message}.`);
    }
  }

  #pauseButton() {
    this.pause = h('button', { type: 'button', click: () => {
      const paused = !this.store.sim?.paused;
      this.#send({ paused }, paused ? 'Paused: no new jobs and faults.' : 'Going on.');
    } }, 'Pause');
    return this.pause;
  }

  // A slider with its value beside it. It is sent when let go, and does not jump while held.
  #slider(label, range, show, send) {
    const value = h('output', { class: 'number' });
    const input = h('input', { type: 'range', ...range, 'aria-label': label, input: () => {
      this.#dragging = true;
      fill(value, show(Number(input.value)));
      input.setAttribute('aria-valuetext', show(Number(input.value)));
    }, change: () => {
      this.#dragging = false;
      send(Number(input.value));
    } });
    const set = (at) => {
      if (this.#dragging) return;
      input.value = String(at);
      fill(value, show(at));
      input.setAttribute('aria-valuetext', show(at));
    };
    return { element: h('label', { class: 'slider' }, h('span', {}, label), value, input), set };
  }

  #workCard() {
    this.rate = this.#slider('Jobs a minute', { min: 0, max: sliderSteps, step: 1 }, (at) => `${number(fromSlider(at))} a minute`,
      (at) => this.#send({ rate_per_min: fromSlider(at) }, `${number(fromSlider(at))} jobs a minute from now on.`));
    this.presets = h('div', { class: 'choices', role: 'group', 'aria-label': 'Presets' });
    return h('section', { class: 'card', 'aria-label': 'Work' }, h('h3', {}, 'Work'), this.rate.element, this.presets);
  }

  #faultCard() {
    this.failures = this.#slider('Nodes that fail', { min: 0, max: mostFailures, step: 0.5 }, (at) => `${number(at)} % a minute`,
      (at) => this.#send({ failure_percent_per_min: at }, `${number(at)} % of the nodes fail in a minute from now on.`));
    this.victim = h('select', { 'aria-label': 'Node' });
    const inject = h('button', { type: 'button', click: () => {
      this.#send({ inject: this.victim.value }, `A fault was injected on ${this.victim.value}.`);
    } }, 'Inject a fault');
    return h('section', { class: 'card', 'aria-label': 'Faults' }, h('h3', {}, 'Faults'), this.failures.element,
      h('div', { class: 'row' }, this.victim, inject));
  }

  #handCard() {
    this.types = h('div', { class: 'row' });
    return h('section', { class: 'card', 'aria-label': 'Submit a job' }, h('h3', {}, 'Submit a job'), this.types);
  }

  #update(live = true) {
    const { sim, stats } = this.store;
    if (live) this.#updated = Date.now();
    if (live && sim) this.#keep(sim, stats);
    if (!this.element?.isConnected) return;
    if (!sim) {
      fill(this.jobs, h('p', { class: 'faint' }, 'No simulator is attached to this hub.'));
      return;
    }
    this.#showControls(sim);
    fill(this.figures, counters.map(([key, label]) => this.#tile(label, count(sim[key]))), this.#tile('Running for', seconds(sim.seconds)));
    const jobs = asList(sim.jobs);
    if (!this.jobs.contains(document.activeElement)) fill(this.jobs, jobs.length ? table('Last jobs', jobColumns, jobs) : h('p', { class: 'faint' }, 'None yet.'));
    this.#showPlots();
  }

  #tile(label, value) {
    return h('div', { class: 'tile' }, h('dt', {}, label), h('dd', {}, h('b', {}, value)));
  }

  #keep(sim, stats) {
    const now = Date.now() / 1000;
    plotted.forEach((one, at) => {
      const value = one.of(sim, stats);
      if (typeof value === 'number') this.#kept[at].push([now, value, value, value]);
      while (this.#kept[at].length && this.#kept[at][0][0] < now - keptSeconds) this.#kept[at].shift();
    });
  }

  #showPlots() {
    const now = Date.now() / 1000;
    this.#plots.forEach((plot, at) => {
      const points = this.#kept[at];
      if (plot.element.matches(':hover') || plot.element.contains(document.activeElement)) return;
      if (points.length) plot.set([{ points, gap: 30 }], Math.min(points[0][0], now - 60), now);
      else plot.message('Nothing yet.');
    });
  }

  #showControls(sim) {
    if (typeof sim.rate_per_min === 'number' && sim.rate_per_min > 0) this.rate.set(toSlider(sim.rate_per_min));
    if (typeof sim.failure_percent_per_min === 'number') this.failures.set(sim.failure_percent_per_min);
    fill(this.pause, sim.paused ? 'Go on' : 'Pause');
    this.#buttons(this.presets, asList(sim.presets).map((preset) => text(preset.name)), (name) => this.#send({ preset: name }, `${name} from now on.`));
    for (const button of this.presets.children) button.setAttribute('aria-pressed', String(button.textContent === sim.preset));
    this.#buttons(this.types, asList(sim.types).map((type) => text(type.name)), (name) => this.#send({ submit: name }, `Submitted: ${name}.`));
    asList(sim.types).forEach((type, at) => { this.types.children[at].title = text(type.description); });
    this.#nodes();
  }

  // Makes the buttons only when there are others than before: the focus stays where it is.
  #buttons(root, names, click) {
    if (root.dataset.names === names.join('\n')) return;
    root.dataset.names = names.join('\n');
    fill(root, names.map((name) => h('button', { type: 'button', click: () => click(name) }, name)));
  }

  #nodes() {
    const { names } = this.store.fleet;
    if (this.victim.options.length === Math.min(names.length, 1000)) return;
    fill(this.victim, names.slice(0, 1000).map((name) => h('option', { value: name }, name)));
  }
}
