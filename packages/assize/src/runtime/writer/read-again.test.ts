import { setImmediate } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { beforeEach, expect, test } from 'vitest';
import type { EntryRow } from '#ledger';
import type { Ruling, Trajectory } from '#runtime';
import { desk, FaultyStore } from '../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

// An answer without an entry, while another caller reads the memory again.

const worker = writFor('agent');
const [lost, stolen] = [writFor('lost'), writFor('stolen')];
const office = writFor('security', { actions: ['assize.revoke'], scopes: ['writ:**'] });
const doctor = { principal: 'dr-who', method: 'desk' };
const ask = () => intent('ask', { amount: 1 }, worker);

let store: SlowHead;
let trajectory: Trajectory;
let other: Trajectory;

/** A store that answers the next question for the head when it is released. */
class SlowHead extends FaultyStore {
  #next: { readonly asked: () => void; readonly released: Promise<void> } | undefined;
  release: () => void = () => undefined;

  /** Settles when the head was asked for. */
  hold(): Promise<void> {
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#next = { asked: asked.resolve, released: released.promise };
    this.release = released.resolve;
    return asked.promise;
  }

  override async head(trajectoryId: string): Promise<EntryRow | undefined> {
    const held = this.#next;
    this.#next = undefined;
    held?.asked();
    await held?.released;
    return super.head(trajectoryId);
  }
}

beforeEach(async () => {
  const below = new MemoryStore();
  store = new SlowHead(below);
  trajectory = (await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [worker, lost, stolen, office],
  })) as never;
  other = (await runtimeOver(below, [desk]).open('t')) as never;
});

/** The answer of a call, during which another caller has read the entries of the other process. */
async function meanwhile<T>(begin: () => Promise<T>): Promise<T> {
  const held = store.hold();
  const answer = begin();
  await held;
  await trajectory.reload();
  store.release();
  return answer;
}

function pendingOf(ruling: Ruling): string {
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  return ruling.pending;
}

test('an approval finds a proposal that another process has submitted', async () => {
  const pending = pendingOf(await other.propose(ask()));
  const approved = await meanwhile(() => trajectory.approvals.approve(pending, doctor));
  expect(approved).toMatchObject({ ruling: 'committed' });
});

test('a proposal is not frozen by what another process has decided', async () => {
  const pending = pendingOf(await trajectory.propose(ask()));
  await other.approvals.reject(pending, { ...doctor, reason: 'no' });
  const proposed = await meanwhile(() => trajectory.propose(intent('add', { by: 1 }, worker)));
  expect(proposed).toMatchObject({ ruling: 'committed' });
});

test('a proposal is not frozen while own entries on old memory are in flight', async () => {
  const pending = pendingOf(await trajectory.propose(ask()));
  await other.approvals.reject(pending, { ...doctor, reason: 'no' });
  const held = store.hold();
  const proposed = trajectory.propose(intent('add', { by: 1 }, worker));
  await held;
  const commits = Promise.withResolvers<void>();
  store.before = () => commits.promise;
  const revoked = [lost, stolen].map((writ) =>
    trajectory.writs.revoke({ writ, by: office, reason: 'r' }),
  );
  await setImmediate();
  store.release();
  await setImmediate();
  commits.resolve();
  expect(await proposed).toMatchObject({ ruling: 'committed' });
  for (const { ruling } of await Promise.all(revoked))
    expect(ruling).toMatchObject({ ruling: 'committed' });
});

test('a repeated key gets what another process has decided', async () => {
  const keyed = { ...ask(), idempotencyKey: 'k' };
  const pending = pendingOf(await trajectory.propose(keyed));
  await other.approvals.reject(pending, { ...doctor, reason: 'no' });
  const repeated = await meanwhile(() => trajectory.propose(keyed));
  expect(repeated).toMatchObject({ ruling: 'rejected', reason: 'counselor_rejected' });
});
