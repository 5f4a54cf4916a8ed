import type { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test, vi } from 'vitest';
import {
  type Decision,
  EFFECT_ATTEMPTS,
  type EffectPhase,
  isUnresolved,
  nextStep,
  readTransaction,
  type Sink,
} from '#effects';
import type { Domain } from '#kernel';
import { type Assize, type TransactionOutcome, type UnresolvedEffect, verifyStore } from '#runtime';
import { operatorWrit, writFor } from '../support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { orders } from '../support/tools/orders.ts';
import { crashedTwice, OutlivingWorld } from '../support/tools/surviving-world.ts';

// A crash at every step of a transaction with effects of every class except the pivot's
// (effects-pivot.test.ts), and again at every step of its recovery. The test reads the outcomes
// from the sink's own log, and they must equal the ledger.

const SORTS: readonly Sink[] = ['keyed', 'queryable', 'blind'];

/**
 * The effects of one transaction: compensated if it has no commit, and buffered until it has one.
 */
const ACTED = ['acted', 'acted at a cost', 'acted too'] as const;
const HELD = ['held', 'held and costs', 'held for good'] as const;

class World extends OutlivingWorld {
  constructor(sort: Sink, domain: Domain = tally) {
    super(sort, domain, [
      ['reversible', 'externalised'],
      ['with_cost', 'externalised'],
      ['reversible', 'buffered'],
      ['with_cost', 'buffered'],
      ['irreversible', 'buffered'],
    ]);
  }

  transact(
    assize: Assize,
    name?: string,
    ends: 'committed' | 'rejected' | 'thrown' = 'committed',
  ): Promise<TransactionOutcome<unknown>> {
    return assize.open('t').then((trajectory) =>
      trajectory.transaction(
        { writ: writFor('alice'), writes: ['test:**'], ...(name === undefined ? {} : { name }) },
        async (tx) => {
          await tx.call('reversible.externalised', { what: 'acted' });
          await tx.call('reversible.buffered', { what: 'held' });
          await tx.call('with_cost.externalised', { what: 'acted at a cost' });
          await tx.call('with_cost.buffered', { what: 'held and costs' });
          await tx.call('irreversible.buffered', { what: 'held for good' });
          await tx.call('reversible.externalised', { what: 'acted too' });
          if (ends === 'thrown') throw new Error('it is not to be');
          tx.propose({
            action: 'count',
            role: 'counter',
            args: ends === 'rejected' ? 'forbidden' : 'order',
          });
        },
      ),
    );
  }

  isCommitted(): Promise<boolean> {
    return this.hasEntryWith('"args":"order"');
  }

  /** Checked from the sink alone, except for unresolved effects. */
  async check(left: readonly UnresolvedEffect[], crashes = 1): Promise<void> {
    await expectEffectLogMatches(this.store, 't', left);
    const committed = await this.isCommitted();
    if (this.sink.sort !== 'blind') {
      expect(left).toEqual([]);
      for (const what of [...ACTED, ...HELD])
        expect([what, this.sink.standing(what)]).toEqual([what, committed ? 1 : 0]);
      for (const what of HELD)
        expect([what, this.sink.times('do', what)]).toEqual([what, committed ? 1 : 0]);
      return;
    }
    // The outcome is unknown, so no effect runs twice, and each crash leaves at most one in doubt.
    expect(left.length).toBeLessThanOrEqual(crashes);
    for (const what of [...ACTED, ...HELD])
      expect(this.sink.times('do', what)).toBeLessThanOrEqual(1);
    if (left.length === 0)
      for (const what of [...ACTED, ...HELD])
        expect([what, this.sink.standing(what)]).toEqual([what, committed ? 1 : 0]);
    if (!committed) for (const what of HELD) expect(this.sink.times('do', what)).toBe(0);
  }
}

/** Whether an open transaction can continue without a human decision. */
async function canGoOn(store: MemoryStore): Promise<boolean> {
  const open = (await store.openEffects()).map(readTransaction);
  return open.some(
    ({ state }) =>
      nextStep(state, { hasBody: false, isInFlight: () => false, maxAttempts: EFFECT_ATTEMPTS })
        .do !== 'wait',
  );
}

/** The unresolved effects, by the log alone. */
async function leftIn(assize: Assize): Promise<UnresolvedEffect[]> {
  const open = await assize.effects();
  return open.flatMap(({ epoch, trajectoryId, effects }) =>
    effects.flatMap(({ n, tool, key, phase }) =>
      isUnresolved(phase as EffectPhase)
        ? [{ epoch, trajectoryId, n, tool, key, phase, claims: [] }]
        : [],
    ),
  );
}

describe.each(SORTS)('with a %s sink', (sort) => {
  test('without a crash all is done once', async () => {
    const world = new World(sort);
    await world.begin();
    const { value } = await world.process(undefined, (assize) => world.transact(assize));
    expect(value).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    await world.check(await world.recovered());
    expect(await world.isCommitted()).toBe(true);
  });

  test('a crash at any step leaves all effects or none, unrelated work continues', async () => {
    const outcomes = { committed: 0, undone: 0, left: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = new World(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) => world.transact(assize));
      if (!isDead) break;
      const { value: left = [] } = await world.process(undefined, async (assize) => {
        const trajectory = await assize.open('t');
        // The transaction does not wait for the unresolved effects, because its scopes are
        // different.
        const other = await trajectory.transaction(
          { writ: writFor('bob'), writes: ['other:x'] },
          (tx) => tx.propose({ action: 'count', role: 'counter', args: 'other' }),
        );
        expect(other.ruling.ruling).toBe('committed');
        return assize.recoverEffects();
      });
      await world.check(left);
      outcomes[left.length > 0 ? 'left' : (await world.isCommitted()) ? 'committed' : 'undone']++;
    }
    expect(outcomes.committed).toBeGreaterThan(0);
    expect(outcomes.undone).toBeGreaterThan(0);
    expect(outcomes.left > 0).toBe(sort === 'blind');
  });

  test('opening the trajectory with the tools starts and finishes the recovery', async () => {
    let recoveries = 0;
    for (let endAt = 1; ; endAt++) {
      const world = new World(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) => world.transact(assize));
      if (!isDead) break;
      const wasOpen = (await world.store.openEffects()).length > 0;
      const { value: left = [] } = await world.process(undefined, async (assize) => {
        await assize.open('t');
        await vi.waitFor(async () => expect(await canGoOn(world.store)).toBe(false), {
          interval: 1,
          timeout: 300_000,
        });
        return leftIn(assize);
      });
      await world.check(left as readonly UnresolvedEffect[]);
      if (wasOpen) recoveries++;
    }
    expect(recoveries).toBeGreaterThan(10);
  });

  test('and so does another crash at any step of the recovery', async () => {
    const begun = (): Promise<World> => new World(sort).begin();
    const twice = await crashedTwice(begun, (world, assize) => world.transact(assize));
    expect(twice).toBeGreaterThan(10);
  });

  test('a possible compensation before a crash is in doubt if refused afterwards', async () => {
    const outcomes = { undone: 0, in_doubt: 0, unresolved: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = new World(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, async (assize) => {
        const trajectory = await assize.open('t');
        const options = { writ: writFor('alice'), writes: ['test:**'], retries: 0 };
        const made = trajectory.transaction(options, async (tx) => {
          await tx.call('reversible.externalised', { what: 'acted' });
          throw new Error('no');
        });
        await made.catch(() => undefined);
      });
      if (!isDead) break;
      world.fault = (of) => (of === 'undo' ? 'fail_for_good' : 'none');
      const [left] = await world.recovered();
      if (left?.phase !== 'in_doubt')
        expect(world.sink.standing('acted')).toBe(left?.phase === 'unresolved' ? 1 : 0);
      outcomes[(left?.phase ?? 'undone') as keyof typeof outcomes]++;
    }
    expect(outcomes.undone).toBeGreaterThan(0);
    // A sink that answers questions leaves no effect in doubt.
    expect(outcomes.in_doubt > 0).toBe(sort !== 'queryable');
  });

  test.each(['thrown', 'rejected'] as const)(
    'an attempt that is %s leaves one entry, after any number of crashes',
    async (ends) => {
      const said = { ruling: 0, acts: 0, nothing: 0 };
      for (let endAt = 1; ; endAt++) {
        const world = new World(sort);
        await world.begin();
        const { isDead } = await world.process(endAt, (assize) =>
          world.transact(assize, undefined, ends).catch(() => undefined),
        );
        await world.process(isDead ? (endAt % 7) + 1 : undefined, (assize) =>
          assize.recoverEffects(),
        );
        await world.check(await world.recovered(), 2);
        const entries = (await world.store.entries('t')).filter(({ kind }) => kind === 'rejection');
        expect(entries.length).toBeLessThanOrEqual(1);
        const [entry] = entries;
        said[
          entry === undefined
            ? 'nothing'
            : entry.payload.includes('effect_failed')
              ? 'acts'
              : 'ruling'
        ]++;
        if (!isDead) break;
      }
      // After most crashes, the outcome at a blind sink is unknown.
      if (sort !== 'blind') expect(said.acts).toBeGreaterThan(3);
      expect(said.nothing).toBeGreaterThan(0);
      expect(said.ruling > 0).toBe(ends === 'rejected');
    },
  );

  test('a named transaction that is repeated after a crash is executed once', async () => {
    for (let endAt = 1; ; endAt++) {
      const world = new World(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) => world.transact(assize, 'order-1'));
      if (!isDead) break;
      const left = await world.recovered();
      const { value } = await world.process(undefined, (assize) =>
        world.transact(assize, 'order-1').catch((error: { code?: string }) => error.code),
      );
      if (left.length > 0) {
        // An effect in doubt is not executed again.
        const committed = await world.isCommitted();
        if (committed) expect(value).toMatchObject({ ruling: { ruling: 'committed' } });
        else expect(value).toBe('resource_in_doubt');
        continue;
      }
      expect(value).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
      const entries = await world.store.entries('t');
      expect(entries.filter(({ payload }) => payload.includes('"args":"order"'))).toHaveLength(1);
      await expectEffectLogMatches(world.store, 't', []);
      for (const what of [...ACTED, ...HELD])
        expect([what, world.sink.standing(what)]).toEqual([what, 1]);
    }
  });
});

const DONE = {
  acted: 'acted',
  held: 'held',
  refused: 'no van',
  later: 'another van',
  letter: 'a letter',
} as const;

/** An order whose van is never available, so that it fails for good after the commit. */
class FailingWorld extends World {
  constructor(sort: Sink) {
    super(sort, orders);
    this.fault = (of, what) => (of === 'do' && what === DONE.refused ? 'fail_for_good' : 'none');
  }

  override async transact(assize: Assize, name = 'order', _ends?: unknown, args = 'o1') {
    const trajectory = await assize.open('t');
    return trajectory.transaction(
      { writ: writFor('alice'), writes: ['test:**'], name },
      async (tx) => {
        await tx.call('reversible.externalised', { what: DONE.acted });
        await tx.call('reversible.buffered', { what: DONE.held });
        await tx.call('with_cost.buffered', { what: DONE.refused });
        await tx.call('with_cost.buffered', { what: DONE.later });
        await tx.call('irreversible.buffered', { what: DONE.letter });
        tx.propose({ action: 'order', role: 'counter', args });
      },
    );
  }

  override async isCommitted(): Promise<boolean> {
    return (await this.answers('o1')) > 0;
  }

  /** Commits of an action with these arguments. */
  async answers(args: string): Promise<number> {
    const entries = await this.store.entries('t');
    return entries.filter(
      ({ kind, payload }) => kind === 'commit' && payload.includes(`"args":"${args}"`),
    ).length;
  }

  /** A sink took back what it did as often as it did it, and nothing is answered for twice. */
  async checkAnswered(): Promise<void> {
    expect(await this.answers('no o1')).toBe(1);
    for (const what of Object.values(DONE))
      expect([what, this.sink.standing(what)]).toEqual([what, 0]);
  }

  /**
   * No effect stands, and the failure is handled once, except for unresolved effects. After a
   * crash, only a sink that can be asked reports whether a call reached it before the refusal.
   */
  async checkFailed(left: readonly UnresolvedEffect[], crashes = 1): Promise<void> {
    await expectEffectLogMatches(this.store, 't', left);
    expect(left.length).toBeLessThanOrEqual(this.sink.sort === 'queryable' ? 0 : crashes);
    const isLeft = left.length > 0;
    expect(await this.answers('no o1')).toBe((await this.isCommitted()) && !isLeft ? 1 : 0);
    for (const what of Object.values(DONE)) {
      expect(this.sink.times('do', what)).toBeLessThanOrEqual(1);
      if (!isLeft) expect([what, this.sink.standing(what)]).toEqual([what, 0]);
    }
    if (!isLeft)
      for (const what of [DONE.later, DONE.letter]) expect(this.sink.times('do', what)).toBe(0);
    for (const { phase } of left) expect(phase).toBe('in_doubt');
    expect((await verifyStore(this.store)).map(({ fault }) => fault)).toEqual([undefined]);
  }
}

describe.each(SORTS)('an order that fails for good after its commit, with a %s sink', (sort) => {
  test('without a crash is undone, and answered for', async () => {
    const world = new FailingWorld(sort);
    await world.begin();
    const { value } = await world.process(undefined, (assize) => world.transact(assize));
    expect(value).toMatchObject({ effects: 'failed', failure: { ruling: 'committed' } });
    await world.checkFailed(await world.recovered());
  });

  test('also after a crash at any step, and another one during its recovery', async () => {
    const outcomes = { answered: 0, undone: 0, left: 0, twice: 0 };
    for (let endAt = 1; ; endAt++) {
      let wasDead = false;
      for (let again = 1; ; again++) {
        const world = new FailingWorld(sort);
        await world.begin();
        ({ isDead: wasDead } = await world.process(endAt, (assize) => world.transact(assize)));
        if (!wasDead) break;
        const { isDead } = await world.process(again, (assize) => assize.recoverEffects());
        const left = await world.recovered();
        await world.checkFailed(left, isDead ? 2 : 1);
        outcomes[left.length > 0 ? 'left' : (await world.isCommitted()) ? 'answered' : 'undone']++;
        if (!isDead) break;
        outcomes.twice++;
      }
      if (!wasDead) break;
    }
    expect(outcomes.answered).toBeGreaterThan(10);
    expect(outcomes.undone).toBeGreaterThan(0);
    expect(outcomes.twice).toBeGreaterThan(20);
    expect(outcomes.left > 0).toBe(sort !== 'queryable');
  });

  test('is reported as failed to a caller that repeats its name after a crash', async () => {
    for (let endAt = 1; ; endAt++) {
      const world = new FailingWorld(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) => world.transact(assize));
      const left = await world.recovered();
      if (left.length === 0) {
        const { value } = await world.process(undefined, (assize) => world.transact(assize));
        expect(value).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'failed' });
        expect(value).toMatchObject({ failure: { ruling: 'committed' } });
        await world.checkAnswered();
      }
      if (!isDead) break;
    }
  });

  test('is unresolved if its failure handling is refused, after any crash', async () => {
    for (let endAt = 1; ; endAt++) {
      const world = new FailingWorld(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) =>
        world.transact(assize, 'order', undefined, 'bad'),
      );
      const left = await world.recovered();
      await expectEffectLogMatches(world.store, 't', left);
      expect(await world.answers('forbidden')).toBe(0);
      if ((await world.answers('bad')) > 0) expect(left.length).toBeGreaterThan(0);
      const isInDoubt = left.some(({ phase }) => phase === 'in_doubt');
      expect(isInDoubt && sort === 'queryable').toBe(false);
      if (!isInDoubt)
        for (const what of Object.values(DONE)) expect(world.sink.standing(what)).toBe(0);
      if (!isDead) break;
    }
  });
});

test.each<Decision>(['applied', 'undone', 'retry', 'residue'])(
  'a crash at any step of a decision as %s leaves it made, or repeatable',
  async (as) => {
    const WHAT = 'held for good';
    const found = { by: 'ops', writ: operatorWrit(), evidence: 'seen at the sink' };
    const outcomes = { decided: 0, again: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = new World('blind');
      await world.begin();
      world.fault = (of, what) => (of === 'do' && what === WHAT ? 'lose_before' : 'none');
      await world.process(undefined, (assize) => world.transact(assize));
      world.fault = () => 'none';
      const [left] = await world.recovered();
      const { epoch, n } = left!;
      const { isDead } = await world.process(endAt, (assize) =>
        assize.resolveEffect({ ...found, epoch, n, as, confirm: true }),
      );
      const after = await world.recovered();
      await expectEffectLogMatches(world.store, 't', after);
      outcomes[after.length > 0 ? 'again' : 'decided']++;
      if (after.length > 0) {
        // The operator states the real content of the sink.
        const is = world.sink.standing(WHAT) === 1 ? 'applied' : 'undone';
        await world.process(undefined, (assize) =>
          assize.resolveEffect({ ...found, epoch, n, as: is }),
        );
      }
      expect(await world.recovered()).toEqual([]);
      await expectEffectLogMatches(world.store, 't', []);
      expect(world.sink.times('do', WHAT)).toBeLessThanOrEqual(as === 'retry' ? 1 : 0);
      for (const what of [...ACTED, ...HELD])
        if (what !== WHAT) expect([what, world.sink.standing(what)]).toEqual([what, 1]);
      if (isDead) continue;
      expect(world.sink.standing(WHAT)).toBe(as === 'retry' ? 1 : 0);
      break;
    }
    expect(outcomes.decided).toBeGreaterThan(0);
    expect(outcomes.again).toBeGreaterThan(0);
  },
);
