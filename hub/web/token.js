// SPDX-License-Identifier: GPL-2.0-or-later
// Asks for the token that the hub wants to see.
import { setToken, token } from './api.js';
import { cancelButton, closeDialog, openDialog } from './dialog.js';
import { h } from './dom.js';
import { sentence } from './format.js';

export function askToken(store, why = '') {
  const field = h('input', { type: 'password', id: 'token', autocomplete: 'off', spellcheck: 'false', value: token() });
  const content = [
    why && h('p', { class: 'warning' }, sentence(why)),
    h('p', {}, 'On the hub’s own machine reading needs no token. Elsewhere it does, and actions need an admin’s. The token stays in this tab and goes with it.'),
    h('label', { for: 'token' }, 'Token'), field,
    h('p', { class: 'faint' }, 'A new one: ', h('code', {}, 'acrf-hub token add NAME --role read')),
  ];
  const forget = token() && h('button', { type: 'button', class: 'quiet', click: () => use(store, '') }, 'Forget it');
  openDialog('Access', content, [cancelButton(), forget, h('button', { type: 'submit', class: 'main' }, 'Use this token')],
    () => use(store, field.value.trim()));
}

function use(store, value) {
  setToken(value);
  closeDialog();
  store.start();
}
