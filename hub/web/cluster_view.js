// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster's view: the picture with its tools and legend, or the table in its place.
import { get } from './api.js';
import { byId, fill, h } from './dom.js';
import { find } from './finder.js';
import { nodesIn } from './fleet.js';
import { plural } from './format.js';
import { nearestNode } from './layout.js';
import { Legend } from './legend.js';
import { NodeTable } from './node_table.js';
import { Picture } from './picture.js';
import { PictureInput } from './picture_input.js';
import { states } from './states.js';

export class ClusterView {
  #filter = -1;
  #job = null;

  constructor(app) {
    this.app = app;
    this.store = app.store;
    this.tip = byId('tip');
    this.picture = new Picture(byId('stage'), { moved: () => this.#showPlace(), details: (nodes) => this.#readDetails(nodes) });
    this.input = new PictureInput(this.picture, {
      hover: (at, px, py) => this.#hover(at, px, py),
      open: (node, gpu) => this.#open(node, gpu),
      cursor: (node, gpu) => this.#sayCursor(node, gpu),
      leave: () => app.go({ view: 'cluster', kind: '', id: '', gpu: -1 }),
    });
    this.legend = new Legend(byId('legend'), (state) => this.#setFilter(state));
    this.table = new NodeTable(byId('node-table'), this.store);
    this.#wireTools();
    this.#listen();
  }

  #wireTools() {
    byId('zoom-in').addEventListener('click', () => this.input.zoomIn());
    byId('zoom-out').addEventListener('click', () => this.input.zoomOut());
    byId('zoom-fit').addEventListener('click', () => this.picture.camera.glideToFit());
    for (const layer of ['state', 'jobs']) byId(`layer-${layer}`).addEventListener('click', () => this.#setLayer(layer));
    for (const form of ['picture', 'table']) byId(`show-${form}`).addEventListener('click', () => this.#setForm(form));
    byId('finder').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#find();
    });
    byId('find').addEventListener('input', () => this.table.setFilter(byId('find').value, this.#filter));
  }

  #listen() {
    const { store } = this;
    store.addEventListener('fleet', () => this.#newFleet());
    store.addEventListener('nodes', (event) => this.#changed(event.detail));
    store.addEventListener('job', (event) => this.#changed(event.detail.nodes));
    store.addEventListener('incident', (event) => {
      if (event.detail.isNew) this.picture.ring(store.fleet.index.get(event.detail.incident.node) ?? -1);
    });
  }

  #newFleet() {
    const { fleet } = this.store;
    byId('stage-note').hidden = fleet.size > 0;
    fill(byId('stage-note'), fleet.size > 0 ? '' : 'The hub knows no nodes yet: slurmctld has not answered it.');
    this.picture.setFleet(fleet);
    this.legend.update(fleet);
    this.table.update();
    this.#light();
    this.#showPlace();
    this.#describe();
    this.show(this.app.route);
    if (!performance.getEntriesByName('acrf-first-picture').length) performance.mark('acrf-first-picture');
  }

  #changed(nodes) {
    this.picture.repaintNodes(nodes);
    this.legend.update(this.store.fleet);
    if (!byId('node-table').hidden) this.table.updateNodes(nodes);
    if (this.#filter >= 0 || this.#job) this.#light();
    this.#describe();
  }

  #describe() {
    const { fleet } = this.store;
    const counts = fleet.countStates().nodes;
    const parts = states.filter((state) => counts[state.index] > 0).map((state) => `${counts[state.index]} ${state.label.toLowerCase()}`);
    byId('stage').setAttribute('aria-label', `Picture of the cluster, ${plural(fleet.size, 'node')}: ${parts.join(', ')}`);
  }

  #press(group, chosen) {
    for (const name of group) byId(name).setAttribute('aria-pressed', String(name === chosen));
  }

  #setLayer(layer) {
    this.#press(['layer-state', 'layer-jobs'], `layer-${layer}`);
    this.picture.setLayer(layer);
  }

  #setForm(form) {
    this.#press(['show-picture', 'show-table'], `show-${form}`);
    byId('node-table').hidden = form !== 'table';
    for (const id of ['picture', 'layers', 'zoom']) byId(id).hidden = form !== 'picture';
    if (form === 'table') this.table.setFilter(byId('find').value, this.#filter);
  }

  #setFilter(state) {
    this.#filter = state;
    this.table.setFilter(byId('find').value, state);
    this.#light();
  }

  // The spotlight: on a chosen job's nodes, else on a chosen state.
  #light() {
    const { fleet } = this.store;
    const job = this.#job && fleet.jobs.get(this.#job);
    if (job) return this.picture.setSpotlight([...nodesIn(job.ranges)]);
    if (this.#filter < 0) return this.picture.setSpotlight(null);
    const nodes = [];
    fleet.nodeState.forEach((state, node) => {
      if (state === this.#filter || this.#hasGpu(node)) nodes.push(node);
    });
    return this.picture.setSpotlight(nodes);
  }

  #hasGpu(node) {
    const { fleet } = this.store;
    return this.#filter !== 1 && fleet.gpuState.subarray(fleet.gpuStart[node], fleet.gpuStart[node + 1]).includes(this.#filter);
  }

  #find() {
    const found = find(this.store.fleet, byId('find').value);
    fill(byId('find-note'), found ? '' : 'No such node or job');
    if (!found) return;
    this.app.go({ view: 'cluster', ...found });
    if (found.kind === 'job') this.showJob(found.id);
    else this.picture.showNode(this.store.fleet.index.get(found.id), found.gpu);
  }

  #open(node, gpu) {
    this.app.go({ view: 'cluster', kind: 'node', id: this.store.fleet.names[node], gpu });
  }

  // Marks in the picture what the panel shows.
  show(route) {
    const node = route.kind === 'node' ? this.store.fleet.index.get(route.id) ?? -1 : -1;
    this.#job = route.kind === 'job' ? route.id : null;
    this.picture.choose(node, route.gpu);
    this.#light();
  }

  showJob(id) {
    const job = this.store.fleet.jobs.get(id);
    const box = job && this.picture.view.layout && this.picture.boxOf(nodesIn(job.ranges));
    if (box) this.picture.camera.glideTo(box, 0.85);
  }

  showNode(name, gpu) {
    this.picture.showNode(this.store.fleet.index.get(name) ?? -1, gpu);
  }

  #words(node, gpu) {
    const { fleet } = this.store;
    const jobs = fleet.jobsOf.get(node) ?? [];
    const where = `${fleet.podOf(node).name} › ${fleet.leaves[fleet.leafOf[node]].name}`;
    const part = gpu >= 0
      ? `GPU ${gpu}: ${states[fleet.gpuState[fleet.gpuStart[node] + gpu]].label.toLowerCase()}`
      : plural(fleet.gpuCount(node), 'GPU');
    const job = fleet.jobs.get(jobs[0]);
    const doing = job ? `job ${jobs.join(', ')}${job.name ? ` (${job.name})` : ''}` : 'no job';
    return [`${fleet.names[node]}, ${states[fleet.nodeState[node]].label.toLowerCase()}`, part, doing, where];
  }

  #hover(at, px, py) {
    this.picture.overlay.hovered = at?.node ?? -1;
    this.picture.repaintOverlay();
    this.tip.hidden = !at || at.node < 0;
    if (this.tip.hidden) return;
    const [title, ...rest] = this.#words(at.node, at.gpu);
    fill(this.tip, h('b', {}, title), rest.map((line) => h('span', {}, line)));
    const { width, height } = this.picture.camera;
    const left = Math.min(px + 14, width - this.tip.offsetWidth - 4);
    const top = py + 16 + this.tip.offsetHeight > height ? py - this.tip.offsetHeight - 10 : py + 16;
    this.tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }

  #sayCursor(node, gpu) {
    if (node >= 0) fill(byId('cursor-note'), this.#words(node, gpu).join('; '));
  }

  // The way from the fleet to what the middle of the window shows; each step leads there.
  #showPlace() {
    const { fleet, layout, camera } = this.picture.view;
    if (!layout || fleet.size === 0) return;
    const node = nearestNode(layout, camera.worldX(camera.width / 2), camera.worldY(camera.height / 2));
    const leaf = fleet.leafOf[node];
    const { pod } = fleet.leaves[leaf];
    const { gpu } = this.picture.at(camera.width / 2, camera.height / 2);
    const steps = [['Fleet', () => camera.glideToFit()]];
    const see = (box) => () => camera.glideTo(box, 0.95);
    const near = !camera.atFit;
    if (near) steps.push([fleet.pods[pod].name, see(layout.pods[pod])]);
    if (near && camera.scale > 14) steps.push([fleet.leaves[leaf].name, see(layout.leaves[leaf])]);
    if (near && camera.scale > 120) steps.push([fleet.names[node], () => this.picture.showNode(node)]);
    if (near && camera.scale > 600 && gpu >= 0) steps.push([`GPU ${gpu}`, () => this.picture.showNode(node, gpu)]);
    const words = steps.map(([name]) => name).join('\n');
    if (byId('place').dataset.words === words) return;
    byId('place').dataset.words = words;
    fill(byId('place'), steps.map(([name, go]) => h('li', {}, h('button', { type: 'button', click: go }, name))));
  }

  #readDetails(nodes) {
    for (const node of nodes) {
      const { fleet } = this.store;
      get(`v1/nodes/${encodeURIComponent(fleet.names[node])}`)
        .then((details) => fleet === this.store.fleet && this.picture.setDetails(node, details)).catch(() => {});
    }
  }
}
