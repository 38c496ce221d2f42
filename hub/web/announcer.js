// SPDX-License-Identifier: GPL-2.0-or-later
// Tells screen readers about incidents as they happen; many at once become one sentence.
import { byId, fill } from './dom.js';
import { plural } from './format.js';
import { sentence } from './incident_parts.js';

const gatherMs = 400;
const mostSpoken = 3;

export function announceIncidents(store) {
  let fresh = [];
  store.addEventListener('incident', ({ detail }) => {
    if (!detail.isNew) return;
    if (fresh.length === 0) setTimeout(speak, gatherMs);
    fresh.push(detail.incident);
  });
  function speak() {
    const spoken = fresh.length <= mostSpoken ? fresh.map(sentence).join('. ') : plural(fresh.length, 'new incident');
    fresh = [];
    fill(byId('announce'), spoken);
  }
}
