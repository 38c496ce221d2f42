// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the page together.
import { announceIncidents } from './announcer.js';
import { ClusterView } from './cluster_view.js';
import { showConnection } from './connection.js';
import { byId, fill } from './dom.js';
import { AuditView, BrakesView, IncidentsView, JobsView } from './list_views.js';
import { SidePanel } from './panel.js';
import { currentRoute, routeText, views } from './route.js';
import { SimView } from './sim_view.js';
import { showStats } from './stats_strip.js';
import { Store } from './store.js';
import { startTheme } from './theme.js';
import { askToken } from './token.js';

const connectionTickMs = 1000;

class App {
  route = currentRoute();
  store = new Store();

  start() {
    startTheme(byId('theme'), () => this.cluster.picture.setColours());
    this.cluster = new ClusterView(this);
    this.panel = new SidePanel(this);
    this.lists = { incidents: new IncidentsView(this), jobs: new JobsView(this), brakes: new BrakesView(this), audit: new AuditView(this), sim: new SimView(this) };
    this.#listen();
    announceIncidents(this.store);
    byId('skip').addEventListener('click', (event) => {
      event.preventDefault();
      byId('main').focus();
    });
    byId('access').addEventListener('click', () => askToken(this.store));
    byId('panel').addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.route.kind) this.go({ view: this.route.view, kind: '' });
    });
    window.addEventListener('hashchange', () => this.#show(currentRoute()));
    this.#show(this.route, true);
    this.store.start();
  }

  #listen() {
    const { store } = this;
    store.addEventListener('stats', () => showStats(store.stats));
    store.addEventListener('sim', () => this.#showSimTab());
    store.addEventListener('brake', () => this.#markBrakes());
    store.addEventListener('access', () => this.#showAccess());
    store.addEventListener('fleet', () => this.#showFleetName());
    store.addEventListener('connection', () => {
      showConnection(store.connection);
      if (store.connection.state === 'token' && !byId('dialog').open) askToken(store, store.connection.sentence);
    });
    setInterval(() => store.connection.state === 'lost' && showConnection(store.connection), connectionTickMs);
    showStats({});
  }

  #showFleetName() {
    const { cluster, mode } = this.store.fleet;
    fill(byId('cluster'), cluster);
    document.title = cluster ? `${cluster} · ACRF` : 'ACRF';
    const badge = byId('mode');
    fill(badge, mode);
    badge.hidden = !mode;
    badge.className = `badge ${mode === 'enforce' ? 'enforce' : ''}`;
    badge.title = mode === 'enforce' ? 'ACRF acts by itself' : 'ACRF only says what it would do';
  }

  #showAccess() {
    const { role, name, may_act: mayAct } = this.store.access;
    fill(byId('access-name'), mayAct ? name || 'admin' : role === 'none' || !name ? 'read only' : name);
  }

  #showSimTab() {
    byId('tab-sim').hidden = false;
  }

  #markBrakes() {
    const full = (this.store.brakes ?? []).filter((brake) => brake?.full).length;
    fill(byId('brakes-count'), full ? `${full} tripped` : '');
  }

  go(route) {
    const hash = routeText(route);
    if (hash === location.hash) return;
    location.hash = hash;
  }

  showJob(id) {
    this.go({ view: 'cluster', kind: 'job', id, gpu: -1 });
    // The picture may have been hidden until now.
    requestAnimationFrame(() => requestAnimationFrame(() => this.cluster.showJob(id)));
  }

  // To the details when they open, and back to where the person was when they close.
  #moveFocus(before, route) {
    if (route.kind) {
      if (!before.kind) this.opener = document.activeElement;
      this.panel.focus();
    } else if (before.kind && before.view === route.view) {
      (this.opener?.isConnected ? this.opener : byId('main')).focus();
    }
  }

  #show(route, first = false) {
    const before = this.route;
    this.route = route;
    for (const view of views) {
      if (view === route.view) byId(`tab-${view}`).setAttribute('aria-current', 'page');
      else byId(`tab-${view}`).removeAttribute('aria-current');
    }
    byId('view-cluster').hidden = route.view !== 'cluster';
    byId('view-list').hidden = route.view === 'cluster';
    if (route.view !== 'cluster' && (first || before.view !== route.view)) this.lists[route.view].show(byId('view-list'));
    document.body.dataset.view = route.view;
    document.body.dataset.detail = route.kind;
    this.cluster.show(route);
    if (first || routeText(before) !== routeText(route)) this.panel.show(route);
    if (!first && routeText(before) !== routeText(route)) this.#moveFocus(before, route);
  }
}

new App().start();
