/** docs/design/memory.md names all that there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STRATEGIES } from '#memory';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/design/memory.md'), 'utf8');
const read = (file: string): string =>
  readFileSync(join(root, 'packages/assize/src/memory', file), 'utf8');

test('each code, each column and each strategy stands there', () => {
  const codes = [...read('errors.ts').matchAll(/(?:\| '|^ {2})([a-z_]+)(?:'|: ')/gm)].map(
    ([, code]) => code as string,
  );
  const declared = /^export interface FactRow \{([\s\S]*?)^\}/m.exec(read('fact.ts'))?.[1] ?? '';
  const columns = [...declared.matchAll(/readonly ([a-z_]+):/g)].map(
    ([, column]) => column as string,
  );
  expect([codes.length, columns.length]).toEqual([20, 20]);
  expect(
    [...codes, ...columns, ...STRATEGIES].filter((name) => !page.includes(`\`${name}\``)),
  ).toEqual([]);
});
