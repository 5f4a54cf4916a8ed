import { describe, expect, test } from 'vitest';
import { readTransaction, type Sink } from '#effects';
import type { Assize, UnresolvedEffect } from '#runtime';
import { writFor } from '../support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import { asking } from '../support/tools/ledger-with-effects.ts';
import { crashedTwice, OutlivingWorld } from '../support/tools/surviving-world.ts';

// A crash at every step of a transaction that has acted and becomes pending. It is during the
// compensation, during the repeated calls after the approval, or during any resumption of these.
// The test reads the sink's own log: no unapproved effect stands.

const SORTS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
const ACTED = ['one', 'two'];

class World extends OutlivingWorld {
  constructor(sort: Sink) {
    super(sort, asking, [
      ['reversible', 'externalised'],
      ['irreversible', 'buffered'],
    ]);
  }

  async putUp(assize: Assize): Promise<void> {
    const trajectory = await assize.open('t');
    const options = { writ: writFor('alice'), writes: ['test:**'], name: 'order-1' };
    await trajectory.transaction(options, async (tx) => {
      await tx.call('reversible.externalised', { what: 'one' });
      await tx.call('irreversible.buffered', { what: 'held' });
      await tx.call('reversible.externalised', { what: 'two' });
      tx.propose({ action: 'count', role: 'counter', args: 'asked' });
    });
  }

  /**
   * Approves the pending proposal, if there is one, or rejects it if an approval is no longer
   * possible. Effects in doubt need a separate decision.
   */
  async decide(assize: Assize): Promise<void> {
    const trajectory = await assize.open('t');
    const waiting = trajectory.approvals
      .pending()
      .find(({ payload }) => payload.reason === 'invariant_escalated');
    if (waiting === undefined) return;
    const doctor = { principal: 'doc', method: 'test' };
    try {
      await trajectory.approvals.approve(waiting.id, { ...doctor, override: true });
    } catch (error) {
      const { code } = error as { code: string };
      if (code !== 'changed_since' && code !== 'resource_in_doubt') throw error;
      await trajectory.approvals.reject(waiting.id, { ...doctor, reason: code });
    }
  }

  isApproved(): Promise<boolean> {
    return this.hasEntryWith('"detection_vector":[{');
  }

  pendings(): Promise<number> {
    return this.entriesWith('"invariant_escalated"');
  }

  /**
   * Attempts that are compensated because they are pending, as the log records with the entry that
   * submits them.
   */
  async escalated(): Promise<number> {
    const logged = await Promise.all(
      Array.from({ length: 20 }, (_, n) => this.store.effectsOf(n + 1)),
    );
    return logged.filter(
      (each) => each !== undefined && readTransaction(each).cause === 'escalated',
    ).length;
  }

  async check(left: readonly UnresolvedEffect[], crashes: number): Promise<'approved' | 'not'> {
    await expectEffectLogMatches(this.store, 't', left);
    expect(await this.escalated()).toBe(await this.pendings());
    const isApproved = await this.isApproved();
    const doubtful = new Set(left.map(({ key }) => key));
    if (this.sink.sort !== 'blind') expect(left).toEqual([]);
    expect(left.length).toBeLessThanOrEqual(crashes);
    for (const what of ACTED) {
      const certain = this.sink.log.filter((each) => each.what === what && !doubtful.has(each.key));
      const standing = certain.reduce(
        (sum, { did }) => sum + (did === 'do' ? 1 : did === 'undo' ? -1 : 0),
        0,
      );
      const isSure = !left.some(({ key }) =>
        this.sink.log.some((each) => each.key === key && each.what === what),
      );
      if (isSure) expect(standing).toBe(isApproved ? 1 : 0);
    }
    expect(this.sink.times('do', 'held')).toBeLessThanOrEqual(isApproved ? 1 : 0);
    if (isApproved && left.length === 0) expect(this.sink.times('do', 'held')).toBe(1);
    return isApproved ? 'approved' : 'not';
  }
}

describe.each(SORTS)('with a %s sink', (sort) => {
  test('a crash at any step leaves the approved work whole or absent', async () => {
    const seen = { approved: 0, not: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = await new World(sort).begin();
      const { isDead } = await world.process(endAt, async (assize) => {
        await world.putUp(assize);
        await world.decide(assize);
      });
      await world.check(await world.recovered(), 1);
      // A caller that lost the transaction repeats it, and an approver decides.
      await world.process(undefined, (assize) => world.putUp(assize).catch(() => undefined));
      await world.process(undefined, (assize) => world.decide(assize));
      seen[await world.check(await world.recovered(), 1)]++;
      if (!isDead) break;
    }
    // An effect that was called again before a crash is not called another time: it must be
    // proposed again.
    expect(seen.approved).toBeGreaterThan(10);
    expect(seen.not).toBeGreaterThan(2);
  });

  test('and so does another crash at any step of the recovery', async () => {
    const begun = (): Promise<World> => new World(sort).begin();
    const twice = await crashedTwice(begun, async (world, assize) => {
      await world.putUp(assize);
      await world.decide(assize);
    });
    expect(twice).toBeGreaterThan(20);
  });
});
