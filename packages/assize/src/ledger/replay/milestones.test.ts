import { expect, test } from 'vitest';
import {
  ChainWriter,
  commitMembers,
  rootMembers,
} from '../../../../../tests/support/ledger/rows.ts';
import { type EntryRow, type LedgerReader, Replayer } from '../index.ts';

const ENTRIES = 12_000;

function longChain(): readonly EntryRow[] {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0, list: {} }));
  for (let n = 1; n < ENTRIES; n++)
    writer.add(
      'commit',
      commitMembers([
        { op: 'replace', path: '/n', value: n },
        { op: 'add', path: `/list/${n}`, value: n },
      ]),
    );
  return writer.rows;
}

const rows = longChain();

/** A reader of the chain that counts the entries that it gives. */
function counting(): { readonly reader: LedgerReader; read: number } {
  const counted = {
    read: 0,
    reader: {
      entries: async (_: string, { from = 0, limit = 1_000 } = {}) => {
        const found = rows.slice(from, from + limit);
        counted.read += found.length;
        return found;
      },
      resolve: async (id: string) => rows.find((row) => row.id === id),
      blob: async () => undefined,
      erasedBy: async () => undefined,
    },
  };
  return counted;
}

async function stateAt(
  replayer: Replayer,
  seq: number,
): Promise<{ readonly n: number; readonly list: object }> {
  return (await replayer.stateAt('t', rows[seq]!.id)).state as never;
}

test('after one replay the state at any entry is found from a point near it', async () => {
  const counted = counting();
  const replayer = new Replayer(counted.reader);
  for (const seq of [ENTRIES - 1, 9_999, 6_000, ENTRIES - 2, 300]) {
    const before = counted.read;
    const { n, list } = await stateAt(replayer, seq);
    expect([n, Object.keys(list).length]).toEqual([seq, seq]);
    expect(counted.read - before).toBeLessThan(seq === ENTRIES - 1 ? ENTRIES + 1 : 6_000);
  }
});

test('a reader that goes back entry by entry causes few reads', async () => {
  const counted = counting();
  const replayer = new Replayer(counted.reader);
  await stateAt(replayer, ENTRIES - 1);
  const before = counted.read;
  for (let seq = ENTRIES - 2; seq > ENTRIES - 22; seq--)
    expect((await stateAt(replayer, seq)).n).toBe(seq);
  expect((counted.read - before) / 20).toBeLessThan(1_000);
});

test('calls for one point at the same time share one replay', async () => {
  const counted = counting();
  const replayer = new Replayer(counted.reader);
  await Promise.all([stateAt(replayer, ENTRIES - 1), stateAt(replayer, ENTRIES - 1)]);
  expect(counted.read).toBeLessThan(ENTRIES + 1_000);
});

test('nothing is kept after the cached states are evicted', async () => {
  const counted = counting();
  const replayer = new Replayer(counted.reader);
  await stateAt(replayer, ENTRIES - 1);
  replayer.forget();
  const before = counted.read;
  await stateAt(replayer, ENTRIES - 2);
  expect(counted.read - before).toBeGreaterThan(ENTRIES - 3);
});
