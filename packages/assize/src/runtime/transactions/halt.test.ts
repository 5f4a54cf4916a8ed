import { deepReplay } from '@assize/audit/internal/replay';
import { expect, test } from 'vitest';
import { type Transaction, verifyStore } from '#runtime';
import { writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../../../../../tests/support/tools/check-effect-log.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';
import { orders } from '../../../../../tests/support/tools/orders.ts';
import { COUNT, codeOf, stage } from '../../../../../tests/support/tools/transaction-stage.ts';

const office = writFor('security', {
  actions: ['assize.halt'],
  scopes: ['halt:**'],
  nonce: 'office',
});
const halting = { writ: office, reason: 'stop' };
type Staged = Awaited<ReturnType<typeof stage>>;

async function expectSound({ store, assize }: Staged): Promise<void> {
  await expectEffectLogMatches(store, 't', await assize.recoverEffects());
  for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
  expect(await deepReplay(store, 't', { domains: [tally, orders] })).toMatchObject({ same: true });
}

test('a transaction does not begin on a halted trajectory', async () => {
  const staged = await stage();
  const { trajectory, sink, all, store } = staged;
  await trajectory.halt(halting);
  const before = await store.trajectories();
  const body = async (tx: Transaction) => {
    await tx.call('reversible.externalised', { what: 'a' });
    tx.propose(COUNT);
  };
  for (const options of [all, { ...all, name: 'order-1' }, { ...all, epoch: 'late' as const }])
    expect(await codeOf(trajectory.transaction(options, body))).toBe('halted');
  expect(sink.log).toEqual([]);
  expect(await store.trajectories()).toEqual(before);
  await trajectory.resume(halting);
  expect(await trajectory.transaction({ ...all, name: 'order-1' }, body)).toMatchObject({
    ruling: { ruling: 'committed' },
  });
  await expectSound(staged);
});

test('a halt ends a running body, and its effects are compensated', async () => {
  const staged = await stage();
  const { trajectory, sink, all } = staged;
  const stopped = trajectory.transaction(all, async (tx) => {
    await tx.call('reversible.externalised', { what: 'a' });
    await trajectory.halt(halting);
    await tx.call('reversible.externalised', { what: 'b' });
    tx.propose(COUNT);
  });
  expect(await codeOf(stopped)).toBe('halted');
  expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do a', 'undo a']);
  await expectSound(staged);
});

test('a halt before the commit compensates executed calls, drops planned ones', async () => {
  const staged = await stage();
  const { trajectory, sink, all } = staged;
  const stopped = trajectory.transaction(all, async (tx) => {
    await tx.call('reversible.externalised', { what: 'a' });
    await tx.call('irreversible.buffered', { what: 'letter' });
    tx.propose(COUNT);
    await trajectory.halt(halting);
  });
  expect(await codeOf(stopped)).toBe('halted');
  expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do a', 'undo a']);
  expect(trajectory.state()).toEqual({ done: {} });
  await expectSound(staged);
});

test('calls of a committed transaction end and settle in the halted ledger', async () => {
  const { promise: waits, resolve: release } = Promise.withResolvers<void>();
  let calls = 0;
  const staged: Staged = await stage({
    fault: (kind) => {
      if (kind === 'do' && ++calls === 1) void staged.trajectory.halt(halting).finally(release);
      return 'none';
    },
  });
  const { trajectory, sink, all, assize } = staged;
  const outcome = await trajectory.transaction(all, async (tx) => {
    await tx.call('reversible.buffered', { what: 'a' });
    await tx.call('irreversible.buffered', { what: 'letter' });
    tx.propose(COUNT);
  });
  await waits;
  expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
  expect(sink.log.map(({ what }) => what)).toEqual(['a', 'letter']);
  expect(trajectory.halted).toBeDefined();
  await assize.recoverEffects();
  await expectSound(staged);
});

test('the proposal for failed effects waits until the trajectory is resumed', async () => {
  const staged: Staged = await stage({
    domain: orders as never,
    fault: (kind, what) => {
      if (kind === 'undo') void staged.trajectory.halt(halting);
      return kind === 'do' && what.startsWith('no') ? 'fail_for_good' : 'none';
    },
  });
  const { trajectory, sink, all, assize } = staged;
  const making = trajectory.transaction(all, async (tx) => {
    await tx.call('reversible.externalised', { what: 'a' });
    await tx.call('reversible.buffered', { what: 'no van' });
    tx.propose({ action: 'order', role: 'counter', args: 'o1' } as never);
  });
  await expect.poll(() => trajectory.halted !== undefined).toBe(true);
  await expect
    .poll(() => sink.log.map(({ did, what }) => `${did} ${what}`))
    .toEqual(['do a', 'undo a']);
  expect(trajectory.state()).toEqual({ done: { o1: 1 } });
  await trajectory.resume(halting);
  // The call may have stopped waiting before the resume.
  expect(['waiting', 'failed']).toContain((await making).effects);
  await expect
    .poll(() => trajectory.state(), { timeout: 10_000 })
    .toEqual({ done: { o1: 1, 'no o1': 1 } });
  await assize.recoverEffects();
  await expectSound(staged);
});
