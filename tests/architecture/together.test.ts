import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TOGETHER } from '../support/together.ts';

const root = join(import.meta.dirname, '../..');

/** What a file of tests leaves behind for others in its process. */
const LEAVES = [
  /\bvi\.(mock|doMock|resetModules|stubGlobal)\(/,
  /\bfc\.configureGlobal\(/,
  /\bsyncBuiltinESMExports\(/,
  /\bprocess\.(chdir|umask|removeAllListeners|on|once)\(/,
  /\bset(Timeout|Interval)\(/,
];

test('files of tests that share a process leave nothing behind there', () => {
  expect(TOGETHER.length).toBeGreaterThan(50);
  for (const file of TOGETHER) {
    const text = readFileSync(join(root, file), 'utf8');
    expect({ file, leaves: LEAVES.filter((each) => each.test(text)) }).toEqual({ file, leaves: [] });
  }
});
