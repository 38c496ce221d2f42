// SPDX-License-Identifier: GPL-2.0-or-later
// Where everything lies in the picture. The unit is one node. Nodes fill a grid in their leaf, leaves
// in their pod, pods in the fleet; of the possible numbers of columns those are taken with which the
// whole is largest in a window of the given width to height, and full grids before ragged ones.

// Room around things, in nodes, where nodes are small. Where they are large less of it is enough.
const room = { leafPad: 0.25, leafGap: 0.5, leafTitle: 0.6, podPad: 0.5, podTitle: 1.8, podGap: 1 };
const smallNode = 9; // pixels
const leastRoom = 0.3;

function roomFor(scale) {
  const share = Math.min(1, Math.max(leastRoom, smallNode / scale));
  return Object.fromEntries(Object.entries(room).map(([name, size]) => [name, size * share]));
}

export const nodeFill = 0.86; // the share of its cell that a node covers

// Numbers of columns worth trying for n things: all up to 12, then about 10 % apart.
function candidates(n) {
  const found = [];
  for (let c = 1; c <= n; c = Math.max(c + 1, Math.floor(c * 1.1))) found.push(c);
  if (found[found.length - 1] !== n) found.push(n);
  return found;
}

function largest(groups, of) {
  return Math.max(1, ...groups.map(of));
}

function measure(shape, pads, nodeColumns, leafColumns, podColumns) {
  const { leafPad, leafGap, leafTitle, podPad, podTitle, podGap } = pads;
  const leafW = nodeColumns + 2 * leafPad;
  const leafH = Math.ceil(shape.nodes / nodeColumns) + 2 * leafPad + leafTitle;
  const podW = leafColumns * (leafW + leafGap) - leafGap + 2 * podPad;
  const podH = Math.ceil(shape.leaves / leafColumns) * (leafH + leafGap) - leafGap + podPad + podTitle;
  const width = podColumns * (podW + podGap) - podGap;
  const height = Math.ceil(shape.pods / podColumns) * (podH + podGap) - podGap;
  return { ...pads, nodeColumns, leafColumns, podColumns, leafW, leafH, podW, podH, width, height };
}

// The share of a grid's places that n things fill.
function full(n, columns) {
  return n / (columns * Math.ceil(n / columns));
}

// Pods that are much longer than wide are hard to tell apart.
function handy({ podW, podH }) {
  return Math.sqrt(Math.min(1, 2.5 / Math.max(podW / podH, podH / podW)));
}

function best(shape, aspect, pads) {
  let chosen = null;
  let size = 0;
  for (const nodeColumns of candidates(shape.nodes)) {
    for (const leafColumns of candidates(shape.leaves)) {
      for (const podColumns of candidates(shape.pods)) {
        const tried = measure(shape, pads, nodeColumns, leafColumns, podColumns);
        const scale = Math.min(aspect / tried.width, 1 / tried.height);
        const worth = scale * full(shape.nodes, nodeColumns) ** 3 * full(shape.leaves, leafColumns) * Math.sqrt(full(shape.pods, podColumns)) * handy(tried);
        if (worth <= size) continue;
        size = worth;
        chosen = tried;
      }
    }
  }
  return chosen;
}

// In a window of so many pixels -> {grid, width, height, pods, leaves: [{x, y, w, h, columns}], x, y: Float32Array of the nodes' cells}
export function arrange(fleet, width, height) {
  const shape = {
    nodes: largest(fleet.leaves, (leaf) => leaf.count),
    leaves: largest(fleet.pods, (pod) => pod.leafCount),
    pods: Math.max(1, fleet.pods.length),
  };
  const first = best(shape, width / height, room);
  const scale = Math.min(width / first.width, height / first.height);
  const grid = best(shape, width / height, roomFor(scale));
  const layout = { grid, width: grid.width, height: grid.height, pods: [], leaves: [],
    x: new Float32Array(fleet.size), y: new Float32Array(fleet.size) };
  fleet.pods.forEach((pod, at) => {
    const x = (at % grid.podColumns) * (grid.podW + grid.podGap);
    const y = Math.floor(at / grid.podColumns) * (grid.podH + grid.podGap);
    layout.pods.push({ x, y, w: grid.podW, h: grid.podH });
    placeLeaves(fleet, pod, grid, layout, x + grid.podPad, y + grid.podTitle);
  });
  return layout;
}

function placeLeaves(fleet, pod, grid, layout, left, top) {
  for (let at = 0; at < pod.leafCount; ++at) {
    const leaf = fleet.leaves[pod.firstLeaf + at];
    const x = left + (at % grid.leafColumns) * (grid.leafW + grid.leafGap);
    const y = top + Math.floor(at / grid.leafColumns) * (grid.leafH + grid.leafGap);
    layout.leaves.push({ x, y, w: grid.leafW, h: grid.leafH, columns: grid.nodeColumns });
    for (let n = 0; n < leaf.count; ++n) {
      layout.x[leaf.first + n] = x + grid.leafPad + (n % grid.nodeColumns);
      layout.y[leaf.first + n] = y + grid.leafPad + grid.leafTitle + Math.floor(n / grid.nodeColumns);
    }
  }
}

// The node at a point, -1 for none.
export function nodeAt(fleet, layout, x, y) {
  for (let l = 0; l < layout.leaves.length; ++l) {
    const place = layout.leaves[l];
    if (x < place.x || y < place.y || x >= place.x + place.w || y >= place.y + place.h) continue;
    const column = Math.floor(x - place.x - layout.grid.leafPad);
    const row = Math.floor(y - place.y - layout.grid.leafPad - layout.grid.leafTitle);
    const n = row * place.columns + column;
    return column >= 0 && column < place.columns && row >= 0 && n < fleet.leaves[l].count ? fleet.leaves[l].first + n : -1;
  }
  return -1;
}

// The node whose middle is nearest to a point, -1 if there is none.
export function nearestNode(layout, x, y) {
  let found = -1;
  let least = Infinity;
  for (let i = 0; i < layout.x.length; ++i) {
    const away = (layout.x[i] + 0.5 - x) ** 2 + (layout.y[i] + 0.5 - y) ** 2;
    if (away >= least) continue;
    least = away;
    found = i;
  }
  return found;
}

// The nearest node in a direction (dx, dy is a unit step), or the same one at the edge.
export function neighbour(layout, from, dx, dy) {
  let found = from;
  let least = Infinity;
  for (let i = 0; i < layout.x.length; ++i) {
    const along = (layout.x[i] - layout.x[from]) * dx + (layout.y[i] - layout.y[from]) * dy;
    if (along < 0.5) continue;
    const across = Math.abs((layout.x[i] - layout.x[from]) * dy) + Math.abs((layout.y[i] - layout.y[from]) * dx);
    const cost = along + 3 * across;
    if (cost < least) {
      least = cost;
      found = i;
    }
  }
  return found;
}

// The GPUs inside a node's cell, as boxes relative to the cell: twice as wide as high for eight.
export function gpuBoxes(gpus) {
  if (gpus === 0) return [];
  const columns = gpus <= 2 ? gpus : Math.ceil(Math.sqrt(gpus * 2));
  const rows = Math.ceil(gpus / columns);
  const left = (1 - nodeFill) / 2 + 0.05;
  const top = 0.34;
  const w = (1 - 2 * left) / columns;
  const h = (1 - left - top) / rows;
  return Array.from({ length: gpus }, (_, i) => ({
    x: left + (i % columns) * w + w * 0.05,
    y: top + Math.floor(i / columns) * h + h * 0.05,
    w: w * 0.9,
    h: h * 0.9,
  }));
}
