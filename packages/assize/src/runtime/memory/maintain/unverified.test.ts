/**
 * The result of honest entries is never taken for a tampered version, however many of them cannot
 * be read.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addMicros } from '#canon';
import type { FactWrite, LedgerStore } from '#ledger';
import { cases } from '../../../../../../tests/support/cases.ts';
import { START } from '../../../../../../tests/support/ledger/runtime.ts';
import { UnverifiedChanges } from './unverified.ts';

const NAMES = 'f'.repeat(64);
const timeOf = (version: number): string => addMicros(START, version);

/** The last read entry, and for each later change whether its entry can be read. */
const history = fc.record({
  read: fc.nat(3),
  legible: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
  /** Changes of its source that a branch's partition starts with. */
  inherited: fc.option(fc.nat(3), { nil: undefined }),
});

test('facts from entries are explained; more facts than entries allow are not', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.integer({ min: 1, max: 3 }),
      async ({ read, legible, inherited }, ahead) => {
        const from = (inherited ?? 0) + 1;
        const last = from + read + legible.length - 1;
        const unread = legible.map((isLegible, i) => ({ isLegible, version: from + read + i }));
        const writes = unread
          .filter(({ isLegible }) => isLegible)
          .map(({ version }) => ({
            names: { hash: NAMES, bytes: 1 },
            version,
            system_time: timeOf(version),
            ...(inherited !== undefined &&
              version === from && { inherit: { until: START, rows: [] } }),
          }));
        const damaged = unread.length - writes.length;
        const rows = Array.from({ length: damaged }, (_, seq) => ({
          trajectory_id: 't',
          seq,
          id: 'x',
          payload: 'x',
        }));
        const store = { entries: async () => rows } as unknown as LedgerStore;
        const changes = await UnverifiedChanges.of(
          store,
          [{ trajectory_id: 't', entries: damaged, head: 'x' }],
          new Map([['t', 0]]),
          writes as unknown as FactWrite[],
        );
        const readTo =
          read === 0
            ? { names: NAMES, version: 0, latest: '0000' }
            : { names: NAMES, version: from + read - 1, latest: timeOf(from + read - 1) };
        const since = inherited === undefined ? {} : { since: START };
        expect(changes.explain(readTo, { version: last, latest: timeOf(last), ...since })).toBe(
          true,
        );
        // Without the first change of a partition, its start is unknown.
        const isKnown = inherited === undefined || read > 0 || legible[0] === true;
        const later = { latest: timeOf(last + ahead), ...since };
        if (isKnown)
          expect(changes.explain(readTo, { version: last + damaged + 1, ...later })).toBe(false);
        if (legible.at(-1))
          expect(
            changes.explain(readTo, { version: last + ahead, latest: timeOf(last), ...since }),
          ).toBe(false);
      },
    ),
    { numRuns: cases(300) },
  );
});
