// SPDX-License-Identifier: GPL-2.0-or-later
// The hub's server-sent events, read with fetch() because EventSource cannot send a token. A lost or
// silent connection is opened again, from the last event seen.
import { headers, Refused } from './api.js';

const silenceMs = 15000;
const firstWaitMs = 250;
const longestWaitMs = 5000;
const longestEvent = 1 << 24;

// Text in any pieces -> events {event, data, id}, as the HTML standard defines the format.
export class EventParser {
  #rest = '';
  #event = '';
  #data = [];
  #id = '';

  push(text) {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    if (this.#rest.length > longestEvent) this.#rest = '';
    return lines.map((line) => this.#line(line)).filter(Boolean);
  }

  #line(line) {
    if (line === '') return this.#finish();
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
    if (name === 'id') this.#id = value;
    return null;
  }

  #finish() {
    const event = this.#data.length
      ? { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id }
      : null;
    this.#event = '';
    this.#data = [];
    return event;
  }
}

async function read(response, onText, alive) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    alive();
    onText(value);
  }
}

// Calls on.open(), on.event(name, object, id) and on.lost(Refused or null) until stop() is called.
export function follow(path, lastId, on) {
  let stopped = false;
  let waitMs = firstWaitMs;
  let abort = new AbortController();

  function take(event) {
    if (event.id) lastId = event.id;
    let object;
    try {
      object = JSON.parse(event.data);
    } catch {
      return; // One event that is not JSON: the next may be.
    }
    if (object !== null && typeof object === 'object') on.event(event.event, object, event.id);
  }

  async function once() {
    abort = new AbortController();
    const parser = new EventParser();
    let watchdog = setTimeout(() => abort.abort(), silenceMs);
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), silenceMs);
    };
    try {
      const resume = lastId === '' ? {} : { 'Last-Event-ID': String(lastId) };
      const response = await fetch(path, { headers: { ...headers(), ...resume, Accept: 'text/event-stream' },
        cache: 'no-store', signal: abort.signal });
      if (!response.ok) throw new Refused(response.status, `the hub answered ${response.status}`);
      waitMs = firstWaitMs;
      on.open();
      await read(response, (text) => parser.push(text).forEach(take), alive);
    } finally {
      clearTimeout(watchdog);
    }
  }

  (async () => {
    while (!stopped) {
      let refused = null;
      await once().catch((error) => { refused = error instanceof Refused ? error : null; });
      if (stopped) return;
      on.lost(refused);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(waitMs * 2, longestWaitMs);
    }
  })();

  return {
    stop() {
      stopped = true;
      abort.abort();
    },
  };
}
