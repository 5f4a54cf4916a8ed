import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Batch,
  type CommitResult,
  type DelegationPayload,
  type LedgerStore,
  readRow,
} from '#ledger';
import { openStore } from '#stores';
import {
  apart,
  begun,
  codeOf,
  DOCTOR,
  desk,
  expectLeft,
  expectSound,
  granted,
  helper,
  nameOf,
  openOf,
  pay,
  refusal,
  reopened,
  task,
  writOf,
} from '../../../../../tests/support/ledger/delegations.ts';
import { allEntries, FaultyStore, payloads } from '../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import type { Trajectory } from '../trajectory.ts';
import type { DelegationInput, GrantToSign } from './terms.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-delegate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a repetition', () => {
  test('on the same terms is the same delegation, in this process and in another', async () => {
    const { store, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(task());
    expect(await trajectory.delegations.delegate(task())).toBe(child);
    const again = await (await reopened(store)).delegations.delegate(task());
    expect(again.id).toBe('c');
    const both = await Promise.all([
      trajectory.delegations.delegate(task()),
      trajectory.delegations.delegate(task()),
    ]);
    expect(both).toEqual([child, child]);
    expect(await allEntries(store, 't')).toHaveLength(2);
    const id = openOf(trajectory);
    await trajectory.delegations.conclude(id);
    expect(await trajectory.delegations.delegate(task())).toBe(child);
    expect(await allEntries(store, 't')).toHaveLength(3);
    await expectSound(store);
  });

  test('of many callers concurrently begins each child once', async () => {
    const { store, trajectory } = await begun();
    const names = Array.from({ length: 24 }, (_, i) => `c${i % 6}`);
    const children = await Promise.all(
      names.map((childTrajectoryId) =>
        trajectory.delegations.delegate(task({ childTrajectoryId, budget: { usd: 16 } })),
      ),
    );
    expect(children.map(({ id }) => id)).toEqual(names);
    expect(trajectory.delegations.open()).toHaveLength(6);
    await expectLeft(await reopened(store), 4);
    await expectSound(store);
  });

  test.each<[string, Partial<DelegationInput & GrantToSign>]>([
    ['another task', { task: 'count again' }],
    ['another budget', { budget: { usd: 61 } }],
    ['another subject', { subject: 'somebody' }],
    ['another state', { initial: { ...desk.initial, n: 1 } }],
    ['another domain', { domain: apart }],
  ])('with %s is idempotency_conflict', async (_what, rest) => {
    const { store, trajectory } = await begun();
    await trajectory.delegations.delegate(task());
    for (const parent of [trajectory, await reopened(store)]) {
      expect(await refusal(store, () => parent.delegations.delegate(task(rest)))).toBe(
        'idempotency_conflict',
      );
    }
  });

  test('of a conclusion returns the entry; another final answer is a conflict', async () => {
    const { store, trajectory } = await begun();
    await trajectory.delegations.delegate(task());
    const id = openOf(trajectory);
    const finalAnswer = { large: 'x'.repeat(20_000) };
    const [one, other] = await Promise.all([
      trajectory.delegations.conclude(id, { finalAnswer }),
      trajectory.delegations.conclude(id, { finalAnswer }),
    ]);
    expect(other).toEqual(one);
    for (const parent of [trajectory, await reopened(store)]) {
      expect(await parent.delegations.conclude(id, { finalAnswer })).toEqual(one);
      expect(await parent.delegations.conclude(id)).toEqual(one);
      for (const wrong of [null, 'x', {}])
        expect(
          await refusal(store, () => parent.delegations.conclude(id, { finalAnswer: wrong })),
        ).toBe('idempotency_conflict');
    }
    expect(await allEntries(store, 't')).toHaveLength(3);
    expect(await allEntries(store, 'c')).toHaveLength(2);
    await expectSound(store);
  });
});

describe('a child that has answered', () => {
  async function answered() {
    const { store, clock, assize, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(task());
    const writ = await writOf(store);
    await child.propose(intent('add', { by: 1 }, writ as never, { idempotencyKey: 'k' }));
    await child.propose(intent('ask', { amount: 1 }, writ as never));
    const row = await child.delegations.answer({ finalAnswer: 7 });
    return { store, clock, assize, trajectory, child, writ, row };
  }

  test('takes no proposal and no resolution, but still knows its earlier rulings', async () => {
    const { store, child, writ } = await answered();
    for (const open of [child, await reopened(store, 'c')]) {
      expect(open.approvals.pending()).toEqual([]);
      expect(
        await refusal(store, () => open.propose(intent('add', { by: 1 }, writ as never))),
      ).toBe('concluded');
      const again = intent('add', { by: 1 }, writ as never, { idempotencyKey: 'k' });
      expect(await open.propose(again)).toMatchObject({ ruling: 'committed', entry: { seq: 1 } });
      const pending = (await allEntries(store, 'c'))[2]?.id as string;
      expect(await refusal(store, () => open.approvals.approve(pending, DOCTOR))).toBe(
        'not_pending',
      );
    }
    await expectSound(store);
  });

  test('delegates no more', async () => {
    const { store, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(task({ subject: helper.publicKey }));
    await child.delegations.answer();
    const below = task({
      writ: (await writOf(store)) as never,
      subject: 'deep',
      childTrajectoryId: 'd',
      privateKey: helper.privateKey,
    });
    expect(await refusal(store, () => child.delegations.delegate(below))).toBe('concluded');
  });

  test('is concluded with its own answer', async () => {
    const { store, trajectory, child, row } = await answered();
    expect(await child.delegations.answer({ finalAnswer: 7 })).toEqual(row);
    expect(await refusal(store, () => child.delegations.answer({ finalAnswer: 8 }))).toBe(
      'idempotency_conflict',
    );
    const id = openOf(trajectory);
    expect(
      await refusal(store, () => trajectory.delegations.conclude(id, { finalAnswer: 8 })),
    ).toBe('idempotency_conflict');
    const conclusion = await trajectory.delegations.conclude(id);
    expect(readRow(conclusion).payload).toMatchObject({
      child_head: row.id,
      final_answer: 7,
      budget_cost: {},
    });
    await expectSound(store);
  });

  test('is concluded when its parent is opened', async () => {
    const { store } = await answered();
    const parent = await reopened(store);
    expect(parent.delegations.open()).toEqual([]);
    await expectLeft(parent, 100);
    expect((await payloads(store, 't'))[2]).toMatchObject({ kind: 'delegation', final_answer: 7 });
    await expectSound(store);
  });

  test('refuses a process that still has it open, and spends nothing more', async () => {
    const { store, trajectory } = await begun();
    await trajectory.delegations.delegate(task());
    const elsewhere = await reopened(store, 'c');
    const writ = await writOf(store);
    expect(nameOf(await elsewhere.propose(pay(20, writ)))).toBe('committed');
    const id = openOf(trajectory);
    const [conclusion, ...rulings] = await Promise.all([
      trajectory.delegations.conclude(id),
      ...Array.from({ length: 8 }, () => codeOf(elsewhere.propose(pay(5, writ)))),
    ]);
    const committed = rulings.filter((code) => code === 'answered').length;
    expect(rulings.every((code) => code === 'answered' || code === 'concluded')).toBe(true);
    const { budget_cost } = readRow(conclusion).payload as DelegationPayload;
    expect(budget_cost).toEqual({ usd: 20 + 5 * committed });
    expect(await codeOf(elsewhere.propose(pay(5, writ)))).toBe('concluded');
    await expectLeft(trajectory, 80 - 5 * committed);
    await expectSound(store);
  });
});

/** Fails after the first entry of the batch that it must tear. */
class TearingStore extends FaultyStore {
  tears = 0;

  override async commit(batch: Batch): Promise<CommitResult> {
    if (this.tears === 0 || --this.tears > 0) return super.commit(batch);
    await super.commit({ ...batch, entries: batch.entries.slice(0, 1) });
    throw new Error('the process died');
  }
}

/** Grants any number of write locks concurrently. */
class TurningStore extends FaultyStore {
  taken = 0;
  under = 0;

  async acquireWriteLock(): Promise<() => void> {
    this.taken++;
    this.under++;
    return () => void this.under--;
  }
}

describe('a crash', () => {
  async function torn() {
    const store = new TearingStore();
    const { trajectory } = await begun({}, store);
    store.tears = 1;
    await expect(
      trajectory.delegations.delegate(task({ initial: { ...desk.initial, n: 4 } })),
    ).rejects.toThrow('died');
    expect(await allEntries(store, 't')).toHaveLength(2);
    expect(await allEntries(store, 'c')).toHaveLength(0);
    await expectSound(store);
    return { store, trajectory };
  }

  test('between start and child’s root is completed by opening the parent', async () => {
    const { store } = await torn();
    const parent = await reopened(store);
    expect(parent.delegations.open()).toHaveLength(1);
    const child = await reopened(store, 'c');
    expect(child.state()).toMatchObject({ n: 4 });
    expect(nameOf(await child.propose(pay(60, await writOf(store))))).toBe('committed');
    await expectLeft(parent, 40);
    await expectSound(store);
    // Completed once.
    await Promise.all([reopened(store), reopened(store)]);
    expect(await allEntries(store, 'c')).toHaveLength(2);
  });

  test('between the two is completed once by concurrent opens and delegations', async () => {
    const { store, trajectory } = await torn();
    const input = task({ initial: { ...desk.initial, n: 4 } });
    const others = [reopened(store), reopened(store), reopened(store)];
    const children = await Promise.all([
      trajectory.delegations.delegate(input),
      ...others.map(async (o) => (await o).delegations.delegate(input)),
    ]);
    expect(new Set(children.map(({ head }) => head)).size).toBe(1);
    expect(await allEntries(store, 't')).toHaveLength(2);
    expect(await allEntries(store, 'c')).toHaveLength(1);
    await expectSound(store);
  });

  test.each(['written', 'lost'] as const)(
    'between the two is completed by asking the store if the root was %s',
    async (became) => {
      const { store, trajectory } = await torn();
      const input = task({ initial: { ...desk.initial, n: 4 } });
      store.plan = new Map([[store.commits + 1, `unknown, ${became}` as const]]);
      expect(await codeOf(trajectory.delegations.delegate(input))).toBe(
        became === 'written' ? 'answered' : 'commit_unknown',
      );
      expect((await trajectory.delegations.delegate(input)).id).toBe('c');
      expect(await allEntries(store, 'c')).toHaveLength(1);
      await expectSound(store);
    },
  );

  test('between the two is completed by a conclusion', async () => {
    const { store, trajectory } = await torn();
    const id = openOf(trajectory);
    await trajectory.delegations.conclude(id);
    expect(await allEntries(store, 'c')).toHaveLength(2);
    await expectLeft(trajectory, 100);
    await expectSound(store);
  });

  test('with large state or a missing domain waits for a process that has it', async () => {
    const store = new TearingStore();
    const { trajectory } = await begun({}, store);
    store.tears = 1;
    const initial = { ...desk.initial, data: 'x'.repeat(50_000) };
    await expect(trajectory.delegations.delegate(task({ domain: apart, initial }))).rejects.toThrow(
      'died',
    );
    const without = await runtimeOver(store, [desk]).open('t');
    expect(without.delegations.open()).toHaveLength(1);
    expect(await allEntries(store, 'c')).toHaveLength(0);
    await reopened(store);
    expect((await reopened(store, 'c')).state()).toEqual(initial);
    await expectSound(store);
  });

  test('between answer and conclusion is completed by opening the parent', async () => {
    const store = new FaultyStore();
    const { trajectory } = await begun({}, store);
    const child = await trajectory.delegations.delegate(task());
    await child.propose(pay(7, await writOf(store)));
    const id = openOf(trajectory);
    store.plan = new Map([[store.commits + 2, 'thrown, lost']]);
    await expect(trajectory.delegations.conclude(id, { finalAnswer: 'seven' })).rejects.toThrow(
      'threw',
    );
    expect(trajectory.delegations.open()).toHaveLength(1);
    expect(await allEntries(store, 'c')).toHaveLength(3);
    const parent = await reopened(store);
    expect(parent.delegations.open()).toEqual([]);
    expect((await payloads(store, 't')).at(-1)).toMatchObject({
      final_answer: 'seven',
      budget_cost: { usd: 7 },
    });
    expect(await trajectory.delegations.conclude(id, { finalAnswer: 'seven' })).toEqual(
      (await allEntries(store, 't'))[2],
    );
    await expectLeft(trajectory, 93);
    await expectSound(store);
  });

  test('completed by another process takes no write lock on opening the parent', async () => {
    const store = new TurningStore();
    const { trajectory } = await begun({}, store);
    await trajectory.delegations.delegate(task());
    store.plan = new Map([[store.commits + 2, 'thrown, lost']]);
    await expect(trajectory.delegations.conclude(openOf(trajectory))).rejects.toThrow('threw');
    let isFirst = true;
    store.before = async () => {
      if (!isFirst) return;
      isFirst = false;
      // The trajectory that it opens comes first.
      await reopened(store);
    };
    const parent = await reopened(store);
    expect(store.taken).toBe(1);
    expect(store.under).toBe(0);
    expect(nameOf(await parent.propose(intent('add', { by: 1 }, granted)))).toBe('committed');
    expect(store.taken).toBe(1);
    await expectSound(store);
  });

  const FAULTS = [
    'conflict',
    'unknown, lost',
    'unknown, written',
    'thrown, lost',
    'thrown, written',
  ] as const;
  const steps = FAULTS.flatMap((fault) => [1, 2, 3].map((n) => [fault, n] as const));
  test.each(steps)(
    '(%s, at write %d) loses, doubles and restarts nothing, for any repeater',
    async (fault, n) => {
      const { store, trajectory } = await begun();
      // 1: start and root, 2: answer, 3: conclusion.
      store.plan = new Map([[store.commits + n, fault]]);
      const whole = async (parent: Trajectory): Promise<void> => {
        const child = await parent.delegations.delegate(task());
        const id = await delegationOf(store);
        if ((await allEntries(store, 'c')).length === 1) expect(child.length).toBe(1);
        await parent.delegations.conclude(id, { finalAnswer: 'done' });
      };
      const first = await codeOf(whole(trajectory));
      expect(first === 'answered' || first === 'commit_unknown' || first.includes('threw')).toBe(
        true,
      );
      await whole(n % 2 === 0 ? trajectory : await reopened(store));
      await whole(trajectory);
      expect((await payloads(store, 't')).map(({ kind }) => kind)).toEqual([
        'root',
        'delegation',
        'delegation',
      ]);
      expect((await payloads(store, 'c')).map(({ kind }) => kind)).toEqual(['root', 'delegation']);
      await expectLeft(trajectory, 100);
      await expectSound(store);
    },
  );

  async function delegationOf(store: LedgerStore): Promise<string> {
    return (await allEntries(store, 't')).find(({ kind }) => kind === 'delegation')?.id as string;
  }
});

test('delegations of one name or budget by two processes obey both rules', async () => {
  const { store, trajectory } = await begun();
  const other = await reopened(store);
  const codes = await Promise.all([
    codeOf(trajectory.delegations.delegate(task())),
    codeOf(other.delegations.delegate(task({ task: 'something else' }))),
    codeOf(trajectory.delegations.delegate(task({ childTrajectoryId: 'd', budget: { usd: 41 } }))),
    codeOf(other.delegations.delegate(task({ childTrajectoryId: 'e', budget: { usd: 41 } }))),
    codeOf(other.delegations.delegate(task({ childTrajectoryId: 'f', budget: { usd: 19 } }))),
  ]);
  expect(
    codes.filter(
      (code) => !['answered', 'idempotency_conflict', 'budget_exhausted'].includes(code),
    ),
  ).toEqual([]);
  const open = (await reopened(store)).delegations.open();
  expect(open).toHaveLength(codes.filter((code) => code === 'answered').length);
  const aside = open.reduce(
    (sum, { payload }) => sum + ((payload.writ as any).budget.usd as number),
    0,
  );
  expect(aside).toBeLessThanOrEqual(100);
  await expectLeft(await reopened(store), 100 - aside);
  await expectSound(store);
});

test('a budget refunded by another process is available to delegate', async () => {
  const { store, trajectory } = await begun();
  const other = await reopened(store);
  await trajectory.delegations.delegate(task({ budget: { usd: 100 } }));
  const id = openOf(trajectory);
  expect(await codeOf(other.delegations.delegate(task({ childTrajectoryId: 'd' })))).toBe(
    'budget_exhausted',
  );
  await trajectory.delegations.conclude(id);
  expect((await other.delegations.delegate(task({ childTrajectoryId: 'd' }))).id).toBe('d');
  await expectSound(store);
});

test('over a file: delegated, closed, opened, concluded', async () => {
  const url = `sqlite:${join(folder, 'a.db')}`;
  const first = await openStore(url);
  const trajectory = await runtimeOver(first, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [granted],
  });
  const child = await trajectory.delegations.delegate(task());
  await child.propose(pay(13, await writOf(first)));
  await first.close();
  const second = await openStore(url);
  const parent = await runtimeOver(second, [desk]).open('t');
  const id = openOf(parent);
  await parent.delegations.conclude(id, { finalAnswer: { text: 'x'.repeat(30_000) } });
  await expectLeft(parent, 87);
  await expectSound(second);
  await second.close();
});
