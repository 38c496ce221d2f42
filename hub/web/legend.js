// SPDX-License-Identifier: GPL-2.0-or-later
// What the shapes mean, how many there are of each, and a switch to see one of them alone.
import { fill, h } from './dom.js';
import { count, plural } from './format.js';
import { stateIcon, states } from './states.js';

export class Legend {
  chosen = -1;

  // pick(index of a state or -1)
  constructor(root, pick) {
    this.root = root;
    this.pick = pick;
    this.buttons = states.map((state) => h('button', { type: 'button', class: 'legend-item', 'aria-pressed': 'false', click: () => this.choose(state.index) }));
    fill(root, this.buttons);
  }

  choose(index) {
    this.chosen = index === this.chosen ? -1 : index;
    this.buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(at === this.chosen)));
    this.pick(this.chosen);
  }

  update(fleet) {
    const counts = fleet.countStates();
    states.forEach((state) => {
      const nodes = counts.nodes[state.index];
      const gpus = counts.gpus[state.index];
      const button = this.buttons[state.index];
      fill(button, stateIcon(state.index), h('span', {}, state.label), h('span', { class: 'number' }, count(nodes)));
      button.title = `${plural(nodes, 'node')}, ${plural(gpus, 'GPU')}`;
      button.hidden = nodes === 0 && gpus === 0 && this.chosen !== state.index;
    });
  }
}
