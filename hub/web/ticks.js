// SPDX-License-Identifier: GPL-2.0-or-later
// Round numbers for axes.
import { clock, day } from './format.js';

// About `most` round values from low to high, covering both.
export function valueTicks(low, high, most, whole = false) {
  const span = Math.max(high - low, 1e-9);
  const raw = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].map((m) => m * power).find((candidate) => candidate >= raw * 0.999);
  if (whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let value = Math.floor(low / step) * step; value < high + step * 0.999; value += step) ticks.push(Number(value.toPrecision(12)));
  return ticks;
}

const minute = 60;
const hour = 3600;
const dayS = 86400;
const timeSteps = [1, 5, 10, 30, minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour,
  12 * hour, dayS, 2 * dayS, 7 * dayS, 14 * dayS, 30 * dayS, 90 * dayS, 365 * dayS];

// Seconds of local round times between two, and how to write them.
export function timeTicks(from, to, most) {
  const step = timeSteps.find((candidate) => (to - from) / candidate <= most) ?? 365 * dayS;
  const zone = new Date(from * 1000).getTimezoneOffset() * minute;
  const ticks = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) ticks.push(at);
  const label = (at) => {
    if (step >= dayS) return day(at * 1000).slice(5);
    return step < minute ? clock(at * 1000) : clock(at * 1000).slice(0, 5);
  };
  return ticks.map((at) => ({ at, label: label(at) }));
}
