import { expect, test } from 'vitest';
import { errorOf } from '../../../tests/support/process/errors.ts';
import {
  type AdjudicateCliOptions,
  requireTaken,
  type SpecialOption,
} from './adjudicate-options.ts';

const PLAIN: AdjudicateCliOptions = { store: 'memory:', data: '.', limit: 3, invariants: true };
const ASKED: Readonly<Record<SpecialOption, Partial<AdjudicateCliOptions>>> = {
  '--runs': { runs: 'r' },
  '--tasks': { tasks: 't' },
  '--expected': { expected: 'e' },
  '--no-invariants': { invariants: false },
  '--escalations': { escalations: 'reject' },
};
const NAMES = Object.keys(ASKED) as SpecialOption[];

/** Every choice of some of the options. */
const CHOICES = NAMES.reduce<SpecialOption[][]>(
  (choices, name) => choices.flatMap((choice) => [choice, [...choice, name]]),
  [[]],
);

test('any subset of a job’s options is accepted, others are refused by name', () => {
  for (const taken of CHOICES)
    for (const given of CHOICES) {
      const options: AdjudicateCliOptions = Object.assign(
        {},
        PLAIN,
        ...given.map((name) => ASKED[name]),
      );
      const others = given.filter((name) => !taken.includes(name));
      const required = (): void => requireTaken('it', options, taken);
      if (others.length === 0) expect(required).not.toThrow();
      else {
        const message = `adjudicate it does not accept ${others.join(', ')}. Its options are ${['--data', '--limit', ...taken].join(', ')}.`;
        expect(errorOf(required)).toMatchObject({ code: 'usage', message });
      }
    }
});
