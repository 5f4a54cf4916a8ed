/**
 * Limits on the calls and answers of one transaction. With them, each outcome fits into an entry
 * and the transaction ends.
 */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { declareTool, type Tool } from '#effects';
import { abandonedArgs, readRow } from '#ledger';
import type { Transaction } from '#runtime';
import { writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { COUNT, codeOf, stage } from '../../../../../tests/support/tools/transaction-stage.ts';
import { CALLS_MAX } from './body/attempt.ts';

const writ = writFor('alice', {
  trajectory: 't',
  budget: { minutes_of_somebody: 1e6, usd_of_the_first_of_january: 1e6 },
});
const THROWN = new Error('it is not to be');

interface Called {
  did: number;
  undone: number;
}

function bookings(called: Called): Tool {
  return declareTool({
    name: 'agency.journeys.bookings_of_several_days.put_down_for_a_customer',
    input: z.strictObject({ n: z.number() }),
    class: { reversibility: 'with_cost', delivery: 'externalised', sink: 'keyed' },
    writes: ['test:{n}'],
    undoCost: () => ({ usd_of_the_first_of_january: 1, minutes_of_somebody: 10 }),
    parallel: true,
    execute: () => {
      called.did++;
    },
    compensate: () => {
      called.undone++;
      return { undone: 'all' };
    },
  });
}

const note = declareTool({
  name: 'note',
  input: z.strictObject({ n: z.number() }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['test:{n}'],
  execute: () => null,
  compensate: () => ({ undone: 'all' }),
});

const look = declareTool({
  name: 'look',
  input: z.strictObject({ length: z.number() }),
  class: 'read',
  reads: ['test:read'],
  execute: ({ length }) => 'x'.repeat(length),
});

async function staged() {
  const called = { did: 0, undone: 0 };
  const booking = bookings(called);
  const { assize, trajectory, store } = await stage({ tools: [booking, note, look] });
  onTestFinished(() => assize.close());
  const run = (body: (tx: Transaction) => Promise<unknown>) =>
    trajectory.transaction(
      { writ, reads: ['test:**'], writes: ['test:**'], retries: 0 },
      async (tx) => {
        await body(tx);
        tx.propose(COUNT);
      },
    );
  return { called, store, run, book: (tx: Transaction, n: number) => tx.call(booking.name, { n }) };
}

test('a body of endless calls is refused, its effects compensated and recorded', async () => {
  const { called, store, run, book } = await staged();
  const said = new Set<unknown>();
  const made = run(async (tx) => {
    for (let n = 0; n < CALLS_MAX + 50; n++) said.add(await codeOf(book(tx, n)));
    throw THROWN;
  });
  await expect(made).rejects.toBe(THROWN);
  expect([...said]).toEqual([null, 'too_much']);
  expect(called).toEqual({ did: CALLS_MAX, undone: CALLS_MAX });
  expect(await store.openEffects()).toEqual([]);
  const rows = await store.entries('t');
  expect(abandonedArgs(readRow(rows.at(-1)!).payload)?.effects.length).toBe(CALLS_MAX);
});

test('buffered effects count in every branch, and reads do not', async () => {
  const { store, run, book } = await staged();
  const made = run(async (tx) => {
    const half = async (branch: Transaction): Promise<void> => {
      for (let n = 0; n < CALLS_MAX / 2; n++) await branch.call('note', { n });
    };
    await tx.speculate([half, half], () => 1);
    expect(await tx.call('look', { length: 1 })).toBe('x');
    expect(await codeOf(tx.call('note', { n: 0 }))).toBe('too_much');
    expect(await codeOf(book(tx, 0))).toBe('too_much');
  });
  expect((await made).ruling.ruling).toBe('committed');
  expect((await store.listEffects({ limit: 1 })).length).toBe(1);
});

test('answers too large for an entry abort the body; the error states a remedy', async () => {
  const { called, store, run, book } = await staged();
  const made = run(async (tx) => {
    await book(tx, 1);
    for (let n = 0; n < 70; n++) await tx.call('look', { length: 16_000 });
  });
  await expect(made).rejects.toMatchObject({
    reason: 'too_much',
    message: expect.stringContaining('Use several transactions'),
  });
  expect(called).toEqual({ did: 1, undone: 1 });
  expect(await store.openEffects()).toEqual([]);
});
