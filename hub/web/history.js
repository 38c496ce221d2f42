// SPDX-License-Identifier: GPL-2.0-or-later
// The history of a node or a GPU as plots: which measures there are, spans of time, and the asking.
import { get, query } from './api.js';
import { fill, h } from './dom.js';
import { Plot } from './plot.js';

export const metrics = [
  { key: 'temperature_c', label: 'Temperature', unit: '°C' },
  { key: 'memory_temperature_c', label: 'Memory temperature', unit: '°C' },
  { key: 'power_w', label: 'Power', unit: 'W' },
  { key: 'utilization_percent', label: 'Utilisation', unit: '%' },
  { key: 'ecc_corrected', label: 'ECC errors, corrected', counts: true },
  { key: 'ecc_uncorrected', label: 'ECC errors, uncorrected', counts: true },
  { key: 'nvlink_errors', label: 'NVLink errors', counts: true },
  { key: 'pcie_replays', label: 'PCIe replays', counts: true },
];

const spans = [
  { label: '1 h', seconds: 3600 },
  { label: '24 h', seconds: 86400 },
  { label: '30 d', seconds: 30 * 86400 },
];

let span = spans[0];

function choices(name, options, chosen, pick) {
  return h('div', { class: 'choices', role: 'group', 'aria-label': name }, options.map((option) =>
    h('button', { type: 'button', 'aria-pressed': String(option === chosen), click: () => pick(option) }, option.label)));
}

function ask(node, gpu, metric, from, to, signal) {
  return get(query(`v1/nodes/${encodeURIComponent(node)}/history`, { metric, gpu, from, to }), signal);
}

function gapOf(answer) {
  const resolution = typeof answer?.resolution_s === 'number' ? answer.resolution_s : 0;
  return resolution > 0 ? resolution * 2.5 : 60;
}

class HistoryBox {
  constructor(node) {
    this.node = node;
    this.element = h('section', { class: 'history', 'aria-label': 'History' });
    this.abort = new AbortController();
  }

  stop() {
    this.abort.abort();
  }

  restart() {
    this.stop();
    this.abort = new AbortController();
    this.draw();
  }

  // Fills one plot from its questions: [{gpu, metric, name, colour}].
  async load(plot, questions) {
    const to = Math.floor(Date.now() / 1000);
    const from = to - span.seconds;
    try {
      const answers = await Promise.all(questions.map((one) => ask(this.node, one.gpu, one.metric, from, to, this.abort.signal)));
      plot.set(answers.map((answer, at) => ({ ...questions[at], points: answer?.points, gap: gapOf(answer) })), from, to);
    } catch (error) {
      if (error.name !== 'AbortError') plot.message(`Could not be loaded: ${error.message}.`);
    }
  }

  spanChoice() {
    return choices('Span of time', spans, span, (picked) => {
      span = picked;
      this.restart();
    });
  }
}

// All measures of one GPU.
export class GpuHistory extends HistoryBox {
  constructor(node, gpu) {
    super(node);
    this.gpu = gpu;
    this.draw();
  }

  draw() {
    const plots = metrics.map((metric) => new Plot(metric.label, metric));
    fill(this.element, h('div', { class: 'row' }, h('h3', {}, 'History'), this.spanChoice()), plots.map((plot) => plot.element));
    plots.forEach((plot, at) => this.load(plot, [{ gpu: this.gpu, metric: metrics[at].key }]));
  }
}

let nodeMetric = metrics[0];

// One measure of all GPUs of a node, a line each: the one that differs stands out.
export class NodeHistory extends HistoryBox {
  constructor(node, gpus) {
    super(node);
    this.gpus = gpus;
    this.draw();
  }

  draw() {
    const plot = new Plot(`${nodeMetric.label} of each GPU`, { ...nodeMetric, height: 150 });
    const select = h('select', { 'aria-label': 'Measure', change: () => {
      nodeMetric = metrics[select.selectedIndex];
      this.restart();
    } }, metrics.map((metric) => h('option', { selected: metric === nodeMetric }, metric.label)));
    fill(this.element, h('div', { class: 'row' }, h('h3', {}, 'History'), select, this.spanChoice()), plot.element,
      h('ul', { class: 'line-key' }, this.gpus.map((gpu, at) => h('li', {}, h('span', { class: `swatch line-${at % 8}` }), `GPU ${gpu}`))));
    if (this.gpus.length === 0) return plot.message('This node has no GPUs.');
    return this.load(plot, this.gpus.slice(0, 16).map((gpu, at) => ({ gpu, metric: nodeMetric.key, name: `GPU ${gpu}`, colour: `line-${at % 8}` })));
  }
}
