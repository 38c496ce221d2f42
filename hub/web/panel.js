// SPDX-License-Identifier: GPL-2.0-or-later
// The side panel: the details of what was chosen, or the incidents as they happen.
import { byId, fill, h } from './dom.js';
import { sentence } from './format.js';
import { feedItem } from './incident_parts.js';
import { IncidentPanel } from './panel_incident.js';
import { JobPanel } from './panel_job.js';
import { NodePanel } from './panel_node.js';
import { emptyNote, errorNote, loadingNote } from './parts.js';
import { currentRoute, routeText } from './route.js';

const kinds = { node: NodePanel, job: JobPanel, incident: IncidentPanel };
const mostInFeed = 60;

export class SidePanel {
  #shown = null;
  #asked = 0;

  constructor(app) {
    this.app = app;
    this.root = byId('panel');
    for (const type of ['nodes', 'incident', 'job', 'access']) {
      app.store.addEventListener(type, (event) => this.#changed(type, event.detail));
    }
    app.store.addEventListener('incidents', () => this.#showFeed());
    app.store.addEventListener('fleet', () => this.#showFeed());
  }

  show(route) {
    this.#shown?.stop();
    this.#shown = route.kind ? new kinds[route.kind](this.app, route) : null;
    this.root.classList.toggle('detail', this.#shown !== null);
    if (this.#shown) this.#open(this.#shown);
    else this.#showFeed();
  }

  #heading(title) {
    return h('div', { class: 'panel-head' }, h('h2', { tabindex: '-1' }, title),
      h('a', { class: 'close', href: routeText({ view: currentRoute().view }), 'aria-label': 'Close the details' }, '✕'));
  }

  async #open(panel) {
    const mine = ++this.#asked;
    const content = h('div', { class: 'panel-body' }, loadingNote());
    fill(this.root, this.#heading(panel.title), content);
    this.root.scrollTop = 0;
    try {
      fill(content, panel.element);
      panel.element.append(loadingNote());
      await panel.load();
      panel.element.querySelector(':scope > .note[aria-busy]')?.remove();
    } catch (error) {
      if (mine === this.#asked) fill(content, this.#failed(panel, error));
    }
  }

  #failed(panel, error) {
    if (error.status === 404) return emptyNote('The hub does not know it', sentence(error.message));
    return errorNote(error, () => this.#open(panel));
  }

  // Brings the keyboard to the details that a person opened.
  focus() {
    this.root.querySelector('h2')?.focus();
  }

  #changed(type, detail) {
    if (!this.#shown) {
      if (type === 'incident') this.#showFeed();
    } else if (this.#shown.concerns(type, detail ?? [])) {
      this.#shown.refresh();
    }
  }

  #showFeed() {
    if (this.#shown) return;
    const { store } = this.app;
    const all = store.newestIncidents();
    const list = h('ol', { class: 'feed' }, all.slice(0, mostInFeed).map(feedItem));
    fill(this.root, h('div', { class: 'panel-head' }, h('h2', { tabindex: '-1' }, 'Incidents, live')),
      h('div', { class: 'panel-body' }, all.length ? list : emptyNote('No incidents', store.loaded ? 'They appear here the moment they happen.' : '')));
  }
}
