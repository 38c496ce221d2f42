// SPDX-License-Identifier: GPL-2.0-or-later
// Wheel, mouse, fingers and keys on the picture.

const clickPx = 5;
const zoomStep = 1.6;
const panPx = 80;

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// on: {hover(at or null, px, py), open(node, gpu), zoomedTo(at), cursor(node, gpu), leave()}
export class PictureInput {
  #pointers = new Map();
  #travel = 0;
  #level = 0; // of the keyboard: fleet, pod, leaf, node, GPU
  #gpu = -1;

  constructor(picture, on) {
    this.picture = picture;
    this.on = on;
    const stage = picture.stage;
    stage.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    stage.addEventListener('pointerdown', (event) => this.#down(event));
    stage.addEventListener('pointermove', (event) => this.#move(event));
    stage.addEventListener('pointerup', (event) => this.#up(event));
    stage.addEventListener('pointercancel', (event) => this.#pointers.delete(event.pointerId));
    stage.addEventListener('pointerleave', () => this.on.hover(null));
    stage.addEventListener('dblclick', (event) => this.zoomAt(...this.#point(event), zoomStep * zoomStep));
    stage.addEventListener('keydown', (event) => this.#key(event));
    stage.addEventListener('blur', () => picture.dropCursor());
  }

  zoom(factor) {
    this.zoomAt(this.picture.camera.width / 2, this.picture.camera.height / 2, factor);
  }

  zoomIn() {
    this.zoom(zoomStep);
  }

  zoomOut() {
    this.zoom(1 / zoomStep);
  }

  zoomAt(px, py, factor) {
    this.picture.camera.zoomAt(px, py, factor);
  }

  #point(event) {
    const { left, top } = this.picture.stage.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  #wheel(event) {
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    this.zoomAt(...this.#point(event), Math.exp(-Math.max(-400, Math.min(400, pixels)) * 0.002));
  }

  #down(event) {
    if (event.button !== 0) return;
    this.picture.stage.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, this.#point(event));
    if (this.#pointers.size === 1) this.#travel = 0;
  }

  #move(event) {
    const [px, py] = this.#point(event);
    const before = this.#pointers.get(event.pointerId);
    if (!before) {
      this.on.hover(this.picture.at(px, py), px, py);
      return;
    }
    this.#pointers.set(event.pointerId, [px, py]);
    this.#travel += Math.hypot(px - before[0], py - before[1]);
    if (this.#pointers.size === 2) this.#pinch(event.pointerId, before, [px, py]);
    else if (this.#travel > clickPx) this.picture.camera.pan(px - before[0], py - before[1]);
  }

  #pinch(id, before, now) {
    const [, other] = [...this.#pointers].find(([key]) => key !== id);
    const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
    const is = Math.hypot(now[0] - other[0], now[1] - other[1]);
    const middle = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
    this.picture.camera.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    if (was > 1) this.zoomAt(...middle, is / was);
  }

  #up(event) {
    const clicked = this.#pointers.size === 1 && this.#travel <= clickPx && this.#pointers.has(event.pointerId);
    this.#pointers.delete(event.pointerId);
    if (!clicked) return;
    const at = this.picture.at(...this.#point(event));
    if (at.node >= 0) this.on.open(at.node, at.gpu);
    else this.#zoomTo(at);
  }

  // A click beside the nodes of a leaf or pod shows it whole.
  #zoomTo(at) {
    const { layout, camera } = this.picture.view;
    const box = at.leaf >= 0 && camera.scale > 14 ? layout.leaves[at.leaf] : layout.pods[at.pod];
    if (box) camera.glideTo(box, 0.95);
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const arrow = arrows[event.key];
    const done = arrow ? this.#arrow(arrow, event.shiftKey) : this.#other(event.key);
    if (done) event.preventDefault();
  }

  #arrow([dx, dy], shift) {
    const { picture } = this;
    if (shift) {
      picture.camera.pan(-dx * panPx, -dy * panPx);
    } else if (this.#level === 4 && picture.overlay.cursor >= 0) {
      this.#moveGpu(dx + dy * 4);
    } else {
      this.on.cursor(picture.moveCursor(dx, dy), -1);
    }
    return true;
  }

  #moveGpu(by) {
    const node = this.picture.overlay.cursor;
    const many = this.picture.view.fleet.gpuCount(node);
    if (many === 0) return;
    this.#gpu = Math.min(many - 1, Math.max(0, this.#gpu + by));
    this.picture.choose(node, this.#gpu);
    this.picture.showNode(node, this.#gpu);
    this.on.cursor(node, this.#gpu);
  }

  #other(key) {
    if (key === '+' || key === '=') this.zoomIn();
    else if (key === '-') this.zoomOut();
    else if (key === '0' || key === 'Home') this.#toLevel(0);
    else if (key === 'PageDown') this.#toLevel(this.#level + 1);
    else if (key === 'PageUp') this.#toLevel(this.#level - 1);
    else if (key === 'Enter') this.#enter();
    else if (key === 'Escape') this.on.leave();
    else return false;
    return true;
  }

  #enter() {
    const node = this.picture.overlay.cursor;
    if (node >= 0) this.on.open(node, this.#level === 4 ? this.#gpu : -1);
  }

  #toLevel(level) {
    const { picture } = this;
    this.#level = Math.min(4, Math.max(0, level));
    if (this.#level === 0) return picture.camera.glideToFit();
    const node = picture.overlay.cursor >= 0 ? picture.overlay.cursor : picture.moveCursor(0, 0);
    if (node < 0) return undefined;
    const { fleet, layout } = picture.view;
    const leaf = fleet.leafOf[node];
    if (this.#level === 1) picture.camera.glideTo(layout.pods[fleet.leaves[leaf].pod], 0.95);
    if (this.#level === 2) picture.camera.glideTo(layout.leaves[leaf], 0.95);
    if (this.#level === 3) picture.showNode(node);
    if (this.#level === 4) {
      this.#gpu = 0;
      this.#moveGpu(0);
    } else {
      this.on.cursor(node, -1);
    }
    return undefined;
  }
}
