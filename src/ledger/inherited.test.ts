import { describe, expect, test } from 'vitest';
import { faultsOf, inheritedCases } from '../../tests/support/inherited-cases.ts';

describe('what branches begin with', () => {
  test.each(inheritedCases())('$name: $verdict', async ({ ledger, verdict }) => {
    const faults = await faultsOf(ledger);
    // What branches off behind it does not begin with what that says either.
    const own = faults.filter((fault) => !fault.startsWith('third ') || verdict.startsWith('third '));
    expect(own).toEqual(verdict === 'valid' ? [] : [verdict]);
  });
});
