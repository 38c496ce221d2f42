// SPDX-License-Identifier: GPL-2.0-or-later
// All tests in one process, with one browser: node --test-reporter=./reporter.js run.js
import { after } from 'node:test';
import { readdirSync } from 'node:fs';
import { closeBrowser } from './browser.js';

const wanted = process.argv[2] ?? '';
for (const file of readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.js')).sort()) {
  if (file.includes(wanted)) await import(`./${file}`);
}
after(closeBrowser);
