import { declareTool, type Tool } from 'assize/internal/effects';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ModeName, modeOf } from './modes.ts';
import { openStage } from './stage.ts';

/** An external number. Callers read it, and set it to a value derived from it. */
function counter(): { tools: Tool[]; value: () => number } {
  let value = 0;
  const read = declareTool({
    name: 'counter.read',
    input: z.strictObject({}),
    class: 'read',
    reads: ['counter:one'],
    execute: () => value,
  });
  const set = declareTool({
    name: 'counter.set',
    input: z.strictObject({ to: z.number() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['counter:one'],
    execute: ({ to }) => {
      value = to;
      return null;
    },
    uncompensated: 'the next one replaces it',
  });
  return { tools: [read, set], value: () => value };
}

async function counted(mode: ModeName, agents: number): Promise<number> {
  const { tools, value } = counter();
  const stage = await openStage({ mode: modeOf(mode), tools });
  try {
    await Promise.all(
      Array.from({ length: agents }, () =>
        stage.transact({ reads: ['counter:one'], writes: ['counter:one'] }, async (tx) => {
          const seen = (await tx.call('counter.read', {})) as number;
          await tx.call('counter.set', { to: seen + 1 });
        }),
      ),
    );
  } finally {
    await stage.close();
  }
  return value();
}

describe('the mode decides whether there is a frontier', () => {
  test.each([2, 8])(
    'with a frontier %d agents that count together lose nothing',
    async (agents) => {
      expect(await counted('Tx-Full', agents)).toBe(agents);
    },
  );

  test.each(['No-Frontier', 'Tx-NoFrontier+Retry'] as const)('%s: they do', async (mode) => {
    expect(await counted(mode, 8)).toBeLessThan(8);
  });
});

test('a call without an answer in three attempts needs a human decision', async () => {
  const { tools } = counter();
  let calls = 0;
  const failing = declareTool({
    ...tools[1]!.spec,
    name: 'counter.fail',
    execute: () => {
      calls++;
      throw new Error('nobody answers');
    },
  });
  const stage = await openStage({ mode: modeOf('Tx-Full'), tools: [failing] });
  const { effects } = await stage.transact({ writes: ['counter:one'] }, (tx) =>
    tx.call('counter.fail', { to: 1 }),
  );
  expect([calls, effects]).toEqual([3, 'needs_human']);
  await stage.close();
});
