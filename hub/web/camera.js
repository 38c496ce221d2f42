// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of the picture is seen: (x, y) is the picture's point at the window's upper left, scale the
// pixels of one node.

const margin = 10;
const glideMs = 220;

export class Camera {
  x = 0;
  y = 0;
  scale = 1;
  width = 1; // of the window, in pixels
  height = 1;
  #world = { width: 1, height: 1 };
  #glide = 0;

  constructor(onChange) {
    this.changed = onChange;
  }

  setWindow(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  setWorld(world) {
    this.#world = world;
  }

  get fitScale() {
    return Math.max(0.01, Math.min((this.width - 2 * margin) / this.#world.width, (this.height - 2 * margin) / this.#world.height));
  }

  get atFit() {
    return Math.abs(this.scale / this.fitScale - 1) < 0.01;
  }

  // A GPU is about a quarter of a node: it may fill most of the window.
  get largestScale() {
    return Math.max(this.fitScale, Math.min(this.width, this.height) * 3);
  }

  screenX(x) {
    return (x - this.x) * this.scale;
  }

  screenY(y) {
    return (y - this.y) * this.scale;
  }

  worldX(px) {
    return this.x + px / this.scale;
  }

  worldY(py) {
    return this.y + py / this.scale;
  }

  #viewOf(box, share) {
    const scale = Math.min((this.width * share) / box.w, (this.height * share) / box.h);
    const bounded = this.#bound(scale);
    return { scale: bounded, x: box.x + box.w / 2 - this.width / 2 / bounded, y: box.y + box.h / 2 - this.height / 2 / bounded };
  }

  #bound(scale) {
    return Math.min(Math.max(scale, this.fitScale), this.largestScale);
  }

  // The picture stays in the window: no way to get lost beside it.
  #keepInside() {
    const keep = (at, seen, all) => {
      const edge = margin / this.scale;
      if (all + 2 * edge <= seen) return (all - seen) / 2;
      return Math.min(Math.max(at, -edge), all + edge - seen);
    };
    this.x = keep(this.x, this.width / this.scale, this.#world.width);
    this.y = keep(this.y, this.height / this.scale, this.#world.height);
  }

  #show(view) {
    this.x = view.x;
    this.y = view.y;
    this.scale = view.scale;
    this.#keepInside();
    this.changed();
  }

  stop() {
    cancelAnimationFrame(this.#glide);
  }

  // A share of nothing is bounded to the scale at which all fits.
  jumpToFit() {
    this.stop();
    this.#show(this.#viewOf({ x: 0, y: 0, w: this.#world.width, h: this.#world.height }, 0));
  }

  glideToFit() {
    this.glideTo({ x: 0, y: 0, w: this.#world.width, h: this.#world.height }, 0);
  }

  // Shows a box of the picture so that it takes `share` of the window.
  glideTo(box, share = 0.8) {
    this.stop();
    const to = this.#viewOf(box, share);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.#show(to);
    const from = { x: this.x + this.width / 2 / this.scale, y: this.y + this.height / 2 / this.scale, scale: this.scale };
    const centre = { x: to.x + this.width / 2 / to.scale, y: to.y + this.height / 2 / to.scale };
    const begun = performance.now();
    const frame = (now) => {
      const t = Math.min(1, Math.max(0, (now - begun) / glideMs));
      const eased = 1 - (1 - t) ** 3;
      const scale = from.scale * (to.scale / from.scale) ** eased;
      // The target comes to the middle as the scale does, so that it never leaves the window.
      const near = to.scale === from.scale ? eased : (1 / from.scale - 1 / scale) / (1 / from.scale - 1 / to.scale);
      const x = from.x + (centre.x - from.x) * near;
      const y = from.y + (centre.y - from.y) * near;
      this.#show({ scale, x: x - this.width / 2 / scale, y: y - this.height / 2 / scale });
      if (t < 1) this.#glide = requestAnimationFrame(frame);
    };
    this.#glide = requestAnimationFrame(frame);
  }

  zoomAt(px, py, factor) {
    this.stop();
    const x = this.worldX(px);
    const y = this.worldY(py);
    const scale = this.#bound(this.scale * factor);
    this.#show({ scale, x: x - px / scale, y: y - py / scale });
  }

  pan(dx, dy) {
    this.stop();
    this.#show({ scale: this.scale, x: this.x - dx / this.scale, y: this.y - dy / this.scale });
  }

  // Pans as little as needed to have a box in the window.
  reveal(box) {
    const w = this.width / this.scale;
    const h = this.height / this.scale;
    const x = Math.min(Math.max(this.x, box.x + box.w - w), box.x);
    const y = Math.min(Math.max(this.y, box.y + box.h - h), box.y);
    if (x !== this.x || y !== this.y) this.#show({ scale: this.scale, x, y });
  }
}
