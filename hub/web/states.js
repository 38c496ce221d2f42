// SPDX-License-Identifier: GPL-2.0-or-later
// The states of nodes and GPUs. Each has a shape of its own besides its colour, the same in the
// picture, the legend and the tables: nobody needs to tell colours apart.
import { s } from './dom.js';

const box = (x, y, w, h) => [[x, y], [x + w, y], [x + w, y + h], [x, y + h]];

// Shapes are polygons in the unit square, filled by the even-odd rule.
const cross = [[0, 0.18], [0.18, 0], [0.5, 0.32], [0.82, 0], [1, 0.18], [0.68, 0.5], [1, 0.82], [0.82, 1],
  [0.5, 0.68], [0.18, 1], [0, 0.82], [0.32, 0.5]];
const plus = [[0.35, 0], [0.65, 0], [0.65, 0.35], [1, 0.35], [1, 0.65], [0.65, 0.65], [0.65, 1], [0.35, 1],
  [0.35, 0.65], [0, 0.65], [0, 0.35], [0.35, 0.35]];

// Index, order and names are those of the hub's `fleet` strings.
export const states = [
  { name: 'unknown', label: 'Unknown', letter: '?', polygons: [box(0, 0, 1, 1), box(0.2, 0.2, 0.6, 0.6)] },
  { name: 'healthy', label: 'Healthy', letter: '', polygons: [box(0, 0, 1, 1)] },
  { name: 'suspect', label: 'Suspect', letter: 'S', polygons: [[[0.5, 0], [1, 1], [0, 1]]] },
  { name: 'probation', label: 'Probation', letter: 'P', polygons: [box(0, 0, 1, 1), box(0.15, 0.15, 0.7, 0.35)] },
  { name: 'quarantined', label: 'Quarantined', letter: 'Q', polygons: [[[0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5]]] },
  { name: 'draining', label: 'Draining', letter: 'D', polygons: [[[0, 0], [1, 0], [0.5, 1]]] },
  { name: 'drained', label: 'Drained', letter: 'O', polygons: [box(0, 0, 1, 1), box(0.15, 0.38, 0.7, 0.24)] },
  { name: 'down', label: 'Down', letter: 'X', polygons: [cross] },
  { name: 'attended', label: 'Attended', letter: 'R', polygons: [plus] },
  { name: 'maintenance', label: 'Maintenance', letter: 'M', polygons: [box(0.05, 0, 0.32, 1), box(0.63, 0, 0.32, 1)] },
].map((state, index) => ({ ...state, index, variable: `--state-${state.name}` }));

const aliases = { rma: 8, 'rma/attended': 8 };

// From a digit, a number or a name. What this page does not know is unknown.
export function stateIndex(value) {
  if (typeof value === 'number') return states[value] ? value : 0;
  if (typeof value !== 'string') return 0;
  if (/^\d$/.test(value)) return Number(value);
  const name = value.toLowerCase();
  const index = states.findIndex((state) => state.name === name);
  return index >= 0 ? index : aliases[name] ?? 0;
}

// The shape as path data in a box of `size` at (x, y).
export function shapePath(index, x = 0, y = 0, size = 1) {
  return states[index].polygons
    .map((points) => `M${points.map(([px, py]) => `${x + px * size} ${y + py * size}`).join('L')}Z`)
    .join('');
}

export function traceShape(context, index, x, y, size) {
  context.beginPath();
  for (const points of states[index].polygons) {
    points.forEach(([px, py], at) => context[at ? 'lineTo' : 'moveTo'](x + px * size, y + py * size));
    context.closePath();
  }
}

export function stateIcon(value) {
  const index = stateIndex(value);
  return s('svg', { class: `icon state-${states[index].name}`, viewBox: '0 0 12 12', 'aria-hidden': 'true' },
    s('path', { d: shapePath(index, 1, 1, 10), 'fill-rule': 'evenodd' }));
}
