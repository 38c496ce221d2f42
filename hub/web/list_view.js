// SPDX-License-Identifier: GPL-2.0-or-later
// A view that asks the hub for a list: loading, empty, failed and loaded look the same in all of them.
// While it is shown it asks again when told that something changed, twice a second at most.
import { get } from './api.js';
import { fill, h } from './dom.js';
import { errorNote, loadingNote } from './parts.js';

const restMs = 500;

export class ListView {
  #asked = 0;
  #timer = 0;

  // A derived class has path() and content(answer), and may have tools().
  constructor(app, title) {
    this.app = app;
    this.body = h('div', { class: 'list-body' });
    this.element = h('section', { class: 'list-view', 'aria-label': title });
    this.title = title;
  }

  tools() {
    return null;
  }

  // Puts itself into the page.
  show(root) {
    fill(this.element, h('div', { class: 'row list-head' }, h('h2', { tabindex: '-1' }, this.title), this.tools()), this.body);
    fill(root, this.element);
    fill(this.body, loadingNote());
    this.load();
  }

  async load() {
    const mine = ++this.#asked;
    try {
      const answer = await this.ask();
      if (mine === this.#asked) fill(this.body, this.content(answer));
    } catch (error) {
      if (mine === this.#asked) fill(this.body, errorNote(error, () => this.load()));
    }
  }

  ask() {
    return get(this.path());
  }

  refresh() {
    if (!this.element.isConnected || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      const busy = this.body.contains(document.activeElement) && document.activeElement.matches('a, button, input, select');
      if (this.element.isConnected && !busy) this.load();
    }, restMs);
  }
}

// A set of buttons of which one is pressed.
export function switcher(name, options, chosen, pick) {
  const buttons = options.map(([value, label]) => h('button', { type: 'button', 'aria-pressed': String(value === chosen), click: () => {
    buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(options[at][0] === value)));
    pick(value);
  } }, label));
  return h('div', { class: 'choices', role: 'group', 'aria-label': name }, buttons);
}
