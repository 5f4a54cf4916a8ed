import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Members without an open trajectory or a store behind them. */
const STATICS = [
  'static [Symbol.hasInstance](value: unknown): boolean;',
  'static readonly zero: Polynomial;',
  'static readonly one: Polynomial;',
  'static of(token: Token): Polynomial;',
  'static read(text: string): Polynomial;',
];

test('no public static hands out the state of an open trajectory', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/api.md'), 'utf8');
  const found = [...page.matchAll(/^\s+(static .*)$/gm)].map(([, declared]) => declared);
  expect(found).toEqual(STATICS);
});
