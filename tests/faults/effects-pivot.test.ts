import { describe, expect, test } from 'vitest';
import type { Sink } from '#effects';
import type { LeftEffect, Ruling } from '#runtime';
import { MemoryStore } from '#stores';
import { attended } from '../support/effects-ledger.ts';
import { type Outside, OutsideSink, Steps, storeOf, toolFor } from '../support/effects-stage.ts';
import { checkTold } from '../support/effects-told.ts';
import { runtimeOver, writFor } from '../support/runtime.ts';

// A crash at every step of what can be neither undone nor held: while it is put up, between approval and settlement, and again while
// that is gone on with. Read off the sink's own log: nothing before the approval, and once after it.

const SORTS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
const PIVOT = 'pivot';
const ALL = ['first', 'held', PIVOT];

class World {
  readonly store = new MemoryStore();
  readonly sink: OutsideSink;

  constructor(sort: Sink) {
    this.sink = new OutsideSink(sort);
  }

  static async begun(sort: Sink): Promise<World> {
    const world = new World(sort);
    await runtimeOver(world.store, [attended]).create(attended, { trajectoryId: 't' });
    return world;
  }

  async process<T>(endAt: number | undefined, live: (assize: ReturnType<typeof runtimeOver>) => Promise<T>) {
    const steps = new Steps(endAt);
    const outside: Outside = { sink: this.sink, steps };
    const tools = [
      toolFor(outside, 'irreversible', 'externalised'),
      toolFor(outside, 'irreversible', 'buffered'),
      toolFor(outside, 'reversible', 'buffered'),
    ];
    const assize = runtimeOver(storeOf(this.store, steps), [attended], { tools });
    const value = await Promise.race([live(assize), steps.ended.then(() => undefined)]);
    if (!steps.isDead) await Promise.race([assize.close(), steps.ended]);
    return { value, isDead: steps.isDead };
  }

  async putUp(assize: ReturnType<typeof runtimeOver>): Promise<void> {
    const trajectory = await assize.open('t');
    const options = { writ: writFor('alice'), writes: ['test:**'], name: 'order-1' };
    await trajectory.transaction(options, async (tx) => {
      await tx.call('irreversible.externalised', { what: PIVOT });
      await tx.call('irreversible.buffered', { what: 'held' });
      await tx.call('reversible.buffered', { what: 'first' });
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
  }

  /** Approves what waits, if anything does. */
  async approve(assize: ReturnType<typeof runtimeOver>): Promise<Ruling | undefined> {
    const trajectory = await assize.open('t');
    const waiting = trajectory.pending().find(({ payload }) => payload.reason === 'irreversible');
    return waiting && trajectory.approve(waiting.id, { principal: 'doc', method: 'test' });
  }

  async recovered(): Promise<readonly LeftEffect[]> {
    return (await this.process(undefined, (assize) => assize.recoverEffects())).value as readonly LeftEffect[];
  }

  async isApproved(): Promise<boolean> {
    return (await this.store.entries('t')).some(({ payload }) => payload.includes('"counselor"'));
  }

  /** What must hold when all was seen to that can be. */
  async check(left: readonly LeftEffect[], crashes: number): Promise<void> {
    await checkTold(this.store, 't', left);
    const times = ALL.map((what) => this.sink.times('do', what));
    if (!(await this.isApproved())) {
      expect([times, left]).toEqual([[0, 0, 0], []]);
      return;
    }
    if (left.length === 0) expect(times).toEqual([1, 1, 1]);
    if (this.sink.sort !== 'blind') expect(left).toEqual([]);
    expect(left.length).toBeLessThanOrEqual(crashes);
    expect(Math.max(...times)).toBeLessThanOrEqual(1);
    // It comes after all else, and after what a person has to look at.
    const done = this.sink.log.filter(({ did }) => did === 'do').map(({ what }) => what);
    if (done.includes(PIVOT)) expect(done).toEqual(ALL);
  }
}

describe.each(SORTS)('with a %s sink', (sort) => {
  test('a crash at any step of putting it up and approving it calls it once, and never before it is approved', async () => {
    const seen = { waits: 0, nothing: 0, done: 0, left: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = await World.begun(sort);
      const { isDead } = await world.process(endAt, async (assize) => {
        await world.putUp(assize);
        expect(world.sink.log).toEqual([]);
        await world.approve(assize);
      });
      const left = await world.recovered();
      await world.check(left, 1);
      const isApproved = await world.isApproved();
      const entries = await world.store.entries('t');
      seen[isApproved ? (left.length > 0 ? 'left' : 'done') : entries.length > 1 ? 'waits' : 'nothing']++;
      // Whoever has lost it repeats it, and a person approves it, once.
      await world.process(undefined, (assize) => world.putUp(assize).catch(() => undefined));
      await world.process(undefined, (assize) => world.approve(assize));
      await world.check(await world.recovered(), 1);
      expect(await world.isApproved()).toBe(true);
      if (!isDead) break;
    }
    expect([seen.waits, seen.nothing, seen.done].every((times) => times > 0)).toBe(true);
    expect(seen.left > 0).toBe(sort === 'blind');
  });

  test('and so does another crash at any step of the recovery', async () => {
    let twice = 0;
    for (let endAt = 1; ; endAt++) {
      let wasDead = false;
      for (let again = 1; ; again++) {
        const world = await World.begun(sort);
        await world.process(undefined, (assize) => world.putUp(assize));
        ({ isDead: wasDead } = await world.process(endAt, (assize) => world.approve(assize)));
        if (!wasDead) break;
        const { isDead } = await world.process(again, (assize) => assize.recoverEffects());
        await world.check(await world.recovered(), 2);
        if (!isDead) break;
        twice++;
      }
      if (!wasDead) break;
    }
    expect(twice).toBeGreaterThan(10);
  });
});
