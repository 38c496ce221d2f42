// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster as a picture: two canvases, one with the cluster and one with what moves over it. A change
// of some nodes paints these nodes alone; a move of the camera paints what is seen, once a frame.
import { Camera } from './camera.js';
import { Hatches } from './hatch.js';
import { h } from './dom.js';
import { arrange, gpuBoxes, neighbour, nodeAt } from './layout.js';
import { Overlay } from './overlay.js';
import { Painter } from './painter.js';
import { colours } from './theme.js';

const settledMs = 150;
const mostDetails = 12;
const mostSingly = 200; // nodes; painting more of them one by one costs more than all at once
const detailsFrom = 330; // the scale at which readings are painted

export class Picture {
  #frame = 0;
  #all = true;
  #some = new Set();
  #settle = 0;

  // on: {moved(), details(nodes)}
  constructor(stage, on) {
    this.stage = stage;
    this.on = on;
    this.canvases = [h('canvas', { 'aria-hidden': 'true' }), h('canvas', { 'aria-hidden': 'true' })];
    stage.append(...this.canvases);
    const contexts = this.canvases.map((canvas) => canvas.getContext('2d'));
    this.camera = new Camera(() => this.#moved());
    this.view = { fleet: null, layout: null, camera: this.camera, colours: colours(), layer: 'state', details: new Map() };
    this.view.hatches = new Hatches(contexts[0], this.view.colours);
    this.painter = new Painter(contexts[0], this.view);
    this.overlay = new Overlay(contexts[1], this.view);
    new ResizeObserver(() => this.#resize()).observe(stage);
  }

  setFleet(fleet) {
    const same = this.view.fleet && this.view.fleet.size === fleet.size && this.view.fleet.leaves.length === fleet.leaves.length;
    this.view.fleet = fleet;
    this.view.details.clear();
    this.view.layout = null;
    this.#resize(!same);
  }

  #resize(fit = false) {
    const { width, height } = this.stage.getBoundingClientRect();
    if (!this.view.fleet || width < 2 || height < 2) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of this.canvases) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    const atFit = fit || !this.view.layout || this.camera.atFit;
    this.camera.setWindow(width, height);
    if (atFit || !this.view.layout) this.view.layout = arrange(this.view.fleet, width, height);
    this.camera.setWorld(this.view.layout);
    if (atFit) this.camera.jumpToFit();
    else this.camera.pan(0, 0);
    this.#paint();
  }

  setLayer(layer) {
    this.view.layer = layer;
    this.repaint();
  }

  setColours() {
    this.view.colours = colours();
    this.view.hatches = new Hatches(this.painter.context, this.view.colours);
    this.repaint();
  }

  repaint() {
    this.#all = true;
    this.#ask();
  }

  repaintNodes(nodes) {
    for (const node of nodes) if (node >= 0) this.#some.add(node);
    this.#ask();
  }

  repaintOverlay() {
    this.#ask();
  }

  #ask() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #moved() {
    this.repaint();
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#settled(), settledMs);
  }

  #settled() {
    if (this.camera.scale >= detailsFrom) this.on.details(this.visibleNodes().slice(0, mostDetails));
  }

  #paint() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (!this.view.layout) return;
    if (this.#all) this.on.moved();
    if (this.#all || this.#some.size > mostSingly) this.painter.paintAll();
    else for (const node of this.#some) this.painter.repaintNode(node);
    this.#all = false;
    this.#some.clear();
    this.overlay.paint();
    if (this.overlay.moving) this.#ask();
  }

  visibleNodes() {
    const { camera, layout, fleet } = this.view;
    const found = [];
    for (let i = 0; fleet && layout && i < fleet.size; ++i) {
      const x = camera.screenX(layout.x[i]);
      const y = camera.screenY(layout.y[i]);
      if (x < camera.width && y < camera.height && x + camera.scale > 0 && y + camera.scale > 0) found.push(i);
    }
    return found;
  }

  setDetails(node, details) {
    this.view.details.set(node, details);
    this.repaintNodes([node]);
  }

  // What is at a pixel: {node, gpu, leaf, pod}, each -1 for none.
  at(px, py) {
    const { camera, layout, fleet } = this.view;
    if (!layout) return { node: -1, gpu: -1, leaf: -1, pod: -1 };
    const x = camera.worldX(px);
    const y = camera.worldY(py);
    const inside = (box) => x >= box.x && y >= box.y && x < box.x + box.w && y < box.y + box.h;
    const node = nodeAt(fleet, layout, x, y);
    const gpu = node < 0 || camera.scale < 18 ? -1 : gpuBoxes(fleet.gpuCount(node)).findIndex((box) =>
      inside({ x: layout.x[node] + box.x, y: layout.y[node] + box.y, w: box.w, h: box.h }));
    return { node, gpu, leaf: layout.leaves.findIndex(inside), pod: layout.pods.findIndex(inside) };
  }

  nodeBox(node) {
    return { x: this.view.layout.x[node], y: this.view.layout.y[node], w: 1, h: 1 };
  }

  gpuBox(node, gpu) {
    const box = gpuBoxes(this.view.fleet.gpuCount(node))[gpu];
    return box ? { ...box, x: this.view.layout.x[node] + box.x, y: this.view.layout.y[node] + box.y } : this.nodeBox(node);
  }

  // The box around some nodes.
  boxOf(nodes) {
    const { layout } = this.view;
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const node of nodes) {
      left = Math.min(left, layout.x[node]);
      top = Math.min(top, layout.y[node]);
      right = Math.max(right, layout.x[node] + 1);
      bottom = Math.max(bottom, layout.y[node] + 1);
    }
    return left > right ? null : { x: left, y: top, w: right - left, h: bottom - top };
  }

  showNode(node, gpu = -1) {
    if (!this.view.layout || node < 0) return;
    if (gpu >= 0) this.camera.glideTo(this.gpuBox(node, gpu), 0.42);
    else this.camera.glideTo(this.nodeBox(node), 0.8);
  }

  choose(node, gpu = -1) {
    this.overlay.chosen = node;
    this.overlay.chosenGpu = gpu;
    this.repaintOverlay();
  }

  setSpotlight(nodes) {
    this.overlay.spotlight = nodes;
    this.repaintOverlay();
  }

  ring(node) {
    if (node < 0) return;
    this.overlay.ring(node);
    this.repaintOverlay();
  }

  // The keyboard's node: the first visible one, then its neighbours.
  moveCursor(dx, dy) {
    const { layout } = this.view;
    if (!layout || layout.x.length === 0) return -1;
    const from = this.overlay.cursor;
    this.overlay.cursor = from < 0 ? this.visibleNodes()[0] ?? 0 : neighbour(layout, from, dx, dy);
    this.camera.reveal(this.nodeBox(this.overlay.cursor));
    this.repaintOverlay();
    return this.overlay.cursor;
  }

  dropCursor() {
    this.overlay.cursor = -1;
    this.repaintOverlay();
  }
}
