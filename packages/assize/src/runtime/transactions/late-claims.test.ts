import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import type { Transaction } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// Calls after the end of a transaction or of the runtime change nothing, and leave nothing behind.

const ALL = { writ: writFor('alice'), writes: ['test:**'] };
const count = (args: string) => ({ action: 'count', role: 'counter', args });

async function stage() {
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
  const assize = runtimeOver(new MemoryStore(), [tally], {
    tools: [toolFor(outside, 'reversible', 'buffered')],
  });
  return { assize, trajectory: await assize.create(tally, { trajectoryId: 't' }) };
}

test('a proposal after the body returned is refused; the earlier one commits', async () => {
  const { assize, trajectory } = await stage();
  const { promise: older, resolve: goOn } = Promise.withResolvers<void>();
  const first = trajectory.transaction(ALL, async (tx) => {
    await older;
    tx.propose(count('first'));
  });
  await nextTurn();
  let kept: Transaction | undefined;
  const second = trajectory.transaction(ALL, async (tx) => {
    kept = tx;
    // The call is buffered, and waits at the gate for the first transaction.
    await tx.call('reversible.buffered', { what: 'a' });
    tx.propose(count('second'));
  });
  while (kept === undefined) await nextTurn();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(() => kept!.propose(count('smuggled'))).toThrow(
    expect.objectContaining({ reason: 'transaction_over' }),
  );
  goOn();
  await first;
  const { ruling } = await second;
  expect(ruling).toMatchObject({ ruling: 'committed' });
  expect(JSON.stringify(ruling)).toContain('second');
  expect(JSON.stringify(ruling)).not.toContain('smuggled');
  await assize.close();
});

test('a transaction after close leaves no listener on the caller’s signal', async () => {
  const { assize, trajectory } = await stage();
  await assize.close();
  const { signal } = new AbortController();
  for (let i = 0; i < 3; i++) {
    const late = trajectory.transaction({ ...ALL, signal }, (tx) => tx.propose(count('late')));
    await expect(late).rejects.toMatchObject({ code: 'closed' });
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
