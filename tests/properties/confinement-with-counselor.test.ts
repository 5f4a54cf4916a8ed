import fc from 'fast-check';
import { describe, test } from 'vitest';
import { cases } from '../support/cases.ts';
import { population } from '../support/models/generated-agents.ts';
import { askingRules, shopState } from '../support/models/schedule.ts';
import { confined } from './confinement.ts';

// Seed 000, A.3, Proposition 1+. Proposition 1 is in confinement.test.ts.

describe('Proposition 1+ (Agent Confinement, with counselor commits)', () => {
  test('(ii) between entries, also counselors’, agents change no state or slice', () =>
    fc.assert(
      fc.asyncProperty(askingRules, shopState, population, (rules, start, specs) =>
        confined(rules, start, specs, 'somebody'),
      ),
      { numRuns: cases(10_000) },
    ));
});
