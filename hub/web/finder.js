// SPDX-License-Identifier: GPL-2.0-or-later
// From what a person types to a node, a GPU of it, or a job: "n12", "n12 3", "n12:3", "job 17", "17".

export function find(fleet, typed) {
  const words = typed.trim();
  if (words === '') return null;
  const job = /^(?:job\s*)?(\d+)$/i.exec(words);
  if (job && fleet.jobs.has(job[1])) return { kind: 'job', id: job[1], gpu: -1 };
  const [, name, gpu] = /^(.+?)(?:(?:[\s:/]+|\s+gpu\s*)(\d{1,2}))?$/i.exec(words);
  for (const [node, index] of [[words, -1], [name.replace(/\s+gpu$/i, ''), gpu === undefined ? -1 : Number(gpu)]]) {
    if (fleet.index.has(node)) return { kind: 'node', id: node, gpu: index };
  }
  const wanted = words.toLowerCase();
  const first = fleet.names.find((node) => node.toLowerCase().startsWith(wanted)) ?? fleet.names.find((node) => node.toLowerCase().includes(wanted));
  if (first) return { kind: 'node', id: first, gpu: -1 };
  const named = [...fleet.jobs.values()].find((one) => String(one.name ?? '').toLowerCase().includes(wanted));
  return named ? { kind: 'job', id: named.id, gpu: -1 } : null;
}
