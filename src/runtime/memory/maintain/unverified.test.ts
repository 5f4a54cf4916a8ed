/** What honest entries have come to is never taken for a version that was set forward, however many of them can't be read. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addMicros } from '#canon';
import type { FactWrite, LedgerStore } from '#ledger';
import { cases } from '../../../../tests/support/cases.ts';
import { START } from '../../../../tests/support/runtime.ts';
import { UnreadChanges } from './unverified.ts';

const NAMES = 'f'.repeat(64);
const timeOf = (version: number): string => addMicros(START, version);

/** How far entries were read, and of each change behind that whether its entry can be. */
const history = fc.record({
  read: fc.nat(3),
  legible: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
  /** Changes of its source that a branch's partition begins with. */
  inherited: fc.option(fc.nat(3), { nil: undefined }),
});

test('what entries made is explained, and more than they can have made is not', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 1, max: 3 }), async ({ read, legible, inherited }, ahead) => {
      const from = (inherited ?? 0) + 1;
      const last = from + read + legible.length - 1;
      const unread = legible.map((isLegible, i) => ({ isLegible, version: from + read + i }));
      const writes = unread
        .filter(({ isLegible }) => isLegible)
        .map(({ version }) => ({
          names: { hash: NAMES, bytes: 1 },
          version,
          system_time: timeOf(version),
          ...(inherited !== undefined && version === from && { inherit: { until: START, rows: [] } }),
        }));
      const damaged = unread.length - writes.length;
      const rows = Array.from({ length: damaged }, (_, seq) => ({ trajectory_id: 't', seq, id: 'x', payload: 'x' }));
      const store = { entries: async () => rows } as unknown as LedgerStore;
      const changes = await UnreadChanges.of(
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
      expect(changes.explain(readTo, { version: last, latest: timeOf(last), ...since })).toBe(true);
      // Of one that nobody has seen begin it is not known what it began with.
      const isKnown = inherited === undefined || read > 0 || legible[0] === true;
      const later = { latest: timeOf(last + ahead), ...since };
      if (isKnown) expect(changes.explain(readTo, { version: last + damaged + 1, ...later })).toBe(false);
      if (legible.at(-1))
        expect(changes.explain(readTo, { version: last + ahead, latest: timeOf(last), ...since })).toBe(false);
    }),
    { numRuns: cases(300) },
  );
});
