import { describe, expect, test } from 'vitest';
import { allEntries, deskOf, FaultyStore } from '../../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import { unhandledIn } from '../../../../../../tests/support/process/errors.ts';
import type { RuntimeError } from '../../errors.ts';
import type { ProposalInput } from '../../records/intent.ts';
import type { Trajectory } from '../../trajectory.ts';

const worker = writFor('agent');
const desk = deskOf();

const put = (box: string, paper: string): ProposalInput => ({
  ...intent('put', { paper }, worker),
  role: { name: 'filer', params: { box } },
});
const add = (by = 1): ProposalInput => intent('add', { by }, worker);

async function begun(
  store = new FaultyStore(),
): Promise<{ store: FaultyStore; trajectory: Trajectory }> {
  const trajectory = await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [worker],
  });
  store.commits = 0;
  return { store, trajectory };
}

/** Slices in the order of the calls, to be compared after the microtasks. */
function watch(
  trajectory: Trajectory,
  role: string,
  params = {},
): { seen: unknown[]; stop: () => void } {
  const seen: unknown[] = [];
  const stop = trajectory.subscribe(role, params, (slice) => seen.push(slice));
  return { seen, stop };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a subscriber', () => {
  test('gets the new slice of its role, and only when its footprint was met', async () => {
    const { trajectory } = await begun();
    const a = watch(trajectory, 'filer', { box: 'a' });
    const b = watch(trajectory, 'filer', { box: 'b' });
    const all = watch(trajectory, 'worker');
    await trajectory.propose(put('a', 'one'));
    await trajectory.propose(add());
    await trajectory.propose(put('a', 'two'));
    await turn();
    expect(a.seen).toEqual([{ boxes: { a: ['one'] } }, { boxes: { a: ['one', 'two'] } }]);
    expect(b.seen).toEqual([]);
    expect(all.seen).toEqual([{ n: 1, asked: 0, data: null }]);
  });

  test('gets no rejected, frozen or pending proposal, only an approved change', async () => {
    const { trajectory } = await begun();
    const { seen } = watch(trajectory, 'worker');
    await trajectory.propose(add(99));
    await trajectory.propose(intent('none', {}, worker));
    const asked = await trajectory.propose(intent('ask', { amount: 5 }, worker));
    await trajectory.propose(add());
    await turn();
    expect(seen).toEqual([]);
    await trajectory.approvals.approve(asked.ruling === 'escalated' ? asked.pending : '', {
      principal: 'dr-who',
      method: 'test',
    });
    await turn();
    expect(seen).toEqual([{ n: 0, asked: 5, data: null }]);
  });

  test('is notified of a change once it is durable, and of no later one before', async () => {
    const { store, trajectory } = await begun();
    const seen: { slice: unknown; durable: number }[] = [];
    let durable = 1;
    trajectory.subscribe('worker', {}, (slice) => seen.push({ slice, durable }));
    const gates: (() => void)[] = [];
    store.before = () => new Promise<void>((resolve) => gates.push(resolve));
    const rejected = trajectory.propose(add(99));
    const first = trajectory.propose(add(1));
    const second = trajectory.propose(add(2));
    await turn();
    expect(gates).toHaveLength(3);
    for (const answer of [rejected, first, second]) {
      gates.shift()?.();
      await answer;
      durable = (await allEntries(store, 't')).length;
      await turn();
    }
    expect(seen.map(({ slice }) => slice)).toEqual([
      { n: 1, asked: 0, data: null },
      { n: 3, asked: 0, data: null },
    ]);
  });

  test('is never notified of an unwritten change', async () => {
    for (const fault of ['thrown, lost', 'unknown, lost'] as const) {
      const { store, trajectory } = await begun();
      const { seen } = watch(trajectory, 'worker');
      store.plan = new Map([[1, fault]]);
      await expect(trajectory.propose(add(5))).rejects.toThrow();
      await trajectory.propose(put('a', 'one'));
      await turn();
      for (const slice of seen) expect(slice).toEqual({ n: 0, asked: 0, data: null });
    }
  });

  test('is notified of a commit in doubt that is found in the store', async () => {
    const { store, trajectory } = await begun();
    const { seen } = watch(trajectory, 'worker');
    store.plan = new Map([[1, 'unknown, written']]);
    expect(await trajectory.propose(add(5))).toMatchObject({ ruling: 'committed' });
    await turn();
    expect(seen).toContainEqual({ n: 5, asked: 0, data: null });
  });

  test('is notified of another writer’s change when this writer loads it', async () => {
    const { store, trajectory } = await begun();
    const { seen } = watch(trajectory, 'worker');
    const other = await runtimeOver(store, [desk]).open('t');
    await other.propose(add(7));
    await trajectory.propose(put('a', 'one'));
    await turn();
    expect(seen.at(-1)).toEqual({ n: 7, asked: 0, data: null });
  });

  test('that has stopped is notified no more, not even of in-flight changes', async () => {
    const { trajectory } = await begun();
    const { seen, stop } = watch(trajectory, 'worker');
    const answer = trajectory.propose(add());
    stop();
    await answer;
    await trajectory.propose(add());
    stop();
    await turn();
    expect(seen).toEqual([]);
  });

  test('may keep and change its slice, propose, and stop others from within', async () => {
    const { trajectory } = await begun();
    const later: string[] = [];
    const second = watch(trajectory, 'worker');
    trajectory.subscribe('worker', {}, (slice) => {
      (slice as { n: number }).n = 99;
      second.stop();
      if (later.length === 0)
        void trajectory.propose(put('a', 'from within')).then(({ ruling }) => later.push(ruling));
    });
    await trajectory.propose(add());
    await turn();
    await turn();
    expect(trajectory.state()).toMatchObject({ n: 1, boxes: { a: ['from within'] } });
    expect(later).toEqual(['committed']);
  });

  test('of a role that there is not, or without its parameters, is refused', async () => {
    const { trajectory } = await begun();
    for (const role of ['nobody', 'constructor', '__proto__', '']) {
      expect(() => trajectory.subscribe(role, {}, () => {})).toThrow(/no role/);
    }
    expect(() => trajectory.subscribe('filer', {}, () => {})).toThrow(/needs the parameter box/);
  });
});

test('a listener that throws or rejects fails alone, and its error is reported', async () => {
  const failed: RuntimeError[] = [];
  const assize = runtimeOver(new FaultyStore(), [desk], {
    onNotificationFailed: (error) => failed.push(error),
  });
  const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [worker] });
  const fault = new Error('my own fault');
  trajectory.subscribe('worker', {}, () => {
    throw fault;
  });
  trajectory.subscribe('worker', {}, async () => Promise.reject(fault));
  const { seen } = watch(trajectory, 'worker');
  expect(await unhandledIn(() => trajectory.propose(add()))).toEqual([]);
  expect(await trajectory.propose(add())).toMatchObject({ ruling: 'committed' });
  await turn();
  expect(seen).toHaveLength(2);
  expect(failed.map(({ code, cause }) => [code, cause])).toEqual(
    Array.from({ length: 4 }, () => ['background_failed', fault]),
  );
});
