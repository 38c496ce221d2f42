// SPDX-License-Identifier: GPL-2.0-or-later
// Requests to the hub that served this page. The token lives in sessionStorage: it goes with the tab.

const tokenKey = 'acrf-token';

export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

export function token() {
  return sessionStorage.getItem(tokenKey) ?? '';
}

export function setToken(value) {
  if (value) sessionStorage.setItem(tokenKey, value);
  else sessionStorage.removeItem(tokenKey);
}

export function headers() {
  return token() ? { Authorization: `Bearer ${token()}` } : {};
}

async function sentenceOf(response) {
  try {
    const body = await response.json();
    if (typeof body?.error === 'string') return body.error;
  } catch {
    // Not JSON: a proxy's page, or nothing at all.
  }
  return `the hub answered ${response.status}`;
}

async function answer(response) {
  if (!response.ok) throw new Refused(response.status, await sentenceOf(response));
  try {
    return await response.json();
  } catch {
    throw new Refused(response.status, 'the hub answered with something that is not JSON');
  }
}

async function send(path, options) {
  try {
    return await fetch(path, { cache: 'no-store', redirect: 'error', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refused(0, 'the hub is not reachable');
  }
}

export async function get(path, signal) {
  return answer(await send(path, { headers: headers(), signal }));
}

// The extra header is one that no other site's page can set.
export async function post(path, body) {
  return answer(await send(path, {
    method: 'POST',
    headers: { ...headers(), 'Content-Type': 'application/json', 'X-ACRF-Confirm': 'yes' },
    body: JSON.stringify(body),
  }));
}

// query('v1/nodes', {state: 'down', leaf: ''}) leaves out what is empty.
export function query(path, parameters) {
  const parts = Object.entries(parameters)
    .filter(([, value]) => value !== '' && value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return parts.length ? `${path}?${parts.join('&')}` : path;
}
