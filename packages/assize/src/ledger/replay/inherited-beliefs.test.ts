import { describe, expect, test } from 'vitest';
import type { ErasureCase } from '../../../../../tests/support/ledger/erasure-cases.ts';
import {
  faultsOf,
  faultsOfRows,
  inheritedCases,
} from '../../../../../tests/support/ledger/inherited-cases.ts';
import {
  ChainWriter,
  commitMembers,
  rootMembers,
} from '../../../../../tests/support/ledger/rows.ts';

describe('the initial memory of a branch', () => {
  test.each(inheritedCases())('$name: $verdict', async ({ ledger, verdict }) => {
    const faults = await faultsOf(ledger);
    // A branch behind the faulty branch does not start with the recorded memory either.
    const own = faults.filter(
      (fault) => !fault.startsWith('third ') || verdict.startsWith('third '),
    );
    expect(own).toEqual(verdict === 'valid' ? [] : [verdict]);
  });

  test.each(inheritedCases())(
    'is found beside a trajectory that does not verify: $name',
    async ({ name, ledger, verdict }) => {
      const apart = new ChainWriter('apart');
      apart.add('root', rootMembers());
      const { payload } = apart.add('commit', commitMembers([]));
      const rows = [
        ...apart.rows.slice(0, 1),
        { ...apart.head, payload: `${payload} ` },
        ...ledger.rows,
      ];
      const faults = await faultsOfRows({ ...ledger, rows });
      const own = faults.filter(
        (fault) => !fault.startsWith('third ') || verdict.startsWith('third '),
      );
      // The trajectory that does not verify may have changed the partition with erased names.
      const isTold = verdict !== 'valid' && !name.endsWith('no names any more');
      expect(own).toEqual(['apart 1 tampered', ...(isTold ? [verdict] : [])]);
    },
  );

  test('adds no fault to other entries, for any entry that does not verify', async () => {
    const [{ ledger }] = inheritedCases() as [ErasureCase];
    for (const [i, broken] of ledger.rows.entries()) {
      const rows = ledger.rows.with(i, { ...broken, payload: `${broken.payload} ` });
      const faults = await faultsOfRows({ ...ledger, rows });
      const own = `${broken.trajectory_id} ${broken.seq} tampered`;
      expect(
        faults.filter((fault) => fault !== own && !/(source|delegation)_/.test(fault)),
        own,
      ).toEqual([]);
      expect(faults).toContain(own);
    }
  });
});
