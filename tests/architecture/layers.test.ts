import { join } from 'node:path';
import { expect, test } from 'vitest';
import { specifiers, violations } from '../../scripts/layers.ts';

const root = join(import.meta.dirname, '../..');

test('every import follows the reading order', () => {
  expect(violations(root)).toEqual([]);
});

test('static, type, dynamic and re-export imports are found, comments are not', () => {
  const source = `
    import { a } from '#canon';
    import type { b } from "../ledger/index.ts";
    export { c } from './c.ts';
    const d = await import('node:fs');
    // import { e } from '#nothing';
    /* import { f } from '#nothing'; */
    const text = Buffer.from('not an import');
  `;
  expect(specifiers(source)).toEqual(['#canon', '../ledger/index.ts', './c.ts', 'node:fs']);
});
