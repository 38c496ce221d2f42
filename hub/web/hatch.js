// SPDX-License-Identifier: GPL-2.0-or-later
// How a job looks in the picture: one of eight colours with one of four hatchings, by its number, so
// that it looks the same whenever and wherever it is seen.
import { jobColours } from './theme.js';

const tile = 8;
const lines = [
  [],
  [[-2, 10, 10, -2], [-2, 2, 2, -2], [6, 10, 10, 6]],
  [[-2, -2, 10, 10], [6, -2, 10, 2], [-2, 6, 2, 10]],
  [[0, 4, 8, 4]],
];

function hash(id) {
  let value = 2166136261;
  for (const letter of String(id)) value = Math.imul(value ^ letter.charCodeAt(0), 16777619);
  return (value ^ (value >>> 13)) >>> 0;
}

export function jobLook(id) {
  const value = hash(id);
  return { colour: value % jobColours, hatching: Math.floor(value / jobColours) % lines.length };
}

// Patterns for a canvas, made when first needed.
export class Hatches {
  #made = new Map();

  constructor(context, colours) {
    this.context = context;
    this.colours = colours;
  }

  flat(id) {
    return this.colours.jobs[jobLook(id).colour];
  }

  pattern(id) {
    const look = jobLook(id);
    const key = look.colour * lines.length + look.hatching;
    if (!this.#made.has(key)) this.#made.set(key, this.context.createPattern(this.#draw(look), 'repeat'));
    return this.#made.get(key);
  }

  #draw(look) {
    const canvas = new OffscreenCanvas(tile, tile);
    const context = canvas.getContext('2d');
    context.fillStyle = this.colours.jobs[look.colour];
    context.fillRect(0, 0, tile, tile);
    context.strokeStyle = this.colours.background;
    context.globalAlpha = 0.55;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [x1, y1, x2, y2] of lines[look.hatching]) {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    context.stroke();
    return canvas;
  }
}
