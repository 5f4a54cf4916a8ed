import type { TransactionState } from 'assize/internal/effects';
import { expect, test } from 'vitest';
import { madeOutcome } from './made-outcome.ts';

type Phase = TransactionState['effects'][number]['phase'];

test.each<readonly [readonly Phase[], string | undefined]>([
  [[], undefined],
  [['applied'], 'done'],
  [['applied', 'applied'], 'done'],
  [['due'], undefined],
  [['applying'], undefined],
  [['applied', 'executed'], undefined],
  [['dropped'], 'failed'],
  [['applied', 'undone'], 'failed'],
  [['accepted'], 'failed'],
  [['in_doubt'], 'unknown'],
  [['unresolved'], 'unknown'],
  [['unresolved', 'dropped'], 'failed'],
])('%j is %s', (phases, outcome) => {
  const effects = phases.map((phase) => ({ class: {} as never, phase, failures: 0 }));
  expect(madeOutcome({ effects })).toBe(outcome);
});
