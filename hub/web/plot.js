// SPDX-License-Identifier: GPL-2.0-or-later
// A line over time with a band from the least to the most, or several lines. It has axes with units,
// and a readout that follows the pointer or the arrow keys.
import { h, fill, s } from './dom.js';
import { clock, moment, number } from './format.js';
import { timeTicks, valueTicks } from './ticks.js';

const pad = { left: 44, right: 8, top: 8, bottom: 20 };

function isReading(point) {
  return Array.isArray(point) && typeof point[0] === 'number' && typeof point[2] === 'number';
}

function clean(points) {
  return (Array.isArray(points) ? points : []).filter(isReading)
    .map(([at, low, mean, high]) => [at, typeof low === 'number' ? low : mean, mean, typeof high === 'number' ? high : mean]);
}

function extent(series) {
  let [low, high] = [Infinity, -Infinity];
  for (const { points } of series) for (const [, min, , max] of points) [low, high] = [Math.min(low, min), Math.max(high, max)];
  return [low, high];
}

// Points that lie further apart than they should are no line: nothing is known in between.
function pieces(points, gap) {
  const found = [];
  points.forEach((point, at) => {
    if (at === 0 || point[0] - points[at - 1][0] > gap) found.push([]);
    found[found.length - 1].push(point);
  });
  return found;
}

// At most one point for each two pixels, which holds the least, the mean and the most of those it stands for.
function thinned(points, from, to, most) {
  if (points.length <= most) return points;
  const bins = new Map();
  for (const [at, low, mean, high] of points) {
    const bin = Math.floor(((at - from) / Math.max(1, to - from)) * most);
    const kept = bins.get(bin) ?? { at: 0, low: Infinity, sum: 0, high: -Infinity, n: 0 };
    bins.set(bin, { at: kept.at + at, low: Math.min(kept.low, low), sum: kept.sum + mean, high: Math.max(kept.high, high), n: kept.n + 1 });
  }
  return [...bins.values()].map((bin) => [bin.at / bin.n, bin.low, bin.sum / bin.n, bin.high]);
}

function nearest(points, at) {
  let [low, high] = [0, points.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < at) low = middle;
    else high = middle;
  }
  return Math.abs(points[low]?.[0] - at) <= Math.abs(points[high]?.[0] - at) ? low : high;
}

export class Plot {
  #series = [];
  #at = null;

  // options: {unit, counts: whole numbers from zero, height}
  constructor(title, options = {}) {
    this.title = title;
    this.options = { unit: '', height: 110, ...options };
    this.readout = h('output', { class: 'readout', 'aria-live': 'off' });
    this.box = h('div', { class: 'plot-box', tabindex: '0', role: 'img' });
    this.element = h('figure', { class: 'plot' },
      h('figcaption', {}, h('span', { class: 'plot-title' }, title), this.options.unit && h('span', { class: 'unit' }, this.options.unit), this.readout),
      this.box);
    this.box.addEventListener('pointermove', (event) => this.#point(event.clientX));
    this.box.addEventListener('pointerleave', () => this.#read(null));
    this.box.addEventListener('blur', () => this.#read(null));
    this.box.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this.box);
    this.message('Loading…');
  }

  message(words) {
    this.#series = [];
    fill(this.box, h('p', { class: 'plot-message' }, words));
    this.box.setAttribute('aria-label', `${this.title}: ${words}`);
  }

  // series: [{name, points: [[unix_s, min, mean, max]], gap: seconds, colour: class}]
  set(series, from, to) {
    this.#series = series.map((one) => ({ gap: 180, ...one, points: clean(one.points) })).filter((one) => one.points.length);
    this.from = from;
    this.to = to;
    this.#at = null;
    if (this.#series.length === 0) return this.message('Nothing was recorded in this time.');
    this.#draw();
    this.box.setAttribute('aria-label', this.#summary());
    return this.#read(null);
  }

  #summary() {
    const [low, high] = extent(this.#series);
    const last = this.#series[0].points.at(-1);
    return `${this.title}, ${this.options.unit || 'count'}, ${moment(this.from * 1000)} to ${moment(this.to * 1000)}: `
      + `least ${number(low)}, most ${number(high)}, last ${number(last[2])}. Arrow keys read single values.`;
  }

  #draw() {
    const width = this.box.clientWidth;
    if (width < 60 || this.#series.length === 0) return;
    const height = this.options.height;
    let [low, high] = extent(this.#series);
    if (this.options.counts) low = Math.min(0, low);
    if (high - low < 1) high = low + (this.options.counts ? 4 : 1);
    const ticks = valueTicks(low, high, 3, this.options.counts);
    const [bottom, top] = [ticks[0], ticks[ticks.length - 1]];
    this.x = (at) => pad.left + ((at - this.from) / Math.max(1, this.to - this.from)) * (width - pad.left - pad.right);
    this.y = (value) => height - pad.bottom - ((value - bottom) / (top - bottom)) * (height - pad.top - pad.bottom);
    this.cross = s('g', { class: 'cross' });
    fill(this.box, s('svg', { width, height, 'aria-hidden': 'true' },
      this.#axes(ticks, width, height), this.#series.map((one) => this.#line(one)), this.cross));
  }

  #axes(ticks, width, height) {
    const rows = ticks.map((value) => [
      s('line', { class: 'grid', x1: pad.left, x2: width - pad.right, y1: this.y(value), y2: this.y(value) }),
      s('text', { class: 'tick', x: pad.left - 6, y: this.y(value) + 3.5, 'text-anchor': 'end' }, number(value)),
    ]);
    const columns = timeTicks(this.from, this.to, Math.max(2, Math.floor(width / 90))).map(({ at, label }) => [
      s('line', { class: 'grid', x1: this.x(at), x2: this.x(at), y1: height - pad.bottom, y2: height - pad.bottom + 4 }),
      this.x(at) > width - 30
        ? s('text', { class: 'tick', x: width - 1, y: height - 4, 'text-anchor': 'end' }, label)
        : s('text', { class: 'tick', x: this.x(at), y: height - 4, 'text-anchor': 'middle' }, label),
    ]);
    return [rows, columns];
  }

  #line(one) {
    const at = (point, value) => `${this.x(point[0]).toFixed(1)} ${this.y(point[value]).toFixed(1)}`;
    const look = one.colour ?? 'line-0';
    const points = thinned(one.points, this.from, this.to, Math.floor(this.box.clientWidth / 2));
    const between = Math.max(one.gap, (4 * (this.to - this.from)) / this.box.clientWidth);
    return pieces(points, between).map((piece) => [
      this.#series.length === 1 && s('path', { class: `band ${look}`,
        d: `M${piece.map((point) => at(point, 3)).join('L')}L${[...piece].reverse().map((point) => at(point, 1)).join('L')}Z` }),
      piece.length === 1
        ? s('circle', { class: `dot ${look}`, cx: this.x(piece[0][0]), cy: this.y(piece[0][2]), r: 1.6 })
        : s('path', { class: `line ${look}`, d: `M${piece.map((point) => at(point, 2)).join('L')}` }),
    ]);
  }

  #point(clientX) {
    if (this.#series.length === 0 || !this.x) return;
    const { left, width } = this.box.getBoundingClientRect();
    const share = (clientX - left - pad.left) / (width - pad.left - pad.right);
    this.#read(this.from + share * (this.to - this.from));
  }

  #key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || this.#series.length === 0) return;
    event.preventDefault();
    const { points } = this.#series[0];
    const index = this.#at === null ? points.length - 1 : nearest(points, this.#at) + step;
    this.readout.setAttribute('aria-live', 'polite');
    this.#read(points[Math.min(points.length - 1, Math.max(0, index))][0]);
  }

  #read(at) {
    this.#at = at;
    if (this.cross) fill(this.cross);
    if (this.#series.length === 0) return fill(this.readout);
    const found = this.#series.map((one) => ({ one, point: one.points[at === null ? one.points.length - 1 : nearest(one.points, at)] }));
    if (at !== null) {
      this.#at = found[0].point[0];
      this.#mark(found);
    }
    return fill(this.readout, this.#words(found, at));
  }

  #mark(found) {
    const x = this.x(found[0].point[0]);
    this.cross.append(s('line', { x1: x, x2: x, y1: pad.top, y2: this.options.height - pad.bottom }));
    for (const { one, point } of found) {
      this.cross.append(s('circle', { class: `dot ${one.colour ?? 'line-0'}`, cx: this.x(point[0]), cy: this.y(point[2]), r: 3 }));
    }
  }

  #words(found, at) {
    const when = at === null ? 'now' : clock(found[0].point[0] * 1000);
    if (found.length > 1) {
      const values = found.map(({ point }) => point[2]);
      return `${when} ${number(Math.min(...values))} to ${number(Math.max(...values))}`;
    }
    const [, low, mean, high] = found[0].point;
    return low === high ? `${when} ${number(mean)}` : `${when} ${number(mean)} (${number(low)}–${number(high)})`;
  }
}
