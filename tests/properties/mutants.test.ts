import { test } from 'vitest';
import { MUTANTS, planted } from '../support/mutants.ts';

test.each(MUTANTS.map((mutant) => [mutant.fault, mutant] as const))(
  'a fault fits the sources: %s',
  (_fault, mutant) => {
    planted(mutant);
  },
);
