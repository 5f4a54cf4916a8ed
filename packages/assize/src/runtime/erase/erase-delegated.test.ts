import { exportLines } from '@assize/audit/internal/export';
import { deepReplayStore } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { type Domain, defineDomain, isErased, pass, reject } from '#kernel';
import { type Hash, integrateLog } from '#ledger';
import { ward } from '../../../../../tests/support/clinic/ward.ts';
import { lead } from '../../../../../tests/support/ledger/delegations.ts';
import { payloads } from '../../../../../tests/support/ledger/desk.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { Assize } from '../assize.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';

const granted = writFor(lead.publicKey, { trajectory: 't' });
const officer = writFor('officer');

/** A domain in which every patient must have a name. */
const strict = defineDomain<any, any>({
  ...ward.declared,
  name: 'strict',
  invariants: ({ each }: any) => [
    each('NAMED', '/patients/*', {}, ({ name }: any) =>
      isErased(name) ? reject('there is no name') : pass,
    ),
  ],
}) as unknown as Domain;

const INITIAL = {
  patients: { p1: { name: 'David', visits: 0, notes: [{ text: 'David fell', urgent: false }] } },
  flagged: 0,
  agreed: 0,
};

const over = (store: MemoryStore): Assize => runtimeOver(store, [ward, strict]);

const act = (
  trajectory: Trajectory,
  action: string,
  id: string,
  args: object,
  writ = officer,
): Promise<Ruling> =>
  trajectory.propose({ action, role: { name: 'nurse', params: { id } }, args, writ });

function expectGone(trajectory: Trajectory): void {
  const { p1 } = (trajectory.state() as typeof INITIAL).patients;
  expect([p1.name, ...p1.notes].map(isErased)).toEqual([true, true]);
}

/** Two values are erased; everything verifies, and a deep replay shows no difference. */
async function expectSound(store: MemoryStore): Promise<void> {
  await integrateLog(store);
  for await (const line of exportLines(store)) expect(line).not.toContain('David');
  const reports = await verifyStore(store);
  expect(reports.map(({ valid }) => valid)).not.toContain(false);
  expect(reports).toContainEqual(expect.objectContaining({ trajectory_id: 't', erased: 2 }));
  for (const report of await deepReplayStore(store, { domains: [ward, strict] }))
    expect(report).toMatchObject({ same: true, preserved: true, differences: [], broken: [] });
}

describe.each([
  ['take it', ward],
  ['do not pass without it', strict],
])('a value erased from the initial state of a child with rules that %s', (_, domain) => {
  /** A parent, the child that received a patient, and the start entry. */
  async function delegated() {
    const store = new MemoryStore();
    const parent = await over(store).create(ward, { trajectoryId: 't', writs: [granted, officer] });
    const { privateKey } = lead;
    const task = {
      task: 'x',
      writ: granted,
      subject: 'helper',
      childTrajectoryId: 'c',
      initial: INITIAL,
      domain,
    };
    const child = await parent.delegations.delegate({ ...task, privateKey });
    return { store, parent, child, start: parent.delegations.open()[0]!.id };
  }

  /** Opened again, the child lacks the value, rules on the rest, answers, and is concluded. */
  async function expectUsable(store: MemoryStore): Promise<void> {
    await expectSound(store);
    const child = await over(store).open('c');
    expectGone(child);
    const { writ } = child.delegations.origin!;
    expect((await act(child, 'correct', 'p1', { index: 0, urgent: true }, writ)).ruling).toBe(
      'rejected',
    );
    expect((await act(child, 'dismiss', 'p1', {}, writ)).ruling).toBe('committed');
    expect((await act(child, 'admit', 'p2', { name: 'Maria' }, writ)).ruling).toBe('committed');
    await child.delegations.answer({ finalAnswer: 'done' });
    expect((await over(store).open('t')).delegations.open()).toEqual([]);
    expect((await payloads(store, 't')).at(-1)).toMatchObject({
      kind: 'delegation',
      final_answer: 'done',
    });
    await expectSound(store);
  }

  test('by its parent disappears from the open child, and the child continues', async () => {
    const { store, parent, child, start } = await delegated();
    const ruling = await parent.erase({ entries: [start], reason: 'x', writ: officer });
    expect(ruling.ruling).toBe('committed');
    expectGone(child);
    await expectUsable(store);
  });

  test('by its parent does not keep that from concluding', async () => {
    const { store, parent, start } = await delegated();
    await parent.erase({ entries: [start], reason: 'x', writ: officer });
    const row = await parent.delegations.conclude(start, { finalAnswer: 'done' });
    expect(await parent.delegations.conclude(start)).toEqual(row);
    await expectSound(store);
  });

  test('by its parent stays away when its root is lost and made again', async () => {
    const { store, parent, start } = await delegated();
    await parent.erase({ entries: [start], reason: 'x', writ: officer });
    const copy = new MemoryStore();
    const by = parent.head;
    const { values } = ((await payloads(store, 't')).at(-1) as any).action.args;
    const erased = values.map(({ hash }: { hash: Hash }) => ({ hash, by }));
    await copy.commit({ entries: await store.entries('t'), blobs: [], erased });
    await over(copy).open('t');
    expect(await copy.entries('c')).toEqual(await store.entries('c'));
    await expectUsable(copy);
  });
});

test('a child’s erasure of its initial state reaches its concluding parent', async () => {
  const store = new MemoryStore();
  const parent = await over(store).create(ward, { trajectoryId: 't', writs: [granted, officer] });
  const task = {
    task: 'x',
    writ: granted,
    subject: 'helper',
    childTrajectoryId: 'c',
    initial: INITIAL,
  };
  const child = await parent.delegations.delegate({ ...task, privateKey: lead.privateKey });
  expect((await child.erase({ at: ['/patients/p1'], reason: 'x', writ: officer })).ruling).toBe(
    'committed',
  );
  expectGone(child);
  await expectSound(store);
  const again = await over(store).open('t');
  await again.delegations.conclude(again.delegations.open()[0]!.id, { finalAnswer: 'done' });
  await expectSound(store);
});

test('a branch continues after its source erased a value, also if a rule fails', async () => {
  const store = new MemoryStore();
  const assize = over(store);
  const source = await assize.create(strict, {
    trajectoryId: 't',
    writs: [officer],
    initial: INITIAL,
  });
  const branch = await assize.branch('t', source.head, { trajectoryId: 'b', note: 'x' });
  await act(source, 'dismiss', 'p1', {});
  expect((await source.erase({ at: ['/patients/p1'], reason: 'x', writ: officer })).ruling).toBe(
    'committed',
  );
  expectGone(branch);
  await expectSound(store);
  const again = await over(store).open('b');
  expectGone(again);
  expect((await act(again, 'admit', 'p2', { name: 'Maria' })).ruling).toBe('committed');
  expect((await act(again, 'shift', 'p1', {})).ruling).toBe('rejected');
  expect((await act(again, 'dismiss', 'p1', {})).ruling).toBe('committed');
  await expectSound(store);
});

test('on replay a former state need not pass rules without its erased value', async () => {
  const store = new MemoryStore();
  const trajectory = await over(store).create(strict, { trajectoryId: 't', writs: [officer] });
  await act(trajectory, 'admit', 'p1', { name: 'David' });
  await act(trajectory, 'dismiss', 'p1', {});
  expect(
    (await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: officer })).ruling,
  ).toBe('committed');
  await expectSound(store);
});
