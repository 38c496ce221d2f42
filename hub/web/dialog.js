// SPDX-License-Identifier: GPL-2.0-or-later
// The one dialog of the page: token, and confirmation of actions. The browser keeps the focus inside
// and gives it back.
import { byId, fill, h } from './dom.js';

export function closeDialog() {
  byId('dialog').close();
}

// Shows the form; submit(form) is called at its submit button.
export function openDialog(title, content, buttons, submit) {
  const dialog = byId('dialog');
  const form = h('form', { method: 'dialog', submit: (event) => {
    event.preventDefault();
    submit(form);
  } }, h('h2', { id: 'dialog-title' }, title), content, h('div', { class: 'buttons' }, buttons));
  fill(dialog, form);
  if (!dialog.open) dialog.showModal();
  return form;
}

export function cancelButton(words = 'Cancel') {
  return h('button', { type: 'button', class: 'quiet', click: closeDialog }, words);
}
