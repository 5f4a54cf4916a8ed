import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { readRules, runCases, warningsOf } from '#gateway';
import { SETS, setText } from './init.ts';

test('the command knows each set in its folder', () => {
  const files = readdirSync(join(import.meta.dirname, 'sets'));
  expect(files.sort()).toEqual(SETS.map((set) => `${set}.yaml`).sort());
});

test.each(SETS)('the set %s rules as its cases say, without a warning', async (set) => {
  const file = readRules(setText(set), `${set}.yaml`);
  expect(warningsOf(file)).toEqual([]);
  const store = await openStore('memory:');
  const steps = await runCases(file, { store }).finally(() => store.close());
  expect(steps.length).toBeGreaterThan(3);
  expect(steps.filter(({ ok }) => !ok)).toEqual([]);
});
