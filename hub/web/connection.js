// SPDX-License-Identifier: GPL-2.0-or-later
// Whether what is seen is true now: live, or since when not.
import { byId, fill, h } from './dom.js';
import { ago, clock, sentence as asSentence } from './format.js';

const words = {
  connecting: () => 'Connecting…',
  live: () => 'Live',
  token: () => 'Token needed',
  lost: ({ lastSeen }) => (lastSeen ? `Hub not reachable, last seen ${clock(lastSeen)}` : 'Hub not reachable'),
};

export function showConnection(connection) {
  const { state, lastSeen, sentence } = connection;
  const element = byId('connection');
  element.className = `connection ${state}`;
  fill(element, h('span', { class: 'dot', 'aria-hidden': 'true' }), words[state](connection));
  document.documentElement.dataset.connection = state;
  const banner = byId('banner');
  banner.hidden = state !== 'lost';
  if (state !== 'lost') return;
  fill(banner, h('b', {}, 'The hub is not reachable. '), lastSeen
    ? `What you see is from ${clock(lastSeen)} (${ago(lastSeen)}). The cluster and its protection run on without the hub. Trying again…`
    : `${asSentence(sentence)} Trying again…`);
}
