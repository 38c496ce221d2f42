// SPDX-License-Identifier: GPL-2.0-or-later
// Rules that the page's files keep.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const page = new URL('../../hub/web/', import.meta.url);
const files = readdirSync(page);
const text = (name) => readFileSync(new URL(name, page), 'utf8');
const scripts = files.filter((name) => name.endsWith('.js'));

test('Every file of the page is installed', () => {
  const makefile = readFileSync(new URL('../../Makefile.am', import.meta.url), 'utf8');
  const missing = files.filter((name) => !makefile.includes(`hub/web/${name}`));
  assert.deepEqual(missing, []);
});

test('Every module is loaded beside the others, not after them', () => {
  const html = text('index.html');
  assert.deepEqual(scripts.filter((name) => name !== 'main.js' && !html.includes(`modulepreload" href="${name}"`)), []);
  assert.deepEqual([...html.matchAll(/(?:href|src)="([\w.]+)"/g)].map(([, name]) => name).filter((name) => !files.includes(name)), []);
});

test('Nothing makes markup or code of text, and nothing leads elsewhere', () => {
  for (const name of scripts) {
    assert.doesNotMatch(text(name), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setHTML/, name);
  }
  for (const name of files) assert.doesNotMatch(text(name).replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\/|url\(|@import/, name);
  assert.doesNotMatch(text('index.html'), /<script>|style="| on\w+="/);
});

test('Files stay small', () => {
  for (const name of files) assert.ok(text(name).split('\n').length < 400, name);
});

test('The lock file names no registry', () => {
  assert.doesNotMatch(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8'), /"resolved"|https?:/);
});

test('All text can be read on its background, light and dark', () => {
  const css = text('colours.css');
  const block = (start) => Object.fromEntries([...css.slice(css.indexOf(start), css.indexOf('}', css.indexOf(start))).matchAll(/(--[\w-]+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]));
  const light = block(':root {');
  const dark = { ...light, ...block(":root[data-theme='dark']") };
  for (const theme of [light, dark]) {
    for (const ink of ['--text', '--text-soft', '--text-faint', '--accent', '--good', '--warn', '--bad']) {
      for (const paper of ['--page', '--surface', '--raised']) assert.ok(contrast(theme[ink], theme[paper]) >= 4.5, `${ink} on ${paper}: ${contrast(theme[ink], theme[paper])}`);
    }
    for (const name of Object.keys(theme).filter((key) => key.startsWith('--state-') && key !== '--state-healthy')) {
      assert.ok(contrast(theme[name], theme['--picture-leaf']) >= 3, `${name}: ${contrast(theme[name], theme['--picture-leaf'])}`);
      assert.ok(contrast(theme['--on-state'], theme[name]) >= 3, `letters on ${name}: ${contrast(theme['--on-state'], theme[name])}`);
    }
  }
  assert.deepEqual(Object.keys(block(":root[data-theme='dark']")).sort(), Object.keys(light).sort(), 'dark has every colour that light has');
});

function contrast(one, other) {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
