// SPDX-License-Identifier: GPL-2.0-or-later
// Light, dark, or as the system is. The colours are the style sheet's; the picture asks for them here.
import { states } from './states.js';

const key = 'acrf-theme';
const choices = ['auto', 'light', 'dark'];
const labels = { auto: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' };

export const jobColours = 8;

function stored() {
  const value = localStorage.getItem(key);
  return choices.includes(value) ? value : 'auto';
}

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

function apply(choice, button) {
  const asSystem = systemIsDark.matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = choice === 'auto' ? asSystem : choice;
  button.setAttribute('aria-label', labels[choice]);
  button.title = labels[choice];
  button.dataset.choice = choice;
}

// Makes the button go through the choices; calls onChange whenever the colours are others.
export function startTheme(button, onChange) {
  apply(stored(), button);
  button.addEventListener('click', () => {
    const next = choices[(choices.indexOf(stored()) + 1) % choices.length];
    localStorage.setItem(key, next);
    apply(next, button);
    onChange();
  });
  systemIsDark.addEventListener('change', () => {
    apply(stored(), button);
    onChange();
  });
}

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    background: of('--picture'),
    pod: of('--picture-pod'),
    leaf: of('--picture-leaf'),
    node: of('--picture-node'),
    idle: of('--picture-idle'),
    text: of('--text'),
    faint: of('--text-faint'),
    accent: of('--accent'),
    veil: of('--picture-veil'),
    alarm: of('--state-down'),
    onState: of('--on-state'),
    states: states.map((state) => of(state.variable)),
    jobs: Array.from({ length: jobColours }, (_, i) => of(`--job-${i}`)),
  };
}
