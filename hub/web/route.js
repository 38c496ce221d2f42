// SPDX-License-Identifier: GPL-2.0-or-later
// What is shown is in the address: VIEW[/KIND/ID[/GPU]] behind the #, as in #cluster/node/n12/3.

export const views = ['cluster', 'incidents', 'jobs', 'brakes', 'audit', 'sim'];
const kinds = ['node', 'job', 'incident'];

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function parseRoute(hash) {
  const [view, kind, id, gpu] = hash.replace(/^#\/?/, '').split('/').map(decode);
  const route = { view: views.includes(view) ? view : 'cluster', kind: '', id: '', gpu: -1 };
  if (!kinds.includes(kind) || !id) return route;
  return { ...route, kind, id, gpu: /^\d{1,3}$/.test(gpu ?? '') ? Number(gpu) : -1 };
}

export function routeText(route) {
  const parts = [route.view];
  if (route.kind) parts.push(route.kind, encodeURIComponent(route.id));
  if (route.kind && route.gpu >= 0) parts.push(String(route.gpu));
  return `#${parts.join('/')}`;
}

export function currentRoute() {
  return parseRoute(location.hash);
}

// A link's target in the present view.
export function linkTo(kind, id, gpu = -1) {
  return routeText({ view: currentRoute().view, kind, id: String(id), gpu });
}
