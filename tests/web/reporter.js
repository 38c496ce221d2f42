// SPDX-License-Identifier: GPL-2.0-or-later
// The results of node's test runner as GoogleTest writes them, which contrib/check counts.

function name(data) {
  return `Web.${data.name.replace(/\s+/g, '_').replace(/[^\w.-]/g, '')}`;
}

export default async function* report(source) {
  for await (const { type, data } of source) {
    const ms = Math.round(data?.details?.duration_ms ?? 0);
    if (type === 'test:pass' && data.skip !== undefined) yield `${data.skip}\n[  SKIPPED ] ${name(data)} (${ms} ms)\n`;
    else if (type === 'test:pass') yield `[       OK ] ${name(data)} (${ms} ms)\n`;
    if (type === 'test:fail') {
      const error = data.details.error;
      yield `${error?.cause?.stack ?? error?.cause ?? error?.message ?? ''}\n[  FAILED  ] ${name(data)} (${ms} ms)\n`;
    }
    if (type === 'test:diagnostic' && !/^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /.test(data.message)) yield `   ${data.message}\n`;
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
  }
}
