import type { Transaction } from 'assize/internal/runtime';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { operatorWrit } from '../../../../tests/support/ledger/runtime.ts';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { expectEffectLogMatches } from '../../../../tests/support/tools/check-effect-log.ts';
import {
  type CommitFault,
  PostgresStage,
  SqliteStage,
  type StagedDatabase,
} from '../../tests/support/sql-stage.ts';
import { NAMES, type Name, NOTHING, said, World } from '../../tests/support/sql-world.ts';

// The calls that a tool transaction buffers for a database run in one transaction there. An outside
// reader inspects every step of the process.

/** Beside each other in another order than the databases are. */
async function mixed(tx: Transaction): Promise<void> {
  await tx.call('a.note', { what: '1' });
  await tx.call('b.note', { what: '2' });
  await tx.call('reversible.buffered', { what: '3' });
  await tx.call('a.post', { what: '4' });
  await tx.call('b.note', { what: '5' });
  await tx.call('a.note', { what: '6' });
}
const DONE = { a: '1 4 6 / 3', b: '2 5 / 2' };

/**
 * The same on every database; where that takes long, the process ends at every so many of its
 * steps.
 */
function tests(open: () => Promise<StagedDatabase>, every = 1): void {
  let databases: Readonly<Record<Name, StagedDatabase>>;
  beforeAll(async () => {
    databases = { a: await open(), b: await open() };
  });
  afterAll(async () => {
    for (const name of NAMES) await databases[name][Symbol.asyncDispose]();
  });

  test('calls staged for a database appear there atomically, in call order', async () => {
    const world = await World.over(databases);
    const { value } = await world.transact(mixed);
    expect(value).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    for (const name of NAMES) expect([...world.seen[name]]).toEqual([NOTHING, DONE[name]]);
    expect(world.sink.log).toMatchObject([{ did: 'do', what: '3' }]);
  });

  test('a crash at any step leaves all calls once or none, never a visible part', async () => {
    const ends = new Set<string>();
    for (let endAt = 1; ; endAt += every) {
      const world = await World.over(databases);
      const { isDead } = await world.transact(mixed, { endAt });
      const left = await world.recovered();
      const isCommitted = await world.isCommitted();
      await expectEffectLogMatches(world.store, 't', left);
      for (const name of NAMES) {
        for (const seen of world.seen[name]) expect([NOTHING, DONE[name]]).toContain(seen);
        expect(said(await world.databases[name].look())).toBe(isCommitted ? DONE[name] : NOTHING);
      }
      expect([left, world.sink.standing('3')]).toEqual([[], isCommitted ? 1 : 0]);
      ends.add(`${isCommitted}`);
      if (!isDead) break;
    }
    expect(ends.size).toBe(2);
  });

  test('a commit with a lost answer is found by all of its keys', async () => {
    const world = await World.over(databases);
    world.databases.a.commits.push('lose');
    const { value } = await world.transact(mixed);
    expect(value).toMatchObject({ effects: 'settled' });
    for (const name of NAMES) expect([...world.seen[name]]).toEqual([NOTHING, DONE[name]]);
  });

  test('a permanently refused call blocks its database’s batch for a human', async () => {
    const world = await World.over(databases);
    const { value } = await world.transact(async (tx) => {
      await tx.call('a.note', { what: '1' });
      await tx.call('a.note', { what: 'bad', size: -1 });
      await tx.call('b.note', { what: '2' });
      await tx.call('a.post', { what: '3' });
    });
    expect(value).toMatchObject({ effects: 'needs_human' });
    const left = await world.recovered();
    expect(left).toMatchObject([{ n: 1, tool: 'a.note', phase: 'unresolved' }]);
    expect([[...world.seen.a], [...world.seen.b]]).toEqual([[NOTHING], [NOTHING, '2 / 1']]);
    await expectEffectLogMatches(world.store, 't', left);

    // Tried again, it is refused again, and still nothing is known to have been done.
    const decide = (as: 'retry' | 'residue') =>
      world.process(undefined, (assize) =>
        assize.resolveEffect({
          epoch: left[0]!.epoch,
          n: 1,
          as,
          by: 'ops',
          writ: operatorWrit(),
          evidence: 'looked',
        }),
      );
    expect((await decide('retry')).value).toMatchObject({ phase: 'unresolved', unresolved: 1 });
    expect([...world.seen.a]).toEqual([NOTHING]);
    expect((await decide('residue')).value).toMatchObject({ phase: 'accepted', unresolved: 0 });
    expect([...world.seen.a]).toEqual([NOTHING, '1 3 / 2']);
    await expectEffectLogMatches(world.store, 't', await world.recovered());
  });

  test('compensation after a failure is one batch, in reverse, at any crash', async () => {
    const body = async (tx: Transaction): Promise<void> => {
      await tx.call('a.note', { what: '1' });
      await tx.call('a.note', { what: '2' });
      await tx.call('b.note', { what: 'bad', size: -1 });
    };
    const STAGES = [NOTHING, '1 2 / 2', '1 2 un2 un1 / 0'];
    for (let endAt = 1; ; endAt += every) {
      const world = await World.over(databases);
      const { isDead } = await world.transact(body, { endAt, action: 'order' });
      const left = await world.recovered();
      const isCommitted = await world.isCommitted();
      for (const seen of world.seen.a) expect(STAGES).toContain(seen);
      if (left.length === 0) {
        const wanted = isCommitted ? [STAGES[0], STAGES[2]] : [STAGES[0]];
        expect(wanted).toContain(said(await world.databases.a.look()));
      } else {
        // A keyed sink that refuses after a crash: the outcome of the earlier call is unknown.
        expect(left.every(({ tool, phase }) => tool === 'b.note' && phase === 'in_doubt')).toBe(
          true,
        );
      }
      if (!isDead) {
        expect([left, [...world.seen.a], [...world.seen.b]]).toEqual([[], STAGES, [NOTHING]]);
        break;
      }
    }
  });

  // On a server that would only take longer.
  const atEachStep: typeof test | undefined = every === 1 ? test : undefined;
  atEachStep?.('a crash, and another one in the recovery from it, change nothing', async () => {
    const body = async (tx: Transaction): Promise<void> => {
      for (const tool of ['a.note', 'a.post']) await tx.call(tool, { what: tool });
    };
    let twice = 0;
    for (let endAt = 1; ; endAt += 3) {
      let wasDead = false;
      for (let again = 1; ; again += 2) {
        const world = await World.over(databases);
        ({ isDead: wasDead } = await world.transact(body, { endAt }));
        if (!wasDead) break;
        const { isDead } = await world.process(again, (assize) => assize.recoverEffects());
        expect(await world.recovered()).toEqual([]);
        const all = (await world.isCommitted()) ? [NOTHING, 'a.note a.post / 2'] : [NOTHING];
        expect([...world.seen.a]).toEqual(all);
        if (!isDead) break;
        twice++;
      }
      if (!wasDead) break;
    }
    expect(twice).toBeGreaterThan(10);
  });

  test('a process that has not the tool of one of them calls none', async () => {
    const world = await World.over(databases);
    world.databases.a.commits.push('fail', 'fail', 'fail');
    await world.transact(async (tx) => {
      await tx.call('a.note', { what: '1' });
      await tx.call('a.post', { what: '2' });
    });
    const [left] = await world.recovered();
    expect(left).toMatchObject({ n: 0, tool: 'a.note', phase: 'unresolved' });
    const decided = async (n: number, lacks: string) => {
      const resolution = {
        epoch: left!.epoch,
        n,
        as: 'retry',
        by: 'ops',
        writ: operatorWrit(),
        evidence: 'looked',
      } as const;
      return (await world.process(undefined, (assize) => assize.resolveEffect(resolution), lacks))
        .value;
    };
    expect(await decided(1, 'a.post')).toMatchObject({ unresolved: 1 });
    expect(await decided(0, 'a.post')).toMatchObject({ unresolved: 0 });
    expect([...world.seen.a]).toEqual([NOTHING]);
    await world.recovered();
    expect([...world.seen.a]).toEqual([NOTHING, '1 2 / 2']);
  });

  test('a process without the unresolved call’s tool does not call the others', async () => {
    const world = await World.over(databases);
    await world.transact(async (tx) => {
      await tx.call('a.note', { what: '1', size: -1 });
      await tx.call('a.post', { what: '2', size: 0 });
    });
    expect(await world.recovered()).toMatchObject([{ n: 0, tool: 'a.note', phase: 'unresolved' }]);
    await world.process(undefined, (assize) => assize.recoverEffects(), 'a.note');
    expect([...world.seen.a]).toEqual([NOTHING]);
    expect(await world.recovered()).toMatchObject([{ n: 0, phase: 'unresolved' }]);
  });

  test('an unchosen branch is never visible, the chosen one joins the batch', async () => {
    const world = await World.over(databases);
    await world.transact(async (tx) => {
      await tx.call('a.note', { what: '1' });
      await tx.speculate(
        ['x', 'y', 'z'].map((what) => (branch) => branch.call('a.note', { what })),
        () => 1,
      );
      await tx.call('a.note', { what: '2' });
    });
    expect([...world.seen.a]).toEqual([NOTHING, '1 y 2 / 3']);
  });

  test('any transaction ends as the model predicts, with no part ever visible', async () => {
    await fc.assert(
      fc.asyncProperty(transactions, async (wanted) => {
        const world = await World.over(databases);
        for (const name of NAMES) world.databases[name].commits.push(...wanted.faults[name]);
        await world.transact(
          async (tx) => {
            for (const [i, { on, isReversible, isBad }] of wanted.effects.entries())
              await tx.call(`${on}.${isReversible ? 'note' : 'post'}`, {
                what: `${i}`,
                size: isBad ? -1 : 0,
              });
            if (wanted.ends === 'throw') throw new Error('no');
          },
          { action: wanted.action },
        );
        const left = await world.recovered();
        const model = modelled(wanted);
        expect(left.map(({ n }) => n).sort()).toEqual(model.left);
        for (const name of NAMES) expect([...world.seen[name]]).toEqual(model.seen[name]);
        await expectEffectLogMatches(world.store, 't', left);
      }),
      { numRuns: cases(every === 1 ? 60 : 20) },
    );
  });
}

interface Wanted {
  readonly effects: readonly {
    readonly on: Name;
    readonly isReversible: boolean;
    readonly isBad: boolean;
  }[];
  readonly ends: 'commit' | 'throw';
  readonly action: 'count' | 'order';
  readonly faults: Readonly<Record<Name, readonly CommitFault[]>>;
}

/** Fewer faults than tries, so that none is for good. */
const faults = fc.array(fc.constantFrom<CommitFault>('none', 'fail', 'lose'), { maxLength: 2 });
const transactions: fc.Arbitrary<Wanted> = fc.record({
  effects: fc.array(
    fc.record({
      on: fc.constantFrom(...NAMES),
      isReversible: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
      isBad: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  ends: fc.constantFrom('commit', 'commit', 'commit', 'throw'),
  action: fc.constantFrom('count', 'order'),
  faults: fc.record({ a: faults, b: faults }),
});

/** The visible states of each database, in order, and the unresolved effects at the end. */
function modelled({ effects, ends, action }: Wanted): {
  seen: Record<Name, string[]>;
  left: number[];
} {
  const seen: Record<Name, string[]> = { a: [NOTHING], b: [NOTHING] };
  const left: number[] = [];
  if (ends === 'throw') return { seen, left };
  const of = (name: Name) => [...effects.entries()].filter(([, { on }]) => on === name);
  // Databases with only compensatable effects come first, each group in the order of the last
  // calls.
  const steps = NAMES.map((name) => ({
    name,
    all: of(name),
    isForGood: of(name).some(([, { isReversible }]) => !isReversible),
  }))
    .filter(({ all }) => all.length > 0)
    .map((step) => ({
      ...step,
      last: step.all.findLast(([, { isReversible }]) => isReversible !== step.isForGood)![0],
    }))
    .sort((x, y) => Number(x.isForGood) - Number(y.isForGood) || x.last - y.last);
  const done: typeof steps = [];
  for (const step of steps) {
    const bad = step.all.find(([, { isBad }]) => isBad);
    const what = step.all.map(([n]) => n);
    if (bad === undefined) {
      seen[step.name].push(`${what.join(' ')} / ${what.length}`);
      done.push(step);
    } else if (action === 'order' && !done.some(({ isForGood }) => isForGood)) {
      for (const { name, all } of done) {
        const ns = all.map(([n]) => n);
        seen[name].push(`${[...ns, ...ns.toReversed().map((n) => `un${n}`)].join(' ')} / 0`);
      }
      return { seen, left: [] };
    } else left.push(bad[0]);
  }
  return { seen, left: left.sort() };
}

describe('sqlite', () => tests(async () => new SqliteStage()));
withPostgres('postgres', (postgres) => tests(() => PostgresStage.open(postgres), 4));
