import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { sqlitePlaces } from '../../../../../tests/support/ledger/stores.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';

// An ended transaction is garbage immediately: minor collections free all of it, and no older
// object keeps it until a major one. Some structures would keep whole transactions until then: a
// list with removed items that refer to the next one, or a long-lived Map (`TransientMap`).

const newPlace = sqlitePlaces();

const CALLERS = 4;
const COUNT = 2_000;

type Collect = (options: { type: 'minor' | 'major'; execution: 'sync' }) => void;
let collect: Collect;
beforeAll(() => {
  setFlagsFromString('--expose-gc');
  collect = runInNewContext('gc') as Collect;
});

/** Bytes per call that only a major collection frees. */
async function keptByMinor(act: (n: number) => Promise<unknown>): Promise<number> {
  let n = 0;
  const run = async (count: number): Promise<void> => {
    const until = n + count;
    const caller = async (): Promise<void> => {
      while (n < until) await act(n++);
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  };
  await run(COUNT);
  const kept: number[] = [];
  // Other allocations of the JavaScript engine sometimes count too.
  for (let round = 0; round < 3; round++) {
    // All surviving objects are old from now on.
    collect({ type: 'major', execution: 'sync' });
    await run(COUNT);
    for (let i = 0; i < 4; i++) collect({ type: 'minor', execution: 'sync' });
    const { heapUsed } = process.memoryUsage();
    collect({ type: 'major', execution: 'sync' });
    kept.push((heapUsed - process.memoryUsage().heapUsed) / COUNT);
  }
  return Math.min(...kept);
}

const counted = (n: number) => ({ action: 'count', role: 'counter', args: `done ${n % 8}` });

async function stage() {
  const tool = declareTool({
    name: 'act',
    input: z.strictObject({ at: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ({ at }: { at: string }) => [`test:${at}`],
    execute: () => null,
    compensate: () => ({ undone: 'all' as const }),
  });
  const store = await newPlace().open({ durability: 'off' });
  const assize = runtimeOver(store, [tally], { tools: [tool] });
  return assize.create(tally, { trajectoryId: 't' });
}

test('of a proposal nothing is left', async () => {
  const trajectory = await stage();
  const writ = writFor('alice');
  expect(await keptByMinor((n) => trajectory.propose({ ...counted(n), writ }))).toBeLessThan(250);
});

// Some transactions wait for up to five milliseconds until they are settled.
test('of a transaction nothing is left', async () => {
  const trajectory = await stage();
  const writ = writFor('alice');
  const kept = await keptByMinor((n) =>
    trajectory.transaction({ writ, writes: [`test:${n}`] }, async (tx) => {
      await tx.call('act', { at: `${n}` });
      tx.propose(counted(n));
    }),
  );
  expect(kept).toBeLessThan(1_850);
});
