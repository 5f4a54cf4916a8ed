import { addMicros, type Instant, instantFromMillis } from 'assize/internal/canon';
import type { EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, chainOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED } from './answers.ts';

const HOUR_MS = 60 * 60 * 1_000;
const YEARS_AHEAD: Instant = '2999-01-01T00:00:00.000000Z';

/** The clock of the host that made a batch, against the clock of the store. */
export function clockLaws({ law, openNew }: Bench<LedgerStore>): void {
  law('a host whose clock is too far ahead writes nothing', async () => {
    const store = await openNew();
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    const [before, after] = [
      addMicros(here(), -HOUR_MS * 1_000),
      addMicros(here(), HOUR_MS * 1_000),
    ];
    const ahead = { ...batchOf(first), clock: { at: YEARS_AHEAD, maxAheadMs: HOUR_MS } };
    const refused = await store.commit(ahead);
    expect(refused.status).toBe('ahead');
    const { now } = refused as { now: Instant };
    expect(now > before && now < after).toBe(true);
    expect(await store.resolve(first.id)).toBeUndefined();
    expect(await store.commit(batchOf(first))).toEqual(COMMITTED);
    expect(
      await store.commit({ ...batchOf(second), clock: { at: after, maxAheadMs: 3 * HOUR_MS } }),
    ).toEqual(COMMITTED);
  });

  law('a refused clock keeps no batch of other hosts out of a group', async () => {
    const store = await openNew();
    const rows = Array.from({ length: 20 }, (_, n) => entryAfter(undefined, `t${n}`));
    const results = await Promise.all(
      rows.map((row, n) =>
        store.commit({
          ...batchOf(row),
          clock: { at: n % 2 === 0 ? here() : YEARS_AHEAD, maxAheadMs: HOUR_MS },
        }),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(
      rows.map((_, n) => (n % 2 === 0 ? 'committed' : 'ahead')),
    );
    for (const [n, row] of rows.entries())
      expect(await store.resolve(row.id)).toEqual(n % 2 === 0 ? row : undefined);
  });

  law('a batch that builds on a refused one is a conflict', async () => {
    const store = await openNew();
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    const results = await Promise.all([
      store.commit({ ...batchOf(first), clock: { at: YEARS_AHEAD, maxAheadMs: 0 } }),
      store.commit(batchOf(second)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['ahead', 'conflict']);
    expect(await store.trajectories()).toEqual([]);
  });
}

/** The clock of this machine. A server's clock may differ from it. */
function here(): Instant {
  return instantFromMillis(Date.now());
}
