import { setImmediate as turn } from 'node:timers/promises';
import { seededNumbers } from '@assize/testing/internal/faults.ts';
import { MemoryStore } from '@assize/testing/memory';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { cases } from '../../../../../tests/support/cases.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';

// Optimistic transactions on a few contended cells: none is stale forever, and no update is lost.

const AGENTS = 16;
const CELLS = 6;
const OPERATIONS = cases(12);
const RETRIES = 3;
const SEED = Number(process.env['ASSIZE_SEED'] ?? 20261127);

/** A cell by Zipf's law with exponent 2: the first has almost two thirds of the operations. */
function zipf(next: (below: number) => number): number {
  const weights = Array.from({ length: CELLS }, (_, n) => 1 / (n + 1) ** 2);
  let left = (next(2 ** 30) / 2 ** 30) * weights.reduce((sum, each) => sum + each, 0);
  for (const [n, weight] of weights.entries()) {
    if (left < weight) return n;
    left -= weight;
  }
  return 0;
}

const OPTIMISTIC = [{ reading: 'optimistic' }, { epoch: 'late' }] as const;

/** Cells that transactions read and count up. */
async function stage() {
  const cells = new Map<string, number>();
  const cell = z.strictObject({ cell: z.string() });
  const get = declareTool({
    name: 'cell.get',
    input: cell,
    class: 'read',
    reads: ['cell:{cell}'],
    execute: ({ cell }) => cells.get(cell) ?? 0,
  });
  const set = declareTool({
    name: 'cell.set',
    input: cell.extend({ to: z.number() }),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['cell:{cell}'],
    execute: ({ cell, to }) => void cells.set(cell, to),
  });
  const assize = runtimeOver(new MemoryStore(), [tally], { tools: [get, set] });
  onTestFinished(() => assize.close());
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  /** Counts a cell up, with a pause between the read and the write. */
  const count = (name: string, options: object, pause: () => Promise<unknown>): Promise<string> =>
    trajectory
      .transaction(
        {
          writ: writFor('alice'),
          reads: [`cell:${name}`],
          writes: [`cell:${name}`],
          retries: RETRIES,
          ...options,
        },
        async (tx) => {
          const value = (await tx.call('cell.get', { cell: name })) as number;
          await pause();
          await tx.call('cell.set', { cell: name, to: value + 1 });
          tx.propose({ action: 'count', role: 'counter', args: 'x' });
        },
      )
      .then(
        ({ effects }) => effects,
        ({ code }: { code: string }) => code,
      );
  return { cells, count };
}

const turns = async (many: number): Promise<void> => {
  for (let n = 0; n < many; n++) await turn();
};

test('a transaction that others always outrun ends in turn', async () => {
  const { cells, count } = await stage();
  const others: Promise<string>[] = [];
  const ended = await count('x', { epoch: 'late' }, async () => {
    const other = count('x', {}, async () => undefined);
    others.push(other);
    // In turn, the younger transaction waits for this one.
    await Promise.race([other, turns(100)]);
  });
  expect([ended, ...(await Promise.all(others))]).toEqual(Array(5).fill('settled'));
  expect(cells.get('x')).toBe(5);
});

test.each(OPTIMISTIC)('none of many agents stays stale: %o', async (options) => {
  const { cells, count } = await stage();
  const next = seededNumbers(SEED);
  const agent = async (): Promise<string[]> => {
    const all: string[] = [];
    for (let n = 0; n < OPERATIONS; n++)
      all.push(await count(`c${zipf(next)}`, options, () => turns(next(4))));
    return all;
  };
  const all = (await Promise.all(Array.from({ length: AGENTS }, agent))).flat();
  expect([...new Set(all)]).toEqual(['settled']);
  expect([...cells.values()].reduce((sum, each) => sum + each, 0)).toBe(AGENTS * OPERATIONS);
});
