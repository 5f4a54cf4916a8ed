import type { EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect, test } from 'vitest';
import { entryPage } from './entry-pages.ts';

const ENTRIES = 45_000;

function rowAt(seq: number): EntryRow {
  return {
    id: String(seq).padStart(64, '0'),
    trajectory_id: 't',
    parent: null,
    seq,
    kind: 'commit',
    payload: '',
  };
}

/** A store of damaged entries. Their summaries say that they are unreadable. */
const store = {
  entries: async (_: string, { from, limit }: { from: number; limit: number }) =>
    Array.from({ length: Math.max(0, Math.min(limit, ENTRIES - from)) }, (_, n) => rowAt(from + n)),
} as unknown as LedgerStore;

test('a search without a match ends, and the next page goes on', async () => {
  const head = rowAt(ENTRIES - 1);
  const pages: (number | undefined)[] = [];
  for (let before: number | undefined = ENTRIES; before !== undefined; ) {
    const { entries, next } = await entryPage(store, head, {
      from: 0,
      before,
      limit: 10,
      text: 'none',
    });
    expect(entries).toEqual([]);
    pages.push(next);
    before = next;
  }
  expect(pages).toEqual([25_000, 5_000, undefined]);
});

test('a search finds an entry by its id', async () => {
  const head = rowAt(ENTRIES - 1);
  const { entries } = await entryPage(store, head, {
    from: 0,
    limit: 10,
    text: `${'0'.repeat(60)}1234`,
  });
  expect(entries.map(({ seq }) => seq)).toEqual([1_234]);
});
