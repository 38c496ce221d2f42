// SPDX-License-Identifier: GPL-2.0-or-later
// The whole cluster in typed arrays: 100,000 GPUs are one byte each. Nodes are known by their index,
// which is their order in pods and leaves. Whatever the hub sends, the arrays fit together.
import { stateIndex } from './states.js';

const mostGpus = 64;

function list(value) {
  return Array.isArray(value) ? value : [];
}

function name(value, fallback) {
  return typeof value === 'string' && value !== '' ? value : fallback;
}

// slurmctld still tells the nodes of jobs that have ended.
function holdsNodes(job) {
  return typeof job.state !== 'string' || /^(RUNNING|COMPLETING|SUSPENDED|STOPPED)/.test(job.state);
}

function ranges(value, nodeCount) {
  return list(value)
    .filter((range) => Array.isArray(range) && Number.isInteger(range[0]) && Number.isInteger(range[1]))
    .map(([first, many]) => [Math.max(0, first), Math.min(many, nodeCount - Math.max(0, first))])
    .filter(([, many]) => many > 0);
}

export class Fleet {
  constructor(json = {}) {
    this.cluster = name(json.cluster, '');
    this.mode = name(json.mode, '');
    this.seq = Number.isFinite(json.seq) ? json.seq : 0;
    this.#readPods(list(json.pods));
    this.#readStates(json);
    this.jobs = new Map();
    this.jobsOf = new Map(); // node index -> ids
    for (const job of list(json.jobs)) this.setJob(job);
  }

  #readPods(pods) {
    this.names = [];
    this.pods = [];
    this.leaves = [];
    const leafOf = [];
    for (const pod of pods) {
      const firstLeaf = this.leaves.length;
      for (const leaf of list(pod?.leaves)) {
        const first = this.names.length;
        for (const node of list(leaf?.nodes)) {
          leafOf.push(this.leaves.length);
          this.names.push(name(node, `node ${this.names.length}`));
        }
        this.leaves.push({ name: name(leaf?.name, 'leaf'), pod: this.pods.length, first, count: this.names.length - first });
      }
      this.pods.push({ name: name(pod?.name, 'pod'), firstLeaf, leafCount: this.leaves.length - firstLeaf });
    }
    this.leafOf = Uint32Array.from(leafOf);
    this.index = new Map(this.names.map((node, at) => [node, at]));
  }

  #readStates(json) {
    const nodes = this.names.length;
    const counts = json.gpu_count;
    this.gpuStart = new Uint32Array(nodes + 1);
    for (let i = 0; i < nodes; ++i) {
      const here = Array.isArray(counts) ? counts[i] : counts;
      this.gpuStart[i + 1] = this.gpuStart[i] + (Number.isInteger(here) ? Math.min(Math.max(here, 0), mostGpus) : 0);
    }
    this.nodeState = digits(json.node_state, nodes);
    this.gpuState = digits(json.gpu_state, this.gpuStart[nodes]);
  }

  get size() {
    return this.names.length;
  }

  gpuCount(node) {
    return this.gpuStart[node + 1] - this.gpuStart[node];
  }

  podOf(node) {
    return this.pods[this.leaves[this.leafOf[node]].pod];
  }

  // Applies one entry of a `fleet` event; the node's index, or -1 when there is no such node.
  apply(change) {
    const named = this.index.get(change?.node);
    const node = named ?? (Number.isInteger(change?.i) && change.i >= 0 && change.i < this.size ? change.i : -1);
    if (node < 0) return -1;
    this.nodeState[node] = stateIndex(change.state);
    if (typeof change.gpus === 'string') {
      const here = digits(change.gpus, this.gpuCount(node));
      this.gpuState.set(here, this.gpuStart[node]);
    }
    return node;
  }

  // Takes a job in, changes it or, when it runs no longer, forgets it. Returns the nodes concerned.
  setJob(job) {
    if (job === null || typeof job !== 'object' || job.id === undefined) return [];
    const id = String(job.id);
    const touched = this.#dropJob(id);
    const where = holdsNodes(job) ? ranges(job.ranges ?? job.nodes, this.size) : [];
    if (where.length === 0) return touched;
    this.jobs.set(id, { ...job, id, ranges: where });
    for (const node of nodesIn(where)) {
      this.jobsOf.set(node, [...(this.jobsOf.get(node) ?? []), id]);
      touched.push(node);
    }
    return touched;
  }

  #dropJob(id) {
    const old = this.jobs.get(id);
    if (!old) return [];
    this.jobs.delete(id);
    const nodes = [...nodesIn(old.ranges)];
    for (const node of nodes) {
      const left = (this.jobsOf.get(node) ?? []).filter((other) => other !== id);
      if (left.length) this.jobsOf.set(node, left);
      else this.jobsOf.delete(node);
    }
    return nodes;
  }

  countStates() {
    const nodes = new Array(10).fill(0);
    const gpus = new Array(10).fill(0);
    for (const state of this.nodeState) ++nodes[state];
    for (const state of this.gpuState) ++gpus[state];
    return { nodes, gpus };
  }
}

function digits(value, length) {
  const states = new Uint8Array(length);
  if (typeof value !== 'string') return states;
  for (let i = 0; i < Math.min(length, value.length); ++i) {
    const digit = value.charCodeAt(i) - 48;
    states[i] = digit >= 0 && digit <= 9 ? digit : 0;
  }
  return states;
}

export function* nodesIn(where) {
  for (const [first, many] of where) for (let i = first; i < first + many; ++i) yield i;
}
