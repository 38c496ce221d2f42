// SPDX-License-Identifier: GPL-2.0-or-later
// Elements are made by code alone, and strings become text nodes: nothing that the cluster says can
// become markup.

const svgNamespace = 'http://www.w3.org/2000/svg';

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (name === 'style') for (const [key, part] of Object.entries(value)) element.style.setProperty(key, part);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  return element;
}

// h('button', {class: 'quiet', click: () => ...}, 'Close'): an element with attributes, listeners
// (attributes that are functions) and children.
export function h(tag, attributes = {}, ...children) {
  return add(set(document.createElement(tag), attributes), children);
}

export function s(tag, attributes = {}, ...children) {
  return add(set(document.createElementNS(svgNamespace, tag), attributes), children);
}

export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

export function byId(id) {
  return document.getElementById(id);
}
