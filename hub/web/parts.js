// SPDX-License-Identifier: GPL-2.0-or-later
// Small pieces that several views are made of.
import { h } from './dom.js';
import { dash, sentence, text } from './format.js';
import { linkTo } from './route.js';
import { stateIcon, stateIndex, states } from './states.js';

export function stateLabel(value) {
  const index = stateIndex(value);
  const known = index !== 0 || value === 0 || value === '0' || value === 'unknown' || value === undefined || value === null;
  return h('span', { class: 'state' }, stateIcon(index), known ? states[index].label : `Unknown (${text(value)})`);
}

const severities = { info: 'i', warning: '!', critical: '!!', fatal: '✕' };

export function severityMark(value) {
  const known = Object.hasOwn(severities, value ?? '');
  return h('span', { class: `severity ${known ? value : 'info'}`, title: text(value) },
    known ? severities[value] : '?', h('span', { class: 'unseen' }, ` ${text(value)}`));
}

export function nodeLink(node) {
  return node ? h('a', { href: linkTo('node', node) }, text(node)) : dash;
}

export function jobLink(id, words) {
  return id === undefined || id === null || id === '' || id === 0 ? dash : h('a', { href: linkTo('job', id) }, words ?? text(id));
}

export function incidentLink(id, words) {
  return id ? h('a', { href: linkTo('incident', id) }, words ?? text(id)) : dash;
}

// facts([['Driver', '570'], ...]): names and values under each other.
export function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}

// columns: [{label, of: row -> text or element, number?: bool, wide?: bool}]
export function table(caption, columns, rows) {
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', {},
      h('caption', { class: 'unseen' }, caption),
      h('thead', {}, h('tr', {}, columns.map((column) => h('th', { scope: 'col', class: column.number ? 'number' : '' }, column.label)))),
      h('tbody', {}, rows.map((row) => tableRow(columns, row)))));
}

export function tableRow(columns, row) {
  return h('tr', {}, columns.map((column) =>
    h('td', { class: `${column.number ? 'number' : ''} ${column.wide ? 'wide' : ''}`.trim() }, column.of(row) ?? dash)));
}

export function emptyNote(title, sentence) {
  return h('div', { class: 'note' }, h('p', { class: 'note-title' }, title), sentence && h('p', {}, sentence));
}

export function errorNote(error, again) {
  return h('div', { class: 'note error', role: 'alert' },
    h('p', { class: 'note-title' }, 'This could not be loaded'), h('p', {}, sentence(error?.message)),
    again && h('button', { type: 'button', click: again }, 'Try again'));
}

export function loadingNote() {
  return h('div', { class: 'note', 'aria-busy': 'true' }, h('p', {}, 'Loading…'));
}

// timeline([{unix_ms, what, text}], clock): things in the order in which they happened.
export function timeline(entries, when) {
  return h('ol', { class: 'timeline' }, entries.map((entry) => h('li', {},
    h('time', {}, when(entry.unix_ms)),
    h('span', { class: 'what' }, [entry.part, entry.what].filter(Boolean).map(text).join(' · ') || dash),
    entry.took && h('span', { class: 'took' }, entry.took),
    entry.text ? h('span', { class: 'said' }, text(entry.text)) : null)));
}

export function asList(value) {
  return Array.isArray(value) ? value.filter((item) => item !== null && item !== undefined) : [];
}
