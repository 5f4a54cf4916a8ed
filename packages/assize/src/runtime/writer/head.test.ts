import { expect, test } from 'vitest';
import type { Hash } from '#ledger';
import { deskOf, FaultyStore } from '../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

// An entry that a head names can be continued from, also while it is in flight to the store.

const desk = deskOf();
const worker = writFor('agent');

/** Three entries in flight to the store, and the calls that let them through. */
async function underWay() {
  const store = new FaultyStore();
  const assize = runtimeOver(store, [desk]);
  const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [worker] });
  const gate = Promise.withResolvers<void>();
  store.before = ({ entries: [row] }) => (row?.trajectory_id === 't' ? gate.promise : undefined);
  const heads: Hash[] = [];
  const rulings: Promise<{ readonly ruling: string }>[] = [];
  for (let n = 1; n <= 3; n++) {
    const before = trajectory.head;
    rulings.push(trajectory.propose(intent('add', { by: 1 }, worker)));
    for (let tick = 0; tick < 100 && trajectory.head === before; tick++) await Promise.resolve();
    heads.push(trajectory.head);
  }
  expect(new Set(heads).size).toBe(3);
  return { assize, trajectory, heads, rulings: Promise.all(rulings), arrive: () => gate.resolve() };
}

test('each head is branched from and read at as soon as it is there', async () => {
  const { assize, trajectory, heads, rulings, arrive } = await underWay();
  const went = Promise.all(
    heads.map(async (head, n) => {
      const reading = trajectory.sliceAt(head, 'worker');
      const branch = await assize.branch('t', head, { trajectoryId: `b${n}`, note: 'n' });
      return [branch.state(), await reading];
    }),
  );
  arrive();
  const counts = (await went).map((states) => states.map((state) => (state as { n: number }).n));
  expect(counts).toEqual([1, 2, 3].map((n) => [n, n]));
  expect((await rulings).map(({ ruling }) => ruling)).toEqual(Array(3).fill('committed'));
});

test('branching from an unknown entry is refused while commits are in flight', async () => {
  const { assize, rulings, arrive } = await underWay();
  const branched = assize.branch('t', 'f'.repeat(64), { note: 'n' });
  arrive();
  await expect(branched).rejects.toMatchObject({ code: 'not_found' });
  await rulings;
});

test('a durable entry can be read and branched while a later commit is delayed', async () => {
  const store = new FaultyStore();
  const assize = runtimeOver(store, [desk]);
  const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [worker] });
  await trajectory.propose(intent('add', { by: 1 }, worker));
  const durable = trajectory.head;
  const gate = Promise.withResolvers<void>();
  store.before = ({ entries: [row] }) => (row?.trajectory_id === 't' ? gate.promise : undefined);
  const heldUp = trajectory.propose(intent('add', { by: 1 }, worker));
  for (let tick = 0; tick < 100 && trajectory.head === durable; tick++) await Promise.resolve();
  expect(trajectory.head).not.toBe(durable);
  expect(await trajectory.sliceAt(durable, 'worker')).toMatchObject({ n: 1 });
  const branch = await assize.branch('t', durable, { note: 'n' });
  expect(branch.state()).toMatchObject({ n: 1 });
  gate.resolve();
  expect(await heldUp).toMatchObject({ ruling: 'committed' });
});
