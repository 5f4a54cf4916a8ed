import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { Sink } from '#effects';
import { defineDomain } from '#kernel';
import { readRow } from '#ledger';
import { seededRandom } from '#oracle';
import {
  type Assize,
  type AssizeOptions,
  type Ruling,
  type Transaction,
  verifyStore,
} from '#runtime';
import { keysOf } from '../../../../../../tests/support/ledger/rows.ts';
import {
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../../../../../../tests/support/tools/check-effect-log.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  toolFor,
} from '../../../../../../tests/support/tools/effect-sink.ts';
import { orders } from '../../../../../../tests/support/tools/orders.ts';

const writ = writFor('alice');
const FOUND = { by: 'ops', writ: operatorWrit(), evidence: 'looked' };
const BOSS = { principal: 'boss', method: 'test' };
const CELLS = ['reversible', 'with_cost', 'irreversible'] as const;

/** Processes that run one after the other, on a sink that refuses inputs that start with "no". */
class Site {
  readonly store = new MemoryStore();
  readonly sink: OutsideSink;
  readonly domain: typeof orders;
  fault: (of: 'do' | 'undo' | 'ask', what: string) => Fault = (of, what) =>
    of === 'do' && what.startsWith('no') ? 'fail_for_good' : 'none';
  assize: Assize;
  #processes = 0;

  readonly goes = (of: 'do' | 'undo' | 'ask', what: string): Fault => this.fault(of, what);

  constructor(sort: Sink = 'keyed', domain: typeof orders = orders) {
    this.domain = domain;
    this.sink = new OutsideSink(sort);
    this.assize = this.process();
  }

  process(options: Partial<AssizeOptions> = {}, domains = [this.domain]): Assize {
    const outside = { sink: this.sink, steps: new Steps(), fault: this.goes };
    const tools = CELLS.flatMap((sort) => [
      toolFor(outside, sort, 'buffered'),
      toolFor(outside, sort, 'externalised'),
    ]);
    return runtimeOver(this.store, domains, {
      tools,
      ...options,
      ports: { random: seededRandom(`p${this.#processes++}`), ...options.ports },
    });
  }

  async order(calls: readonly [tool: string, what: string][], args = 'o1', name?: string) {
    const trajectory = await this.assize.open('t');
    return trajectory.transaction(
      { writ, writes: ['test:**'], retries: 0, ...(name === undefined ? {} : { name }) },
      async (tx: Transaction) => {
        for (const [tool, what] of calls) await tx.call(tool, { what });
        tx.propose({ action: 'order', role: 'counter', args });
      },
    );
  }

  async state(): Promise<Record<string, number>> {
    return ((await this.assize.open('t')).state() as { done: Record<string, number> }).done;
  }

  /** The effects that exist at the sink. */
  standing(): string[] {
    return [...new Set(this.sink.log.map(({ what }) => what))].filter(
      (what) => this.sink.standing(what) !== 0,
    );
  }

  async left() {
    return this.assize.recoverEffects();
  }

  async told(): Promise<void> {
    await expectEffectLogMatches(this.store, 't', await this.left());
    await this.assize.close();
    for (const { fault } of await verifyStore(this.store)) expect(fault).toBeUndefined();
    expect((await deepReplay(this.store, 't', { domains: [this.domain] })).differences).toEqual([]);
  }
}

async function site(sort?: Sink, domain?: typeof orders): Promise<Site> {
  const made = new Site(sort, domain);
  await made.assize.create(made.domain, { trajectoryId: 't', writs: [writ] });
  return made;
}

function payloadOf(ruling: Ruling | undefined): any {
  if (ruling === undefined || ruling.ruling === 'frozen') throw new Error('there is no entry');
  return readRow(ruling.entry).payload;
}

const REFUSED: [string, string] = ['with_cost.buffered', 'no van'];

describe.each<Sink>(['keyed', 'queryable', 'blind'])(
  'with a %s sink, a permanently failed effect',
  (sort) => {
    test('is handled and all else is compensated, both before and after the commit', async () => {
      const at = await site(sort);
      const outcome = await at.order([
        ['reversible.externalised', 'acted'],
        ['reversible.buffered', 'held'],
        REFUSED,
        ['irreversible.buffered', 'a letter'],
      ]);
      expect(outcome).toMatchObject({
        ruling: { ruling: 'committed' },
        effects: 'failed',
        failure: { ruling: 'committed' },
      });
      expect(at.standing()).toEqual([]);
      expect(at.sink.times('do', 'a letter')).toBe(0);
      expect(at.sink.log.filter(({ did }) => did === 'undo').map(({ what }) => what)).toEqual([
        'held',
        'acted',
      ]);
      expect(await at.state()).toEqual({ o1: 1, 'no o1': 1 });
      const { delta } = payloadOf(outcome.ruling);
      const answer = payloadOf(outcome.failure);
      expect(answer).toMatchObject({
        action: { name: 'count', role: { name: 'counter' } },
        delta: { effects: [] },
      });
      const [{ name, value }] = answer.observations;
      expect(name).toBe('assize.failure');
      expect(value.commit).toBe((outcome.ruling as any).entry.id);
      expect(value.effects.map(({ tool, outcome: what }: any) => `${tool} ${what}`)).toEqual([
        'reversible.externalised undone',
        'reversible.buffered undone',
        'with_cost.buffered failed',
        'irreversible.buffered dropped',
      ]);
      expect(value.effects.map(({ id }: any) => id)).toEqual(
        delta.effects.map(({ id }: any) => id),
      );
      await at.told();
      expect((await at.assize.effects({ epoch: 1 }))[0]).toMatchObject({
        phase: 'settled',
        failing: { n: 2, refusals: 0 },
      });
    });

    test('may be irreversible as long as no irreversible effect was executed', async () => {
      const at = await site(sort);
      const outcome = await at.order([
        ['reversible.buffered', 'held'],
        ['irreversible.buffered', 'no letter'],
      ]);
      expect(outcome.effects).toBe('failed');
      expect(at.standing()).toEqual([]);
      await at.told();
    });

    test('needs a human once an irreversible effect was executed', async () => {
      const at = await site(sort);
      const outcome = await at.order([
        ['reversible.buffered', 'held'],
        ['irreversible.buffered', 'a letter'],
        ['irreversible.buffered', 'no letter'],
      ]);
      expect(outcome.effects).toBe('needs_human');
      expect(outcome.failure).toBeUndefined();
      expect(at.standing()).toEqual(['held', 'a letter']);
      await at.told();
    });
  },
);

test('after three tries is as good as for good', async () => {
  const at = await site();
  at.fault = (of, what) => (of === 'do' && what === 'no van' ? 'fail' : 'none');
  expect((await at.order([['reversible.buffered', 'held'], REFUSED])).effects).toBe('failed');
  expect(at.standing()).toEqual([]);
  await at.told();
});

test('the `onFailure` action may have another role', async () => {
  const at = await site();
  const { failure } = await at.order([REFUSED], 'elsewhere');
  expect(payloadOf(failure).action).toMatchObject({
    name: 'refund',
    role: { name: 'clerk', params: { desk: 'd1' } },
  });
  expect(await at.state()).toEqual({ elsewhere: 1, d1: 1 });
  await at.told();
});

test('an action without `onFailure` leaves it to a human, the rest unchanged', async () => {
  const at = await site();
  const trajectory = await at.assize.open('t');
  const { effects } = await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('reversible.buffered', { what: 'held' });
    await tx.call('with_cost.buffered', { what: 'no van' });
    tx.propose({ action: 'count', role: 'counter', args: 'plain' });
  });
  expect(effects).toBe('needs_human');
  expect(at.standing()).toEqual(['held']);
  await at.told();
});

test('a repetition by name receives the failure and its handling', async () => {
  const at = await site();
  const once = await at.order([['reversible.buffered', 'held'], REFUSED], 'o1', 'order 1');
  const again = await at.order([['reversible.buffered', 'held'], REFUSED], 'o1', 'order 1');
  expect(again).toMatchObject({ effects: 'failed', value: undefined, epoch: undefined });
  expect(payloadOf(again.failure)).toEqual(payloadOf(once.failure));
  await at.assize.close();
  at.assize = at.process();
  expect(
    payloadOf(
      (await at.order([['reversible.buffered', 'held'], REFUSED], 'o1', 'order 1')).failure,
    ),
  ).toEqual(payloadOf(once.failure));
  expect(at.sink.times('do', 'held')).toBe(1);
  await at.told();
});

describe('the `onFailure` action', () => {
  test.each([
    ['bad', 'invariant_rejected'],
    ['unknown', 'unknown_tool'],
    ['odd', 'bad_intent'],
    ['throws', 'bad_intent'],
  ])('is refused, for %s, and needs a human, with all effects compensated', async (args, why) => {
    const at = await site();
    const outcome = await at.order([['reversible.externalised', 'acted'], REFUSED], args, 'it');
    expect(outcome.effects).toBe('needs_human');
    expect(at.standing()).toEqual([]);
    const [left, ...more] = await at.left();
    expect([left, more]).toMatchObject([{ tool: 'with_cost.buffered', phase: 'unresolved' }, []]);
    const trajectory = await at.assize.open('t');
    const [waits] = trajectory.approvals.pending();
    expect(waits?.payload).toMatchObject({ reason: 'unresolved', channel: 'operator' });
    expect(waits?.payload.detail).toContain(`was refused (${why})`);
    expect(
      (await at.order([['reversible.externalised', 'acted'], REFUSED], args, 'it')).effects,
    ).toBe('needs_human');
    await expectEffectLogMatches(at.store, 't', [left!]);
    // A retry is a new proposal, and is refused again.
    const { epoch, n } = left!;
    expect(await at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'retry' })).toMatchObject({
      unresolved: 1,
    });
    await expectEffectLogMatches(at.store, 't', [left!]);
    expect(await at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'undone' })).toMatchObject({
      transaction: 'settled',
    });
    expect(await at.state()).toEqual({ [args]: 1 });
    await at.told();
  });

  test('is committed once its obstacle is gone', async () => {
    const at = await site();
    expect((await at.order([REFUSED], 'bad', 'it')).effects).toBe('needs_human');
    const [{ epoch, n } = { epoch: 0, n: 0 }] = await at.left();
    // The operator finds the effect after all: the tool compensates it, and the `onFailure` action
    // is proposed again.
    const { phase, unresolved } = await at.assize.resolveEffect({
      ...FOUND,
      epoch,
      n,
      as: 'applied',
    });
    expect([phase, unresolved]).toEqual(['unresolved', 1]);
    const trajectory = await at.assize.open('t');
    await trajectory.propose({ action: 'count', role: 'counter', args: 'pardon', writ } as never);
    await at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'retry' });
    expect(await at.state()).toEqual({ bad: 1, pardon: 1, forbidden: 1 });
    expect(await at.order([REFUSED], 'bad', 'it')).toMatchObject({
      effects: 'failed',
      failure: { ruling: 'committed' },
    });
    await at.told();
  });

  test('may be let be by a person, and is not committed then', async () => {
    const at = await site();
    await at.order([['reversible.buffered', 'held'], REFUSED], 'bad');
    const [{ epoch, n } = { epoch: 0, n: 0 }] = await at.left();
    const ended = await at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'residue' });
    expect(ended).toMatchObject({ phase: 'accepted', transaction: 'settled' });
    expect(await at.state()).toEqual({ bad: 1 });
    await at.told();
  });

  test('is refused where the writ was revoked meanwhile', async () => {
    const at = await site();
    const trajectory = await at.assize.open('t');
    const officer = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });
    const { fault } = at;
    let revoked: Promise<unknown> | undefined;
    at.fault = (of, what) => {
      if (what === 'no van')
        revoked ??= trajectory.writs.revoke({ writ, by: officer, reason: 'lost' });
      return fault(of, what);
    };
    const outcome = await at.order([['reversible.externalised', 'acted'], REFUSED]);
    await revoked;
    expect(outcome).toMatchObject({
      effects: 'needs_human',
      failure: { ruling: 'rejected', reason: 'invalid_authority' },
    });
    expect(at.standing()).toEqual([]);
    await at.told();
  });

  test('waits for its counselor like any, and all else has ended', async () => {
    const at = await site();
    const outcome = await at.order([['reversible.externalised', 'acted'], REFUSED], 'asks');
    expect(outcome).toMatchObject({ effects: 'failed', failure: { ruling: 'escalated' } });
    expect(await at.left()).toEqual([]);
    const trajectory = await at.assize.open('t');
    if (outcome.failure?.ruling !== 'escalated') throw new Error('it was not');
    expect(
      (await trajectory.approvals.approve(outcome.failure.pending, { ...BOSS, override: true }))
        .ruling,
    ).toBe('committed');
    expect(await at.state()).toEqual({ asks: 1, asked: 1 });
    await at.told();
  });

  test('waits under a frozen world, and is resumed automatically', async () => {
    const world = defineDomain<any, any>({
      ...(orders.declared as any),
      freeze: 'world',
    }) as typeof orders;
    const at = await site('keyed', world);
    const trajectory = await at.assize.open('t');
    const refused = at.fault;
    let frozen: Promise<Ruling> | undefined;
    at.fault = (of, what) => {
      if (what === 'no van')
        frozen ??= trajectory.propose({
          action: 'count',
          role: 'counter',
          args: 'asked',
          writ,
        } as never);
      return refused(of, what);
    };
    const order = () => at.order([['reversible.externalised', 'acted'], REFUSED], 'o1', 'order 1');
    const outcome = await order();
    expect(outcome).toMatchObject({ effects: 'waiting', failure: { ruling: 'frozen' } });
    expect(at.standing()).toEqual([]);
    // A repeated transaction gets the same outcome: no effect of it needs a human decision.
    expect((await order()).effects).toBe('waiting');
    expect(await at.left()).toEqual([]);
    const ruling = await frozen;
    if (ruling?.ruling !== 'escalated') throw new Error('it was not');
    await trajectory.approvals.reject(ruling.pending, { ...BOSS, reason: 'no' });
    await expect.poll(() => at.state()).toMatchObject({ 'no o1': 1 });
    expect(await at.left()).toEqual([]);
    await at.told();
  });

  test('is the same where a person had to approve it all', async () => {
    const at = await site();
    const trajectory = await at.assize.open('t');
    const asking = writFor('bob', { require_approval: ['order'] });
    const { ruling } = await trajectory.transaction(
      { writ: asking, writes: ['test:**'] },
      async (tx) => {
        await tx.call('reversible.buffered', { what: 'held' });
        await tx.call('with_cost.buffered', { what: 'no van' });
        tx.propose({ action: 'order', role: 'counter', args: 'o1' });
      },
    );
    if (ruling.ruling !== 'escalated') throw new Error('it was not');
    expect((await trajectory.approvals.approve(ruling.pending, BOSS)).ruling).toBe('committed');
    expect(at.sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do held', 'undo held']);
    expect(await at.state()).toEqual({ o1: 1, 'no o1': 1 });
    await at.told();
  });

  test('waits for a process that has the domain', async () => {
    const at = await site();
    // The transaction ends when all effects are compensated, before any proposal.
    const { store } = at;
    const commit = store.commit.bind(store);
    let commits = 0;
    store.commit = async (batch) => {
      if (batch.entries.some(({ payload }) => payload.includes('"no o1"'))) {
        commits++;
        throw new Error('the disk is full');
      }
      return commit(batch);
    };
    await expect(at.order([['reversible.externalised', 'acted'], REFUSED])).rejects.toThrow();
    await at.assize.close();
    expect(commits).toBeGreaterThan(0);
    store.commit = commit;
    at.assize = at.process({}, []);
    expect(await at.left()).toEqual([]);
    const { name, version, hash } = orders;
    expect(await at.assize.effects()).toMatchObject([
      { phase: 'failing', needs: { tools: [], domain: { name, version, hash } } },
    ]);
    await at.assize.close();
    at.assize = at.process();
    expect(await at.left()).toEqual([]);
    expect(await at.state()).toEqual({ o1: 1, 'no o1': 1 });
    await at.told();
  });
});

test('a repetition gets a late `onFailure` action once it is committed', async () => {
  let isBroken = true;
  const { order, ...actions } = (orders.declared as any).actions;
  const onFailure = (name: string) => {
    if (isBroken) throw new Error('it has no idea');
    return order.onFailure(name);
  };
  const moody = defineDomain<any, any>({
    ...(orders.declared as any),
    name: 'moody',
    actions: { ...actions, order: { ...order, onFailure } },
  });
  const at = new Site();
  at.assize = at.process({}, [moody]);
  await at.assize.create(moody, { trajectoryId: 't', writs: [writ] });
  expect((await at.order([REFUSED], 'o1', 'order 1')).effects).toBe('needs_human');
  const [left] = await at.left();
  isBroken = false;
  const { epoch, n } = left!;
  expect(await at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'retry' })).toMatchObject({
    transaction: 'settled',
  });
  expect(await at.state()).toEqual({ o1: 1, 'no o1': 1 });
  const again = await at.order([REFUSED], 'o1', 'order 1');
  expect(again).toMatchObject({ effects: 'failed', failure: { ruling: 'committed' } });
  await at.assize.close();
});

describe('at a blind sink', () => {
  test('an effect in doubt, confirmed by a human, is reverted before `onFailure`', async () => {
    const at = await site('blind');
    at.fault = (of, what) => (of === 'do' ? (what === 'lost' ? 'lose' : 'fail_for_good') : 'none');
    const outcome = await at.order([['reversible.buffered', 'lost'], REFUSED]);
    expect(outcome).toMatchObject({ effects: 'needs_human' });
    expect(outcome.failure).toBeUndefined();
    const lefts = await at.left();
    await expectEffectLogMatches(at.store, 't', lefts);
    const [{ epoch, n } = { epoch: 0, n: 0 }] = lefts;
    const ended = await at.assize.resolveEffect({ ...FOUND, epoch, n, as: 'applied' });
    expect(ended).toMatchObject({ phase: 'undone', transaction: 'settled', unresolved: 0 });
    expect(at.standing()).toEqual([]);
    expect(await at.state()).toEqual({ o1: 1, 'no o1': 1 });
    await at.told();
  });

  test('an effect that fails after decisions needs another, and the rest stays', async () => {
    const at = await site('blind');
    const goes: Record<string, Fault> = {
      found: 'lose',
      gone: 'lose_before',
      'no letter': 'fail_for_good',
    };
    at.fault = (of, what) => (of === 'do' ? (goes[what] ?? 'none') : 'none');
    const outcome = await at.order([
      ['reversible.buffered', 'found'],
      ['reversible.buffered', 'held'],
      ['irreversible.buffered', 'gone'],
      ['irreversible.buffered', 'no letter'],
    ]);
    expect(outcome.effects).toBe('needs_human');
    const lefts = await at.left();
    expect(lefts.map(({ n, phase }) => [n, phase])).toEqual([
      [0, 'in_doubt'],
      [2, 'in_doubt'],
      [3, 'unresolved'],
    ]);
    const [{ epoch } = { epoch: 0 }] = lefts;
    await at.assize.resolveEffect({ ...FOUND, epoch, n: 0, as: 'applied' });
    await expectEffectLogMatches(at.store, 't', lefts.slice(1));
    // The scopes of the applied effects are free, so nothing there is compensated any more.
    await at.assize.resolveEffect({ ...FOUND, epoch, n: 3, as: 'retry' });
    expect(at.standing()).toEqual(['found', 'held']);
    await at.assize.resolveEffect({ ...FOUND, epoch, n: 2, as: 'undone' });
    const again = await at.assize.resolveEffect({ ...FOUND, epoch, n: 3, as: 'retry' });
    expect(again).toMatchObject({ phase: 'unresolved', transaction: 'committed', unresolved: 1 });
    const ended = await at.assize.resolveEffect({ ...FOUND, epoch, n: 3, as: 'undone' });
    expect(ended).toMatchObject({ transaction: 'settled', unresolved: 0 });
    expect(at.standing()).toEqual(['found', 'held']);
    expect(await at.state()).toEqual({ o1: 1 });
    await at.told();
  });

  test('effects that fail after a decision each need another one', async () => {
    const at = await site('blind');
    const goes: Record<string, Fault> = { gone: 'lose_before' };
    at.fault = (of, what) =>
      of === 'do' ? (goes[what] ?? (what.startsWith('no') ? 'fail_for_good' : 'none')) : 'none';
    await at.order([
      ['irreversible.buffered', 'gone'],
      ['irreversible.buffered', 'no letter'],
      ['irreversible.buffered', 'no parcel'],
    ]);
    const [{ epoch } = { epoch: 0 }] = await at.left();
    await at.assize.resolveEffect({ ...FOUND, epoch, n: 0, as: 'undone' });
    expect(await at.assize.resolveEffect({ ...FOUND, epoch, n: 1, as: 'retry' })).toMatchObject({
      transaction: 'committed',
      unresolved: 2,
    });
    await at.assize.resolveEffect({ ...FOUND, epoch, n: 1, as: 'undone' });
    expect(await at.assize.resolveEffect({ ...FOUND, epoch, n: 2, as: 'residue' })).toMatchObject({
      phase: 'accepted',
      transaction: 'settled',
    });
    expect(at.sink.log).toEqual([]);
    await at.told();
  });
});

test('a repeat by name returns the failure, even if it committed no entry', async () => {
  const at = await site();
  const again = () => at.order([REFUSED], 'throws', 'order 1');
  expect([(await again()).effects, (await again()).effects]).toEqual([
    'needs_human',
    'needs_human',
  ]);
  const [left] = await at.left();
  await at.assize.resolveEffect({ ...FOUND, epoch: left!.epoch, n: 0, as: 'residue' });
  const last = await again();
  expect([last.effects, last.failure]).toEqual(['failed', undefined]);
  await at.told();
});

test('a proposal under a key reserved for the runtime’s proposals is refused', async () => {
  const at = await site();
  const trajectory = await at.assize.open('t');
  const { ruling } = await at.order([], 'o1');
  const { id } = (ruling as Extract<Ruling, { ruling: 'committed' }>).entry;
  const propose = (idempotencyKey: string) =>
    trajectory.propose({
      action: 'count',
      role: 'counter',
      args: 'x',
      writ,
      idempotencyKey,
    } as never);
  for (const key of ['transaction:order 1', `failure:${id}`, 'failure:'])
    await expect(propose(key)).rejects.toMatchObject({
      code: 'bad_intent',
      message: expect.stringContaining('key'),
    });
  expect(await propose(`my failure:${id}`)).toMatchObject({ ruling: 'committed' });
  expect(await at.state()).toEqual({ o1: 1, x: 1 });
  await at.told();
});

test('after its trajectory answered, a failure needs a human, in the log alone', async () => {
  const store = new MemoryStore();
  const holder = keysOf(5);
  const granted = writFor(holder.publicKey, { trajectory: 't', budget: { usd: 5 } });
  const sink = new OutsideSink('keyed');
  const goes = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  const fault = (of: 'do' | 'undo' | 'ask', what: string): Fault =>
    of === 'do' && what === 'no van' ? 'fail_for_good' : 'none';
  const tool = toolFor({ sink, steps: new Steps(), fault }, 'reversible', 'buffered');
  const { compensate } = tool.spec;
  const slow = {
    ...tool,
    spec: {
      ...tool.spec,
      compensate: async (...given: Parameters<NonNullable<typeof compensate>>) => {
        called.resolve();
        await goes.promise;
        return compensate!(...given);
      },
    },
  };
  const assize = runtimeOver(store, [orders], { tools: [slow] });
  const parent = await assize.create(orders, { trajectoryId: 't', writs: [granted] });
  const child = await parent.delegations.delegate({
    writ: granted,
    privateKey: holder.privateKey,
    subject: 'helper',
    task: 'order',
    domain: orders,
    childTrajectoryId: 'c',
  } as never);
  const own = child.delegations.origin!.writ;
  const ordered = child.transaction({ writ: own, writes: ['test:**'] }, async (tx) => {
    await tx.call('reversible.buffered', { what: 'held' });
    await tx.call('reversible.buffered', { what: 'no van' });
    tx.propose({ action: 'order', role: 'counter', args: 'o1' });
  });
  await called.promise;
  await child.delegations.answer({ finalAnswer: 'done' });
  const { length } = await store.entries('c');
  goes.resolve();
  expect(await ordered).toMatchObject({ effects: 'needs_human' });
  expect(sink.standing('held')).toBe(0);
  const [left] = await assize.recoverEffects();
  expect(left).toMatchObject({ n: 1, phase: 'unresolved' });
  const ended = await assize.resolveEffect({ ...FOUND, epoch: left!.epoch, n: 1, as: 'undone' });
  expect(ended).toMatchObject({ transaction: 'settled' });
  await assize.close();
  expect(await store.entries('c')).toHaveLength(length);
  expect(await store.openEffects()).toEqual([]);
  for (const { fault: found } of await verifyStore(store)) expect(found).toBeUndefined();
});
