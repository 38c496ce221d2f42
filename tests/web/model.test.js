// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser } from '../../hub/web/events.js';
import { find } from '../../hub/web/finder.js';
import { Fleet } from '../../hub/web/fleet.js';
import { ago, count, moment, seconds } from '../../hub/web/format.js';
import { arrange, gpuBoxes, neighbour, nodeAt } from '../../hub/web/layout.js';
import { parseRoute, routeText } from '../../hub/web/route.js';
import { stateIndex } from '../../hub/web/states.js';
import { timeTicks, valueTicks } from '../../hub/web/ticks.js';
import { Cluster } from './fixture/cluster.js';

test('A fleet keeps each node and GPU at its place', () => {
  const cluster = new Cluster({ pods: 2, leaves: 3, nodes: 4 });
  const fleet = new Fleet(cluster.fleet());
  assert.equal(fleet.size, 24);
  assert.equal(fleet.names[13], 'n00014');
  assert.equal(fleet.podOf(13).name, 'pod02');
  assert.deepEqual([...fleet.nodeState], cluster.nodeState);
  assert.deepEqual([...fleet.gpuState], cluster.gpuState.flat());
  assert.equal(fleet.apply({ node: 'n00014', state: 'down', gpus: '77177777' }), 13);
  assert.equal(fleet.gpuState[fleet.gpuStart[13] + 2], 1);
});

test('A fleet with missing and wrong fields is still a fleet', () => {
  assert.equal(new Fleet({}).size, 0);
  assert.equal(new Fleet({ pods: 'none', jobs: 7, node_state: 3 }).size, 0);
  const fleet = new Fleet({ pods: [{ leaves: [{ nodes: ['a', 5, null, 'b'] }] }, null], node_state: '1x', gpu_count: [2, -1, 1e9], gpu_state: '17',
    jobs: [null, { id: 1, nodes: [[0, 99], ['a', 1], [-5, 2]] }, { nodes: [[0, 1]] }] });
  assert.equal(fleet.size, 4);
  assert.deepEqual([...fleet.nodeState], [1, 0, 0, 0]);
  assert.equal(fleet.gpuCount(0), 2);
  assert.equal(fleet.gpuCount(1), 0);
  assert.ok(fleet.gpuCount(2) <= 64);
  assert.deepEqual(fleet.jobsOf.get(0), ['1', '1']);
  assert.equal(fleet.apply({ i: 99, state: 1 }), -1);
  assert.equal(fleet.apply(null), -1);
});

test('A job that ends leaves its nodes', () => {
  const fleet = new Fleet(new Cluster({ pods: 1, leaves: 1, nodes: 8 }).fleet());
  fleet.setJob({ id: 5, ranges: [[2, 3]] });
  assert.ok(fleet.jobsOf.get(3).includes('5'));
  assert.deepEqual(fleet.setJob({ id: 5, state: 'COMPLETED', ranges: [] }).sort(), [2, 3, 4]);
  assert.ok(!fleet.jobsOf.get(3)?.includes('5'));
});

test('Every node has a place of its own and is found there', () => {
  for (const shape of [{ pods: 3, leaves: 5, nodes: 7 }, { pods: 1, leaves: 1, nodes: 1000 }, { pods: 40, leaves: 1, nodes: 1 }]) {
    for (const aspect of [0.4, 1, 2.5]) {
      const fleet = new Fleet(new Cluster(shape).fleet());
      const layout = arrange(fleet, 1000 * aspect, 1000);
      for (let node = 0; node < fleet.size; ++node) {
        assert.equal(nodeAt(fleet, layout, layout.x[node] + 0.5, layout.y[node] + 0.5), node);
        assert.ok(layout.x[node] >= 0 && layout.x[node] + 1 <= layout.width && layout.y[node] + 1 <= layout.height);
      }
    }
  }
});

test('Arrow keys reach every node of a leaf and its neighbours', () => {
  const fleet = new Fleet(new Cluster({ pods: 2, leaves: 2, nodes: 6 }).fleet());
  const layout = arrange(fleet, 1500, 1000);
  const seen = new Set([0]);
  const next = [0];
  while (next.length) {
    const from = next.pop();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      const to = neighbour(layout, from, dx, dy);
      if (!seen.has(to)) next.push(to);
      seen.add(to);
    }
  }
  assert.equal(seen.size, fleet.size);
  assert.equal(gpuBoxes(8).length, 8);
  assert.equal(gpuBoxes(0).length, 0);
});

test('Events arrive whole however the bytes are cut', () => {
  const text = ': hello\n\nevent: fleet\nid: 7\ndata: {"a":\ndata: 1}\n\r\nevent: x\r\ndata: 2\r\n\r\ndata\n\n';
  for (let size = 1; size < text.length; ++size) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
    assert.deepEqual(events.slice(0, 2), [{ event: 'fleet', data: '{"a":\n1}', id: '7' }, { event: 'x', data: '2', id: '7' }], `pieces of ${size}`);
  }
});

test('Nodes, GPUs and jobs are found by what people type', () => {
  const fleet = new Fleet(new Cluster({ pods: 1, leaves: 1, nodes: 30 }).fleet());
  assert.deepEqual(find(fleet, 'n00007'), { kind: 'node', id: 'n00007', gpu: -1 });
  assert.deepEqual(find(fleet, ' n00007 gpu 3'), { kind: 'node', id: 'n00007', gpu: 3 });
  assert.deepEqual(find(fleet, 'n00007:3'), { kind: 'node', id: 'n00007', gpu: 3 });
  assert.deepEqual(find(fleet, 'job 1001'), { kind: 'job', id: '1001', gpu: -1 });
  assert.deepEqual(find(fleet, '0003'), { kind: 'node', id: 'n00003', gpu: -1 });
  assert.equal(find(fleet, 'zebra'), null);
  assert.equal(find(fleet, '  '), null);
});

test('Addresses say what is shown and survive odd names', () => {
  const route = { view: 'jobs', kind: 'node', id: 'a/b %#?', gpu: 2 };
  assert.deepEqual(parseRoute(routeText(route)), route);
  assert.deepEqual(parseRoute('#nowhere/node'), { view: 'cluster', kind: '', id: '', gpu: -1 });
  assert.equal(parseRoute('#cluster/node/%E0%A4%A/x').gpu, -1);
});

test('States are known by digit, number and name', () => {
  assert.equal(stateIndex('7'), 7);
  assert.equal(stateIndex(4), 4);
  assert.equal(stateIndex('Drained'), 6);
  assert.equal(stateIndex('rma'), 8);
  for (const odd of ['melted', 99, null, undefined, {}, -1]) assert.equal(stateIndex(odd), 0);
});

test('Figures are written for people, missing ones as a dash', () => {
  assert.equal(count(12500), '12,500');
  assert.equal(seconds(0.04), '40 ms');
  assert.equal(seconds(3.44), '3.4 s');
  assert.equal(seconds(3725), '1 h 02 min');
  assert.equal(ago(Date.now() - 90e3), '1 min ago');
  for (const odd of [undefined, null, NaN, 'x', {}]) assert.equal(count(odd) + seconds(odd) + moment(odd), '–––');
});

test('Axes have round ticks that cover the values', () => {
  assert.deepEqual(valueTicks(3, 97, 4), [0, 50, 100]);
  assert.deepEqual(valueTicks(0, 2, 3, true), [0, 1, 2]);
  const ticks = timeTicks(1000000, 1003600, 4);
  assert.ok(ticks.length >= 2 && ticks.length <= 5);
  assert.ok(ticks.every(({ at }) => at >= 1000000 && at <= 1003600 && at % 900 === 0));
});
