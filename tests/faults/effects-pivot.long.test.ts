import { describe, expect, test } from 'vitest';
import type { Sink } from '#effects';
import type { Assize, Ruling, UnresolvedEffect } from '#runtime';
import { writFor } from '../support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import { attended } from '../support/tools/ledger-with-effects.ts';
import { crashedTwice, OutlivingWorld } from '../support/tools/surviving-world.ts';

// A crash at every step of a pivot. A pivot can be neither compensated nor buffered: during
// submission, between approval and settlement, and again during resumption. The test reads the
// sink's own log: nothing before the approval, and one call after it.

const SORTS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
const PIVOT = 'pivot';
const ALL = ['first', 'held', PIVOT];

class World extends OutlivingWorld {
  constructor(sort: Sink) {
    super(sort, attended, [
      ['irreversible', 'externalised'],
      ['irreversible', 'buffered'],
      ['reversible', 'buffered'],
    ]);
  }

  async putUp(assize: Assize): Promise<void> {
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
  async approve(assize: Assize): Promise<Ruling | undefined> {
    const trajectory = await assize.open('t');
    const waiting = trajectory.approvals
      .pending()
      .find(({ payload }) => payload.reason === 'irreversible');
    return (
      waiting && trajectory.approvals.approve(waiting.id, { principal: 'doc', method: 'test' })
    );
  }

  isApproved(): Promise<boolean> {
    return this.hasEntryWith('"counselor"');
  }

  async check(left: readonly UnresolvedEffect[], crashes: number): Promise<void> {
    await expectEffectLogMatches(this.store, 't', left);
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
  test('a crash while submitting or approving a pivot calls it once, if approved', async () => {
    const seen = { waits: 0, nothing: 0, done: 0, left: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = await new World(sort).begin();
      const { isDead } = await world.process(endAt, async (assize) => {
        await world.putUp(assize);
        expect(world.sink.log).toEqual([]);
        await world.approve(assize);
      });
      const left = await world.recovered();
      await world.check(left, 1);
      const isApproved = await world.isApproved();
      const entries = await world.store.entries('t');
      seen[
        isApproved ? (left.length > 0 ? 'left' : 'done') : entries.length > 1 ? 'waits' : 'nothing'
      ]++;
      // A caller that lost the transaction repeats it, and an approver approves it, once.
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
    const putUp = async (): Promise<World> => {
      const world = await new World(sort).begin();
      await world.process(undefined, (assize) => world.putUp(assize));
      return world;
    };
    const twice = await crashedTwice(putUp, (world, assize) => world.approve(assize));
    expect(twice).toBeGreaterThan(10);
  });
});
