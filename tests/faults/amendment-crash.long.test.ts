import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Delivery, declareTool, type Reversibility, type Sink } from '#effects';
import { call, defineDomain } from '#kernel';
import { deepReplay } from '#replay';
import type { Assize, Ruling, UnresolvedEffect } from '#runtime';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { crashedTwice, OutlivingWorld } from '../support/tools/surviving-world.ts';

// A crash at every step of an amendment, also between its commit and its calls. The calls of the
// first proposal are never made.

const CLASSES: readonly (readonly [Reversibility, Delivery])[] = [
  ['reversible', 'externalised'],
  ['irreversible', 'buffered'],
];
const named = CLASSES.map(([reversibility, delivery]) =>
  declareTool({
    name: `${reversibility}.${delivery}`,
    input: z.strictObject({ what: z.string(), at: z.string().default('r') }),
    class: { reversibility, delivery, sink: 'keyed' },
    writes: ['test:{at}'],
    execute: () => {
      throw new Error('the domain executes no tool');
    },
    ...(reversibility === 'irreversible' ? {} : { compensate: () => ({ undone: 'all' as const }) }),
  }),
);

const amendable = defineDomain<any, any>({
  ...(tally.declared as any),
  name: 'amendable',
  unjudgedCalls: 'refuse',
  counselors: { boss: (principal: string) => principal === 'boss' },
  actions: {
    count: {
      ...(tally.declared as any).actions.count,
      calls: (_state: any, name: string) =>
        named.map((tool) => call(tool, { what: `${tool.name} ${name}` })),
    },
  },
});

class World extends OutlivingWorld {
  pending = '';

  constructor(sort: Sink) {
    super(sort, amendable, CLASSES);
  }

  override async begin(): Promise<this> {
    await super.begin();
    const assize = runtimeOver(this.store, [amendable], { tools: named });
    const trajectory = await assize.open('t');
    const writ = writFor('alice', { require_approval: ['count'] });
    const ruling = await trajectory.propose({
      action: 'count',
      role: 'counter',
      args: 'first',
      writ,
    } as never);
    if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
    this.pending = ruling.pending;
    await assize.close();
    return this;
  }

  async amend(assize: Assize): Promise<Ruling> {
    const trajectory = await assize.open('t');
    return trajectory.approvals.approve(this.pending, {
      principal: 'boss',
      method: 'desk',
      args: 'amended',
    });
  }

  async check(left: readonly UnresolvedEffect[], crashes = 1): Promise<void> {
    await expectEffectLogMatches(this.store, 't', left);
    const committed = await this.hasEntryWith('"amended"');
    for (const { name } of named) {
      expect(this.sink.times('do', `${name} first`)).toBe(0);
      const times = this.sink.times('do', `${name} amended`);
      if (!committed) expect(times).toBe(0);
      else if (left.length === 0) expect(times).toBe(1);
      else expect(times).toBeLessThanOrEqual(1);
    }
    if (this.sink.sort === 'blind') expect(left.length).toBeLessThanOrEqual(crashes);
    else expect(left).toEqual([]);
    expect((await deepReplay(this.store, 't', { domains: [amendable] })).differences).toEqual([]);
  }
}

describe.each(['keyed', 'queryable', 'blind'] as const)('with a %s sink', (sort) => {
  test('a crash at any step makes only the amended calls, after the commit', async () => {
    const outcomes = { committed: 0, nothing: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = await new World(sort).begin();
      const { isDead } = await world.process(endAt, (assize) => world.amend(assize));
      await world.check(await world.recovered());
      outcomes[(await world.hasEntryWith('"amended"')) ? 'committed' : 'nothing']++;
      if (!isDead) break;
    }
    expect(outcomes.committed).toBeGreaterThan(3);
    expect(outcomes.nothing).toBeGreaterThan(0);
  });

  test('and so does another crash at any step of the recovery', async () => {
    const begun = (): Promise<World> => new World(sort).begin();
    expect(await crashedTwice(begun, (world, assize) => world.amend(assize), 3)).toBeGreaterThan(5);
  });
});
