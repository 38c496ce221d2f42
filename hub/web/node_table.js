// SPDX-License-Identifier: GPL-2.0-or-later
// The picture's content as a table: for screen readers, and for those who would rather read. It is made
// of what the page has, so that it needs no request and shows all nodes.
import { fill, h } from './dom.js';
import { count } from './format.js';
import { emptyNote, jobLink, nodeLink, stateLabel, table, tableRow } from './parts.js';
import { states } from './states.js';

const pageRows = 100;

function gpuText(fleet, node) {
  const first = fleet.gpuStart[node];
  const many = fleet.gpuCount(node);
  const bad = [];
  for (let gpu = 0; gpu < many; ++gpu) {
    const state = fleet.gpuState[first + gpu];
    if (state !== 1) bad.push(`${gpu} ${states[state].label.toLowerCase()}`);
  }
  return bad.length ? `${many}: ${bad.join(', ')}` : `${many}`;
}

export class NodeTable {
  #shown = pageRows;
  #wanted = '';
  #state = -1;

  constructor(root, store) {
    this.store = store;
    this.body = h('div', {});
    fill(root, this.body);
  }

  get columns() {
    const { fleet } = this.store;
    return [
      { label: 'Node', of: (node) => nodeLink(fleet.names[node]) },
      { label: 'State', of: (node) => stateLabel(fleet.nodeState[node]) },
      { label: 'GPUs', of: (node) => gpuText(fleet, node) },
      { label: 'Jobs', of: (node) => (fleet.jobsOf.get(node) ?? []).map((id, at) => [at ? ', ' : '', jobLink(id)]) },
      { label: 'Leaf', of: (node) => fleet.leaves[fleet.leafOf[node]].name },
      { label: 'Pod', of: (node) => fleet.podOf(node).name },
    ];
  }

  setFilter(words, state) {
    this.#wanted = words.toLowerCase();
    this.#state = state;
    this.#shown = pageRows;
    this.update();
  }

  #matching() {
    const { fleet } = this.store;
    const found = [];
    for (let node = 0; node < fleet.size; ++node) {
      if (this.#state >= 0 && fleet.nodeState[node] !== this.#state) continue;
      if (this.#wanted && !fleet.names[node].toLowerCase().includes(this.#wanted)) continue;
      found.push(node);
    }
    // What is not healthy first; the order of the fleet otherwise.
    return this.#state >= 0 ? found : [...found.filter((n) => fleet.nodeState[n] !== 1), ...found.filter((n) => fleet.nodeState[n] === 1)];
  }

  update() {
    if (this.body.parentElement.hidden) return undefined;
    const nodes = this.#matching();
    if (nodes.length === 0) return fill(this.body, emptyNote('No such nodes', 'Nothing matches the filter.'));
    const shown = nodes.slice(0, this.#shown);
    const more = nodes.length > shown.length && h('button', { type: 'button', click: () => {
      this.#shown += pageRows;
      this.update();
    } }, 'Show more');
    this.rows = shown;
    return fill(this.body, table('Nodes', this.columns, shown),
      h('p', { class: 'faint' }, `${count(shown.length)} of ${count(nodes.length)} nodes. `, more));
  }

  // Changes the rows of some nodes and moves none under the reader's eyes.
  updateNodes(nodes) {
    const body = this.body.querySelector('tbody');
    for (const node of nodes) {
      const at = this.rows?.indexOf(node) ?? -1;
      if (at >= 0 && body?.rows[at]) body.rows[at].replaceWith(tableRow(this.columns, node));
    }
  }
}
