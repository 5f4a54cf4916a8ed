import { expect, test } from 'vitest';
import {
  begun,
  expectSound,
  granted,
  task,
} from '../../../../../tests/support/ledger/delegations.ts';
import { writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { RuntimeError } from '../errors.ts';

const office = writFor('office', { actions: ['assize.revoke'], scopes: ['writ:**'] });

/** A child, and the revocation in its parent that has not reached the child. */
async function notReached() {
  const { store, assize, trajectory } = await begun();
  const child = await trajectory.delegations.delegate(task());
  const open = assize.open.bind(assize);
  assize.open = async () => {
    throw new RuntimeError('closed', 'The runtime is closed. Open another.');
  };
  const { ruling } = await trajectory.writs.revoke({ writ: granted, by: office, reason: 'stolen' });
  assize.open = open;
  if (ruling.ruling !== 'committed') throw new Error(ruling.ruling);
  return { store, child, id: ruling.entry.id };
}

const steps = async (count: number): Promise<void> => {
  for (let step = 0; step < count; step++) await null;
};

test('a revocation and a final answer, in any order of steps, leave no fault', async () => {
  const ends = new Set<number>();
  for (let lead = -80; lead <= 80; lead++) {
    const { store, child, id } = await notReached();
    const answering = steps(Math.max(0, lead)).then(() => child.delegations.answer());
    const adopting = steps(Math.max(0, -lead)).then(() => child.writs.adopt(id));
    const [, adopted] = await Promise.all([answering, adopting]);
    expect([lead, child.length]).toEqual([lead, adopted === undefined ? 2 : 3]);
    ends.add(child.length);
    await expectSound(store);
  }
  expect([...ends].sort()).toEqual([2, 3]);
});
