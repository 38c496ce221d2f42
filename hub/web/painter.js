// SPDX-License-Identifier: GPL-2.0-or-later
// Paints the cluster on a canvas, all of it or some nodes. How much a node shows depends on its size in
// pixels: its state, then its GPUs, then its name and letters, then each GPU's readings.
import { gpuBoxes, nodeFill } from './layout.js';
import { number } from './format.js';
import { states, traceShape } from './states.js';

const gpusFrom = 18;
const namesFrom = 62;
const readingsFrom = 330;
const healthy = 1;
const leastMark = 9;
const font = (px, weight = 400) => `${weight} ${px}px system-ui, sans-serif`;

export class Painter {
  // view: {fleet, layout, camera, colours, hatches, layer, details}
  constructor(context, view) {
    this.context = context;
    this.view = view;
    this.boxes = new Map();
  }

  paintAll() {
    const { context, view } = this;
    context.fillStyle = view.colours.background;
    context.fillRect(0, 0, view.camera.width, view.camera.height);
    view.layout.pods.forEach((pod, at) => this.#pod(pod, view.fleet.pods[at]));
    view.layout.leaves.forEach((leaf, at) => {
      if (!this.#visible(leaf.x, leaf.y, leaf.w, leaf.h)) return;
      const { first, count } = view.fleet.leaves[at];
      this.#paintLeaf(at, Array.from({ length: count }, (_, i) => first + i));
    });
  }

  // One node over what was there before. Marks of small nodes reach into their neighbours' cells.
  repaintNode(node) {
    const { context, view } = this;
    const { x, y, size } = this.#cell(node);
    if (!this.#visible(view.layout.x[node] - 1, view.layout.y[node] - 1, 3, 3)) return;
    context.save();
    context.beginPath();
    const reach = size < gpusFrom ? size : 0;
    const [left, top] = [Math.floor(x - reach), Math.floor(y - reach)];
    context.rect(left, top, Math.ceil(x + size + reach) - left, Math.ceil(y + size + reach) - top);
    context.clip();
    this.#paintLeaf(view.fleet.leafOf[node], reach ? this.#around(node) : [node]);
    context.restore();
  }

  // The nodes of the leaf that lie two places or less from this one.
  #around(node) {
    const { layout, fleet } = this.view;
    const leaf = fleet.leafOf[node];
    const { first, count } = fleet.leaves[leaf];
    const { columns } = layout.leaves[leaf];
    const found = [];
    for (let row = -2; row <= 2; ++row) {
      for (let i = node + row * columns - 2; i <= node + row * columns + 2; ++i) if (i >= first && i < first + count) found.push(i);
    }
    return found;
  }

  #paintLeaf(leaf, nodes) {
    const { layout, fleet, camera } = this.view;
    this.#leaf(layout.leaves[leaf], fleet.leaves[leaf].name);
    const seen = nodes.filter((node) => this.#visible(layout.x[node], layout.y[node], 1, 1));
    if (camera.scale >= gpusFrom) {
      for (const node of seen) this.#large(node);
      return;
    }
    for (const node of seen) this.#small(node);
    for (const node of seen) if (fleet.nodeState[node] !== healthy) this.#mark(node, fleet.nodeState[node]);
  }

  #visible(x, y, w, h) {
    const { camera } = this.view;
    const left = camera.screenX(x);
    const top = camera.screenY(y);
    return left < camera.width && top < camera.height && left + w * camera.scale > 0 && top + h * camera.scale > 0;
  }

  #cell(node) {
    const { layout, camera } = this.view;
    return { x: camera.screenX(layout.x[node]), y: camera.screenY(layout.y[node]), size: camera.scale };
  }

  #box(x, y, w, h) {
    const { camera } = this.view;
    return [camera.screenX(x), camera.screenY(y), w * camera.scale, h * camera.scale];
  }

  #label(text, x, y, width, px, colour, weight = 400) {
    const { context } = this;
    context.font = font(px, weight);
    context.fillStyle = colour;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    let shown = text;
    if (context.measureText(shown).width > width) {
      const fits = Math.floor((text.length * width) / context.measureText(text).width) - 1;
      if (fits < 2) return;
      shown = `${text.slice(0, fits)}…`;
    }
    context.fillText(shown, x, y);
  }

  #pod(place, pod) {
    if (!this.#visible(place.x, place.y, place.w, place.h)) return;
    const { context, view } = this;
    const [x, y, w, h] = this.#box(place.x, place.y, place.w, place.h);
    context.fillStyle = view.colours.pod;
    context.beginPath();
    context.roundRect(x, y, w, h, Math.min(8, view.camera.scale * 0.6));
    context.fill();
    const title = view.layout.grid.podTitle * view.camera.scale;
    const px = Math.min(13, title * 0.75);
    if (px >= 6) this.#label(pod.name, x + px * 0.6, y + title * 0.55, w - px, px, view.colours.text, 600);
  }

  #leaf(place, name) {
    const { context, view } = this;
    const [x, y, w, h] = this.#box(place.x, place.y, place.w, place.h);
    context.fillStyle = view.colours.leaf;
    context.fillRect(x, y, w, h);
    const title = (view.layout.grid.leafTitle + view.layout.grid.leafPad) * view.camera.scale;
    const px = Math.min(12, title * 0.72);
    if (px >= 7) this.#label(name, x + px * 0.6, y + title * 0.6, w - px * 0.8, px, view.colours.faint);
  }

  #small(node) {
    const { context, view } = this;
    const cell = this.#cell(node);
    const gap = (cell.size * (1 - nodeFill)) / 2;
    const size = Math.max(1, Math.round(cell.size * nodeFill));
    if (view.layer !== 'jobs' && view.fleet.nodeState[node] !== healthy) return;
    context.fillStyle = this.#healthyFill(node);
    context.fillRect(Math.round(cell.x + gap), Math.round(cell.y + gap), size, size);
  }

  // The state's shape, large enough to be told from others even where nodes are small.
  #mark(node, state) {
    const { x, y, size } = this.#cell(node);
    const side = Math.max(size * 0.95, Math.min(leastMark, size * 1.8));
    this.#shape(state, x + (size - side) / 2, y + (size - side) / 2, side, this.view.colours.leaf);
  }

  // What is healthy looks like its job when jobs are shown.
  #healthyFill(node) {
    const { layer, colours, hatches, camera, fleet } = this.view;
    if (layer !== 'jobs') return colours.states[healthy];
    const job = fleet.jobsOf.get(node)?.[0];
    if (job === undefined) return colours.idle;
    return camera.scale < 7 ? hatches.flat(job) : hatches.pattern(job);
  }

  #shape(state, x, y, size, outline = null) {
    const { context, view } = this;
    traceShape(context, state, x, y, size);
    if (outline) {
      context.strokeStyle = outline;
      context.lineWidth = Math.max(1.5, size * 0.2);
      context.stroke();
    }
    context.fillStyle = view.colours.states[state];
    context.fill('evenodd');
  }

  #large(node) {
    const { context, view } = this;
    const { x, y, size } = this.#cell(node);
    const state = view.fleet.nodeState[node];
    const gap = (size * (1 - nodeFill)) / 2;
    const side = size * nodeFill;
    context.beginPath();
    context.roundRect(x + gap, y + gap, side, side, Math.min(6, size * 0.06));
    context.fillStyle = view.colours.node;
    context.fill();
    context.strokeStyle = state === healthy ? view.colours.idle : view.colours.states[state];
    context.lineWidth = state === healthy ? 1 : Math.min(3, size * 0.04);
    context.stroke();
    this.#title(node, state, x, y, size);
    this.#gpus(node, x, y, size);
  }

  #title(node, state, x, y, size) {
    const { view } = this;
    const left = x + size * 0.12;
    const mark = Math.min(size * 0.17, 26);
    const middle = y + size * 0.205;
    const marked = state !== healthy;
    if (marked) this.#shape(state, left, middle - mark / 2, mark);
    if (size < namesFrom) return;
    const start = left + (marked ? mark * 1.3 : 0);
    const px = Math.min(size * 0.13, 20);
    this.#label(view.fleet.names[node], start, middle, x + size * 0.9 - start, px, view.colours.text, 600);
    if (size < readingsFrom) return;
    const ids = view.fleet.jobsOf.get(node) ?? [];
    const words = `${states[state].label.toLowerCase()}${ids.length ? ` · job ${ids.join(', ')}` : ' · no job'}`;
    this.#label(words, left, Math.min(y + size * 0.295, middle + 30), size * 0.78, Math.min(size * 0.045, 15), view.colours.faint);
  }

  #gpus(node, x, y, size) {
    const { view } = this;
    const many = view.fleet.gpuCount(node);
    if (!this.boxes.has(many)) this.boxes.set(many, gpuBoxes(many));
    const first = view.fleet.gpuStart[node];
    this.boxes.get(many).forEach((box, gpu) => {
      this.#gpu(node, gpu, view.fleet.gpuState[first + gpu],
        { x: x + box.x * size, y: y + box.y * size, w: box.w * size, h: box.h * size });
    });
  }

  #gpu(node, gpu, state, box) {
    const { context, view } = this;
    const size = view.camera.scale;
    if (state === healthy) {
      context.fillStyle = this.#healthyFill(node);
      context.fillRect(box.x, box.y, box.w, box.h);
    } else if (size < namesFrom) {
      context.fillStyle = view.colours.leaf;
      context.fillRect(box.x, box.y, box.w, box.h);
      const side = Math.min(box.w, box.h);
      this.#shape(state, box.x + (box.w - side) / 2, box.y + (box.h - side) / 2, side);
    } else {
      context.fillStyle = view.colours.states[state];
      context.fillRect(box.x, box.y, box.w, box.h);
    }
    if (size >= namesFrom) this.#gpuLetters(node, gpu, state, box);
  }

  #gpuLetters(node, gpu, state, box) {
    const { context, view } = this;
    const size = view.camera.scale;
    context.fillStyle = state === healthy ? view.colours.text : view.colours.onState;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    if (size < readingsFrom) {
      const px = Math.min(box.w * 0.5, box.h * 0.5, 16);
      if (px < 6) return;
      context.font = font(px, 600);
      context.fillText(states[state].letter || String(gpu), box.x + box.w / 2, box.y + box.h / 2);
      return;
    }
    const px = Math.min(box.w * 0.13, 22);
    context.textAlign = 'left';
    const left = box.x + box.w * 0.1;
    const rows = [`GPU ${gpu}`, states[state].label.split(' ')[0].toLowerCase(), ...this.#readings(node, gpu)];
    rows.forEach((row, at) => {
      context.font = font(at === 0 ? px * 1.15 : px, at === 0 ? 600 : 400);
      context.fillText(row, left, box.y + px * 1.1 + at * px * 1.45);
    });
  }

  #readings(node, gpu) {
    const of = this.view.details.get(node)?.gpus?.[gpu];
    if (!of || typeof of !== 'object') return [];
    return [['temperature_c', '°C'], ['power_w', 'W'], ['utilization_percent', '%']]
      .filter(([key]) => typeof of[key] === 'number')
      .map(([key, unit]) => `${number(of[key])} ${unit}`);
  }
}
