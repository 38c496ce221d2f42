// SPDX-License-Identifier: GPL-2.0-or-later
// What the page knows, kept up to date by the hub's events. Views listen for: fleet (everything is
// new), nodes (detail: indices), incident, job, stats, brake, sim, access, connection.
import { get, Refused } from './api.js';
import { follow } from './events.js';
import { Fleet } from './fleet.js';

const mostIncidents = 500;
const retryMs = 2000;
const brakesMs = 10000;

function list(value) {
  return Array.isArray(value) ? value : [];
}

export class Store extends EventTarget {
  fleet = new Fleet();
  loaded = false;
  stats = {};
  access = { role: 'none', may_act: false, may_inject: false };
  sim = null;
  brakes = null;
  incidents = new Map(); // id -> incident, the newest last
  connection = { state: 'connecting', lastSeen: 0, sentence: '' };
  #stream = null;
  #loading = false;
  #retry = 0;
  #brakesAsked = Date.now();

  say(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #connect(state, sentence = '') {
    if (this.connection.state === state && this.connection.sentence === sentence) return;
    this.connection = { ...this.connection, state, sentence };
    this.say('connection');
  }

  // Asks for everything anew, then follows the events.
  async start() {
    if (this.#loading) return;
    this.#loading = true;
    clearTimeout(this.#retry);
    this.#stream?.stop();
    try {
      this.#takeFleet(await get('v1/fleet'));
      this.#follow();
      this.#rest();
    } catch (error) {
      this.#refused(error);
      if (this.connection.state === 'lost') this.#retry = setTimeout(() => this.start(), retryMs);
    } finally {
      this.#loading = false;
    }
  }

  #takeFleet(json) {
    this.fleet = new Fleet(json !== null && typeof json === 'object' ? json : {});
    this.loaded = true;
    this.connection.lastSeen = Date.now();
    this.#connect('live');
    this.say('fleet');
  }

  // What the first picture need not wait for. Each may fail by itself.
  #rest() {
    const ask = (path, take) => get(path).then(take).catch(() => {});
    ask('v1/status', (status) => this.#takeStatus(status));
    ask('v1/incidents?limit=200', (answer) => {
      for (const incident of list(answer?.incidents).reverse()) this.#keepIncident(incident);
      this.say('incidents');
    });
    ask('v1/brakes', (answer) => this.#takeBrakes(answer));
    this.refreshSim();
  }

  #takeStatus(status) {
    if (status === null || typeof status !== 'object') return;
    this.#takeStats(status.stats ?? status);
    this.access = { role: 'none', may_act: false, may_inject: false, ...status.access };
    this.say('access');
  }

  #takeStats(stats) {
    this.stats = stats;
    this.say('stats');
    if (Date.now() - this.#brakesAsked > brakesMs) this.#refreshBrakes();
  }

  #takeBrakes(answer) {
    this.brakes = list(answer?.brakes ?? answer);
    this.say('brake');
  }

  #takeSim(sim) {
    if (sim === null || typeof sim !== 'object' || sim.error) return;
    this.sim = sim;
    this.say('sim');
  }

  #keepIncident(incident) {
    if (incident === null || typeof incident !== 'object' || incident.id === undefined) return false;
    const id = String(incident.id);
    const isNew = !this.incidents.has(id);
    this.incidents.delete(id);
    this.incidents.set(id, { ...incident, id });
    if (this.incidents.size > mostIncidents) this.incidents.delete(this.incidents.keys().next().value);
    return isNew;
  }

  #refused(error) {
    const refused = error instanceof Refused ? error : new Refused(0, 'the page could not read the answer');
    if (refused.status === 401 || refused.status === 403) this.#askToken(refused.message);
    else this.#connect('lost', refused.message);
  }

  // Said at every refusal, and nothing is asked any more until there is another token.
  #askToken(sentence) {
    this.#stream?.stop();
    this.connection = { ...this.connection, state: 'token', sentence };
    this.say('connection');
  }

  #follow() {
    this.#stream = follow('v1/events', this.fleet.seq || '', {
      open: () => this.#seen(),
      lost: (refused) => this.#refused(refused ?? new Refused(0, 'the hub is not reachable')),
      event: (name, object) => {
        this.#seen();
        this.#event(name, object);
      },
    });
  }

  #seen() {
    this.connection.lastSeen = Date.now();
    this.#connect('live');
  }

  #event(name, object) {
    if (name === 'reset') this.start();
    else if (name === 'fleet') this.#applyNodes(list(object.nodes));
    else if (name === 'incident') this.say('incident', { incident: object, isNew: this.#keepIncident(object) });
    else if (name === 'job') this.say('job', { job: object, nodes: this.fleet.setJob(object) });
    else if (name === 'stats') this.#takeStats(object);
    else if (name === 'brake') this.#refreshBrakes();
    else if (name === 'sim') this.#takeSim(object);
  }

  #applyNodes(changes) {
    const nodes = changes.map((change) => this.fleet.apply(change));
    if (nodes.some((node) => node < 0)) this.start();
    this.say('nodes', nodes.filter((node) => node >= 0));
  }

  #refreshBrakes() {
    this.#brakesAsked = Date.now();
    get('v1/brakes').then((answer) => this.#takeBrakes(answer)).catch(() => {});
  }

  refreshSim() {
    return get('v1/sim').then((sim) => this.#takeSim(sim)).catch(() => {});
  }

  newestIncidents() {
    return [...this.incidents.values()].reverse();
  }

  stop() {
    clearTimeout(this.#retry);
    this.#stream?.stop();
  }
}
