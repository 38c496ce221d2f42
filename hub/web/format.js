// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers, durations and times as people read them. What is missing or no number is a dash.

export const dash = '–';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

export function count(value) {
  return isNumber(value) ? whole.format(value) : dash;
}

export function number(value) {
  if (!isNumber(value)) return dash;
  return Math.abs(value) >= 1000 ? whole.format(value) : fine.format(value);
}

export function percent(share, digits = 1) {
  return isNumber(share) ? `${(share * 100).toFixed(digits)} %` : dash;
}

export function seconds(value) {
  if (!isNumber(value)) return dash;
  if (value < 0.9995) return `${Math.round(value * 1000)} ms`;
  if (value < 59.95) return `${value.toFixed(value < 9.95 ? 1 : 0)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${pad(Math.floor(value % 60))} s`;
  if (value < 86400) return `${Math.floor(value / 3600)} h ${pad(Math.floor((value % 3600) / 60))} min`;
  return `${Math.floor(value / 86400)} d ${Math.floor((value % 86400) / 3600)} h`;
}

function pad(value) {
  return String(value).padStart(2, '0');
}

function isTime(ms) {
  return isNumber(ms) && ms > 0 && Math.abs(ms) < 8.64e15;
}

export function clock(ms) {
  if (!isTime(ms)) return dash;
  const at = new Date(ms);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

export function day(ms) {
  if (!isTime(ms)) return dash;
  const at = new Date(ms);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
}

// The time of day alone for today, with the date before it otherwise.
export function moment(ms, now = Date.now()) {
  if (!isTime(ms)) return dash;
  return day(ms) === day(now) ? clock(ms) : `${day(ms)} ${clock(ms)}`;
}

export function clockWithMs(ms) {
  return isTime(ms) ? `${clock(ms)}.${String(Math.floor(ms % 1000)).padStart(3, '0')}` : dash;
}

export function ago(ms, now = Date.now()) {
  if (!isTime(ms)) return dash;
  const past = (now - ms) / 1000;
  if (past < 1) return 'just now';
  if (past < 60) return `${Math.floor(past)} s ago`;
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86400) return `${Math.floor(past / 3600)} h ago`;
  return `${Math.floor(past / 86400)} d ago`;
}

export function text(value) {
  if (value === null || value === undefined || value === '') return dash;
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

// The hub's words as a sentence of its own: "no such node" -> "No such node."
export function sentence(words) {
  const shown = text(words).trim();
  return `${shown.charAt(0).toUpperCase()}${shown.slice(1)}${/[.!?…]$/.test(shown) ? '' : '.'}`;
}

export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}
