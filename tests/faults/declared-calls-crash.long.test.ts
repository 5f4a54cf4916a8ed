import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Delivery, declareTool, type Reversibility, type Sink } from '#effects';
import { call, defineDomain, reject } from '#kernel';
import { deepReplay } from '#replay';
import type { Assize, Ruling, UnresolvedEffect } from '#runtime';
import { writFor } from '../support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { crashedTwice, OutlivingWorld } from '../support/tools/surviving-world.ts';

// A crash at every step of a proposal whose action declares calls of every class except the
// pivot's, and again at every step of the recovery. The sink's own log must equal the ledger.

const SORTS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
const CLASSES: readonly (readonly [Reversibility, Delivery])[] = [
  ['reversible', 'externalised'],
  ['with_cost', 'externalised'],
  ['reversible', 'buffered'],
  ['with_cost', 'buffered'],
  ['irreversible', 'buffered'],
];
const nameOf = ([reversibility, delivery]: (typeof CLASSES)[number]): string =>
  `${reversibility}.${delivery}`;

/** The domain names each tool by an object of its own; a process executes its tool of that name. */
const named = CLASSES.map((kind) =>
  declareTool({
    name: nameOf(kind),
    input: z.strictObject({ what: z.string(), at: z.string().default('r') }),
    class: { reversibility: kind[0], delivery: kind[1], sink: 'keyed' },
    writes: ['test:{at}'],
    execute: () => {
      throw new Error('the domain executes no tool');
    },
    ...(kind[0] === 'irreversible' ? {} : { compensate: () => ({ undone: 'all' as const }) }),
  }),
);

const declaring = defineDomain<any, any>({
  ...(tally.declared as any),
  name: 'declaring',
  unjudgedCalls: 'refuse',
  actions: {
    count: {
      ...(tally.declared as any).actions.count,
      calls: ({ done }: any, name: string) =>
        named.map((tool) => call(tool, { what: `${tool.name} ${done[name]}` })),
    },
  },
  invariants: ({ each }: any) => [
    each('ONCE', '/done/*', {}, (n: number) =>
      n > 1 ? reject('it is done already') : { result: 'pass' },
    ),
  ],
});

/** `risk` fails for good after its commit, and the action for the failure declares a call there. */
const failing = defineDomain<any, any>({
  ...(tally.declared as any),
  name: 'failing',
  unjudgedCalls: 'refuse',
  actions: {
    risk: {
      ...(tally.declared as any).actions.count,
      calls: () => [call(named[2]!, { what: 'refused' })],
      onFailure: (name: string) => ({ action: 'repair', args: `${name} repaired` }),
    },
    repair: {
      ...(tally.declared as any).actions.count,
      calls: () => [call(named[2]!, { what: 'repaired' })],
    },
  },
});

const CALLS = CLASSES.map((kind) => `${nameOf(kind)} 1`);

class World extends OutlivingWorld {
  constructor(sort: Sink) {
    super(sort, declaring, CLASSES);
  }

  async propose(assize: Assize, idempotencyKey?: string): Promise<Ruling> {
    const trajectory = await assize.open('t');
    const writ = writFor('alice');
    const key = idempotencyKey === undefined ? {} : { idempotencyKey };
    return trajectory.propose({
      action: 'count',
      role: 'counter',
      args: 'order',
      writ,
      ...key,
    } as never);
  }

  isCommitted(): Promise<boolean> {
    return this.hasEntryWith('"args":"order"');
  }

  async check(left: readonly UnresolvedEffect[], crashes = 1): Promise<void> {
    await expectEffectLogMatches(this.store, 't', left);
    const committed = await this.isCommitted();
    for (const what of CALLS) {
      const times = this.sink.times('do', what);
      if (!committed) expect([what, times]).toEqual([what, 0]);
      else if (left.length === 0)
        expect([what, times, this.sink.standing(what)]).toEqual([what, 1, 1]);
      else expect(times).toBeLessThanOrEqual(1);
    }
    if (this.sink.sort === 'blind') expect(left.length).toBeLessThanOrEqual(crashes);
    else expect(left).toEqual([]);
    const deep = await deepReplay(this.store, 't', { domains: [declaring] });
    expect(deep.differences).toEqual([]);
  }
}

describe.each(SORTS)('with a %s sink', (sort) => {
  test('a crash at any step leaves no call before the commit, and all once after', async () => {
    const outcomes = { committed: 0, nothing: 0 };
    for (let endAt = 1; ; endAt++) {
      const world = new World(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) => world.propose(assize));
      await world.check(await world.recovered());
      outcomes[(await world.isCommitted()) ? 'committed' : 'nothing']++;
      if (!isDead) break;
    }
    expect(outcomes.committed).toBeGreaterThan(5);
    expect(outcomes.nothing).toBeGreaterThan(0);
  });

  test('and so does another crash at any step of the recovery', async () => {
    const begun = (): Promise<World> => new World(sort).begin();
    const twice = await crashedTwice(begun, (world, assize) => world.propose(assize), 5);
    expect(twice).toBeGreaterThan(10);
  });

  test('a repeated key after a crash commits once and makes each call once', async () => {
    for (let endAt = 1; ; endAt++) {
      const world = new World(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) => world.propose(assize, 'k'));
      const left = await world.recovered();
      const { value } = await world.process(undefined, (assize) =>
        world.propose(assize, 'k').catch((e) => e.code),
      );
      if (left.length === 0)
        expect(value).toMatchObject({ ruling: 'committed', effects: 'settled' });
      await world.check(left);
      expect(await world.entriesWith('"args":"order"')).toBeLessThanOrEqual(1);
      if (!isDead) break;
    }
  });
});

class FailingWorld extends OutlivingWorld {
  constructor(sort: Sink) {
    super(sort, failing, CLASSES);
    this.fault = (of, what) => (of === 'do' && what === 'refused' ? 'fail_for_good' : 'none');
  }

  async propose(assize: Assize): Promise<Ruling> {
    const trajectory = await assize.open('t');
    return trajectory.propose({
      action: 'risk',
      role: 'counter',
      args: 'order',
      writ: writFor('alice'),
    } as never);
  }

  async check(left: readonly UnresolvedEffect[]): Promise<void> {
    await expectEffectLogMatches(this.store, 't', left);
    const [risked, repaired] = await Promise.all(
      ['"args":"order"', '"args":"order repaired"'].map((words) => this.hasEntryWith(words)),
    );
    // A keyed sink that refuses after a crash may have made the call before it.
    if (this.sink.sort === 'queryable') expect(left).toEqual([]);
    const isRepaired = risked && left.length === 0;
    const made = [this.sink.times('do', 'repaired'), this.sink.times('do', 'refused')];
    expect([repaired, ...made]).toEqual([isRepaired, isRepaired ? 1 : 0, 0]);
  }
}

describe.each(['keyed', 'queryable'] as const)('with a %s sink that refuses for good', (sort) => {
  test('the action for the failure makes its call at the same place, once', async () => {
    let committed = 0;
    for (let endAt = 1; ; endAt++) {
      const world = new FailingWorld(sort);
      await world.begin();
      const { isDead } = await world.process(endAt, (assize) => world.propose(assize));
      await world.check(await world.recovered());
      if (await world.hasEntryWith('"args":"order"')) committed++;
      if (!isDead) break;
    }
    expect(committed).toBeGreaterThan(5);
  });
});
