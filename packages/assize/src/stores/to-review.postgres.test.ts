/** The trajectories that a list of pending proposals reads, and no others. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entryRow } from '#ledger';
import { cases } from '../../../../tests/support/cases.ts';
import { onEveryStore } from '../../../../tests/support/ledger/stores.ts';

const kinds = fc.constantFrom('pending', 'approve', 'again', 'reject', 'commit', 'named', 'halt');

onEveryStore((stores) => {
  test('trajectories with open proposals or a halt are found as by a naive scan', async () => {
    const run = fc.asyncProperty(
      fc.array(fc.array(kinds, { maxLength: 12 }), { maxLength: 5 }),
      async (lives) => {
        const store = await stores.newPlace().open();
        const expected: string[] = [];
        for (const [n, life] of lives.entries()) {
          const trajectory_id = `t${n}`;
          const rows = [
            entryRow({ kind: 'root', trajectory_id, seq: 0, parent: null, at: 'now' } as never),
          ];
          const open: string[] = [];
          for (const what of life) {
            const resolves =
              what === 'approve' || what === 'again' || what === 'reject'
                ? open.shift()
                : undefined;
            const kind =
              what === 'pending' || (what === 'again' && resolves !== undefined)
                ? 'pending_approval'
                : what === 'reject'
                  ? 'rejection'
                  : 'commit';
            // An argument with that name resolves nothing.
            const args = what === 'named' ? { resolves: rows[0]!.id } : { text: '"resolves":"x"' };
            const place = { trajectory_id, seq: rows.length, parent: rows.at(-1)!.id };
            const action = { name: what === 'halt' ? 'assize.halt' : 'act', args };
            const row = entryRow({
              kind,
              ...place,
              action,
              ...(resolves && { resolves }),
            } as never);
            if (kind === 'pending_approval') open.push(row.id);
            rows.push(row);
          }
          await store.commit({ entries: rows, blobs: [] });
          if (open.length > 0 || life.includes('halt')) expected.push(trajectory_id);
          // A store may remember the entries that it has read.
          expect(await store.trajectoriesToReview!()).toEqual(expected);
        }
        expect(await store.trajectoriesToReview!()).toEqual(expected);
        await store.close();
      },
    );
    await fc.assert(run, { numRuns: cases(30) });
  });
});
