// SPDX-License-Identifier: GPL-2.0-or-later
// node serve.js [PORT]: the fixture's hub for a person to look at, with something happening every second.
import { Cluster } from './fixture/cluster.js';
import { FixtureHub } from './fixture/server.js';

const hub = await new FixtureHub(new Cluster()).start(Number(process.argv[2] ?? 8080));
console.log(`${hub.url} (the token "admin" may act)`);
setInterval(() => {
  const node = hub.cluster.random.below(hub.cluster.names.length);
  hub.cluster.setState(node, hub.cluster.random.of([1, 1, 4, 5, 6, 7]));
  hub.pushNode(node);
  if (hub.cluster.nodeState[node] !== 1) hub.push('incident', hub.cluster.incident(node, Date.now(), { closed_ms: 0 }));
  hub.push('stats', hub.cluster.stats());
}, 1000);
