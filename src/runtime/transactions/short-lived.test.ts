import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { tally } from '../../../tests/support/effects-stage.ts';
import { runtimeOver, writFor } from '../../../tests/support/runtime.ts';
import { sqlitePlaces } from '../../../tests/support/stores.ts';

// What is over is garbage at once: the frequent minor collections take all of it, and nothing that is older holds on to it until a major
// one. A list whose dead members refer to the next one, or a Map that lives long (`ChurnMap`), keeps whole transactions until then.

const newPlace = sqlitePlaces();

const CALLERS = 4;
const COUNT = 2_000;

type Collect = (options: { type: 'minor' | 'major'; execution: 'sync' }) => void;
let collect: Collect;
beforeAll(() => {
  setFlagsFromString('--expose-gc');
  collect = runInNewContext('gc') as Collect;
});

/** Bytes for one that only a major collection frees. */
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
  // What else the engine does meanwhile counts too, now and then.
  for (let round = 0; round < 3; round++) {
    // All that lives on is old from now on.
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

// Some wait for up to five milliseconds until the ledger is told how they ended.
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
