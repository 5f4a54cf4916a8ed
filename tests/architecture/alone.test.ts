import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALONE } from '../support/alone.ts';
import { LONGEST } from '../support/longest-first.ts';

const root = join(import.meta.dirname, '../..');
const files = globSync('{src,domains,bench,tests}/**/*.test.ts', { cwd: root });

test.each([...LONGEST, ...ALONE])('there is a test file as %s', (pattern) => {
  expect(globSync(pattern, { cwd: root }).filter((file) => files.includes(file))).not.toEqual([]);
});

test('a file has a process of its own where it leaves behind or changes what others in the same one would meet', () => {
  const leaves = [
    /\bvi\.(mock|doMock|resetModules)\(/,
    /\bfc\.configureGlobal\(/,
    /\bsyncBuiltinESMExports\(/,
    /\bprocess\.(chdir|umask|removeAllListeners)\(/,
    /\.on\('un(caughtException|handledRejection)'/,
    /\bnew Steps\(/,
  ];
  const alone = new Set([...LONGEST, ...ALONE].flatMap((pattern) => globSync(pattern, { cwd: root })));
  const found = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return leaves.some((each) => each.test(text));
  });
  expect(found).toContain('tests/properties/copies.test.ts');
  expect(found.filter((file) => !alone.has(file))).toEqual([]);
});
