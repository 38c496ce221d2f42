// SPDX-License-Identifier: GPL-2.0-or-later
// What moves over the picture: the spotlight on a job's nodes or on a state, the outlines of the node
// under the pointer, the keyboard's and the chosen one, and rings around fresh incidents.
import { gpuBoxes, nodeFill } from './layout.js';

const ringMs = 4000;

export class Overlay {
  hovered = -1;
  cursor = -1;
  chosen = -1;
  chosenGpu = -1;
  spotlight = null; // a list of node indices
  #rings = new Map(); // node -> since

  constructor(context, view) {
    this.context = context;
    this.view = view;
  }

  ring(node) {
    this.#rings.set(node, performance.now());
  }

  // Whether it must be painted again soon.
  get moving() {
    return this.#rings.size > 0;
  }

  paint() {
    const { context, view } = this;
    context.clearRect(0, 0, view.camera.width, view.camera.height);
    if (this.spotlight) this.#paintSpotlight();
    this.#paintRings();
    if (this.hovered >= 0) this.#outline(this.hovered, view.colours.text, 1.5);
    if (this.chosen >= 0) this.#paintChosen();
    if (this.cursor >= 0) this.#outline(this.cursor, view.colours.accent, 2, [4, 3]);
  }

  #cell(node, grow) {
    const { layout, camera } = this.view;
    const gap = ((1 - nodeFill) / 2) * camera.scale - grow;
    return [camera.screenX(layout.x[node]) + gap, camera.screenY(layout.y[node]) + gap, camera.scale - 2 * gap];
  }

  #outline(node, colour, width, dash = []) {
    const { context } = this;
    const [x, y, side] = this.#cell(node, width);
    context.setLineDash(dash);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(x, y, side, side);
    context.setLineDash([]);
  }

  #paintSpotlight() {
    const { context, view } = this;
    context.fillStyle = view.colours.veil;
    context.fillRect(0, 0, view.camera.width, view.camera.height);
    for (const node of this.spotlight) {
      const [x, y, side] = this.#cell(node, view.camera.scale < 18 ? 0.5 : 2);
      if (x > view.camera.width || y > view.camera.height || x + side < 0 || y + side < 0) continue;
      context.clearRect(x, y, side, side);
      if (view.camera.scale < 10) continue;
      context.strokeStyle = view.colours.accent;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    }
  }

  #paintChosen() {
    const { context, view } = this;
    this.#outline(this.chosen, view.colours.accent, Math.max(2, Math.min(4, view.camera.scale * 0.05)));
    if (this.chosenGpu < 0 || view.camera.scale < 18) return;
    const box = gpuBoxes(view.fleet.gpuCount(this.chosen))[this.chosenGpu];
    if (!box) return;
    context.strokeStyle = view.colours.accent;
    context.lineWidth = 2;
    const size = view.camera.scale;
    context.strokeRect(view.camera.screenX(view.layout.x[this.chosen]) + box.x * size,
      view.camera.screenY(view.layout.y[this.chosen]) + box.y * size, box.w * size, box.h * size);
  }

  #paintRings() {
    const { context, view } = this;
    const now = performance.now();
    for (const [node, since] of this.#rings) {
      const age = (now - since) / ringMs;
      if (age >= 1) {
        this.#rings.delete(node);
        continue;
      }
      const [x, y, side] = this.#cell(node, 0);
      context.globalAlpha = 1 - age * age;
      context.strokeStyle = view.colours.alarm;
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(x + side / 2, y + side / 2, Math.max(10, side * 0.8) + 4 * Math.min(1, age * 4), 0, 2 * Math.PI);
      context.stroke();
      context.globalAlpha = 1;
    }
  }
}
