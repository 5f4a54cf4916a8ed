import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { EntryRow } from '#ledger';
import {
  branchMembers,
  ChainWriter,
  delegationMembers,
  RowsReader,
  rootMembers,
} from '../../../../../../tests/support/ledger/rows.ts';
import { VisibilityChains } from './visibility.ts';

/** Chains of rows that no store accepts, and the number of reads. */
function linesOf(
  rows: readonly EntryRow[],
  max?: number,
): { lines: VisibilityChains; reads: () => number } {
  const reader = new RowsReader(rows);
  const store = new MemoryStore();
  let reads = 0;
  store.entries = async (id, page) => {
    reads++;
    return reader.entries(id, page);
  };
  store.resolve = (id) => reader.resolve(id);
  return { lines: new VisibilityChains(store, max), reads: () => reads };
}

const root = (): ChainWriter => {
  const writer = new ChainWriter('root');
  writer.add('root', rootMembers());
  return writer;
};

describe('which memories a trajectory sees', () => {
  test('a cycle of branches is reported and does not loop forever', async () => {
    const { head } = root();
    const branches = [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
      ['itself', 'itself'],
    ].map(([id, from]) => {
      const writer = new ChainWriter(id!);
      return writer.add('branch', { ...branchMembers(head), source_trajectory_id: from });
    });
    const start = root().add('delegation', delegationMembers());
    const child = new ChainWriter('child');
    child.add('root', {
      ...rootMembers(),
      delegated_from: { trajectory_id: 'child', entry_id: start.id },
    });
    const { lines } = linesOf([head, ...branches, child.head]);
    for (const id of ['a', 'b', 'c', 'itself', 'child'])
      await expect(lines.of(id)).rejects.toMatchObject({ code: 'invalid_ledger' });
    expect(await lines.of('root')).toEqual([{}]);
    await expect(lines.of('nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a bounded number of chains is cached; the others are reloaded', async () => {
    const { head } = root();
    const branches = Array.from({ length: 100 }, (_, n) =>
      new ChainWriter(`b${n}`).add('branch', branchMembers(head)),
    );
    const { lines, reads } = linesOf([head, ...branches], 4);
    const all = await Promise.all(branches.map(({ trajectory_id }) => lines.of(trajectory_id)));
    expect(
      branches.filter(({ trajectory_id }) => lines.known(trajectory_id) !== undefined).length,
    ).toBeLessThan(9);
    const before = reads();
    expect(await lines.of('b0')).toEqual(all[0]);
    expect(reads()).toBeGreaterThan(before);
  });
});
