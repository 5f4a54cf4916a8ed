import { test } from 'vitest';
import { MUTANTS, planted } from '../support/mutants.ts';

test.each(MUTANTS.map((mutant) => [mutant.fault, mutant] as const))(
  'a fault fits the sources: %s',
  (_fault, mutant) => {
    for (const part of [mutant, mutant.also ?? []].flat()) planted(mutant.fault, part);
  },
);
