// SPDX-License-Identifier: GPL-2.0-or-later
// The figures on top: ten numbers that say how the cluster is.
import { byId, fill, h } from './dom.js';
import { count, dash, percent, seconds } from './format.js';

function tile(name, value, beside) {
  return h('div', { class: 'tile' }, h('dt', {}, name), h('dd', {}, h('b', {}, value), beside && h('span', {}, beside)));
}

function object(value) {
  return value !== null && typeof value === 'object' ? value : {};
}

function healthyOf(counts) {
  const values = Object.values(object(counts)).filter((value) => typeof value === 'number');
  const all = values.reduce((sum, value) => sum + value, 0);
  return all > 0 ? [count(object(counts).healthy ?? 0), `of ${count(all)}`] : [dash, ''];
}

export function showStats(stats) {
  const jobs = object(stats.jobs);
  const incidents = object(stats.incidents);
  const recoveries = object(stats.recoveries);
  const hub = object(stats.hub);
  const some = recoveries.count > 0;
  fill(byId('stats'),
    tile('Nodes healthy', ...healthyOf(stats.nodes)),
    tile('GPUs healthy', ...healthyOf(stats.gpus)),
    tile('GPUs in use', percent(stats.gpu_utilization)),
    tile('Jobs running', count(jobs.running), `${count(jobs.pending)} wait`),
    tile('Incidents open', count(incidents.open), `${count(incidents.last_hour)} in 1 h`),
    tile('Recoveries', count(recoveries.count), some ? `p50 ${seconds(recoveries.p50_s)}` : ''),
    tile('ETTR', percent(stats.ettr)),
    tile('Reporting', count(hub.nodes_reporting), `lag ${typeof hub.lag_ms_p99 === 'number' ? seconds(hub.lag_ms_p99 / 1000) : dash}`));
}
