// SPDX-License-Identifier: GPL-2.0-or-later
// How incidents are listed: in the feed, in their view and in the panels.
import { h } from './dom.js';
import { ago, moment, text } from './format.js';
import { incidentLink, jobLink, nodeLink, severityMark } from './parts.js';
import { linkTo } from './route.js';

export function isOpen(incident) {
  return !incident.closed_ms;
}

export function whereText(incident) {
  const gpu = Number.isInteger(incident.gpu_index) ? ` GPU ${incident.gpu_index}` : '';
  return `${text(incident.node)}${gpu}`;
}

export function sentence(incident) {
  return `${text(incident.class)} on ${whereText(incident)}: ${text(incident.action)}`;
}

export function feedItem(incident) {
  return h('li', { class: `feed-item ${isOpen(incident) ? 'open' : 'closed'}` },
    h('a', { href: linkTo('incident', incident.id) },
      severityMark(incident.severity),
      h('span', { class: 'feed-class' }, text(incident.class)),
      h('span', { class: 'feed-where' }, whereText(incident)),
      h('span', { class: 'feed-state' }, isOpen(incident) ? text(incident.state ?? 'open') : 'closed'),
      h('time', { title: ago(incident.opened_ms) }, moment(incident.opened_ms))));
}

export const incidentColumns = [
  { label: 'Opened', of: (i) => incidentLink(i.id, moment(i.opened_ms)) },
  { label: 'Severity', of: (i) => severityMark(i.severity) },
  { label: 'Class', of: (i) => text(i.class) },
  { label: 'Where', of: (i) => h('span', {}, nodeLink(i.node), Number.isInteger(i.gpu_index) ? ` GPU ${i.gpu_index}` : '') },
  { label: 'State', of: (i) => text(isOpen(i) ? i.state ?? 'open' : 'closed') },
  { label: 'Action', of: (i) => text(i.action) },
  { label: 'Job', of: (i) => jobLink(i.job) },
  { label: 'Outcome', wide: true, of: (i) => text(i.outcome) },
];
