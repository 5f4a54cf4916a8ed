/**
 * Two copies of the package in one process. Each copy refuses the other's values by name, or works
 * with them just as well.
 */
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { START, writFor } from '../support/ledger/runtime.ts';
import * as ours from './package-copy.ts';

type Copy = typeof ours;

vi.resetModules();
const theirs: Copy = await import('./package-copy.ts');

/** A till that each rule keeps below ten, each in its own words. */
function tillOf({ kernel }: Copy, kind: 'each' | 'sum' | 'count' | 'unique' | 'plain') {
  const { defineDomain, each, sum, count, unique, invariant, pass, reject } = kernel;
  const small = (amount: number) => (amount < 10 ? pass : reject('it is too much'));
  const rule = {
    each: () => each('RULE', '/paid/*', {}, (amount: number) => small(amount)),
    sum: () => sum('RULE', '/paid/*', {}, small),
    count: () =>
      count('RULE', '/paid/*', { where: (amount: number) => amount >= 10 }, (many) =>
        small(many * 10),
      ),
    unique: () =>
      unique('RULE', '/paid/*', { by: (amount: number) => (amount < 10 ? undefined : 'much') }),
    plain: () =>
      invariant('RULE', ['/paid'], ({ paid }: { paid: Record<string, number> }) =>
        small(Object.values(paid)[0] ?? 0),
      ),
  }[kind]();
  return defineDomain({
    name: 'till',
    version: '1',
    state: z.object({ paid: z.record(z.string(), z.number()) }),
    // For `unique`, one that a second may not be like.
    initial: { paid: kind === 'unique' ? { before: 10 } : {} },
    processes: { paying: { writes: ['/paid'] } },
    roles: { teller: { processes: ['paying'] } },
    actions: {
      pay: {
        process: 'paying',
        args: z.object({ to: z.string(), amount: z.number() }),
        apply: (state, { to, amount }) => {
          state.paid[to] = amount;
        },
      },
    },
    invariants: [rule],
  });
}

const KINDS = ['each', 'sum', 'count', 'unique', 'plain'] as const;
const PAY = { action: 'pay', role: 'teller', args: { to: 'bob', amount: 10 } } as const;
const refused = (about: string) =>
  expect.objectContaining({
    name: 'DuplicatePackageError',
    code: 'duplicate_package',
    message: expect.stringMatching(
      new RegExp(`^${about} was not created by this copy .*npx assize`),
    ),
  });

test('they are two', () => {
  expect(theirs.kernel.defineDomain).not.toBe(ours.kernel.defineDomain);
});

test.each(KINDS)(
  'a rule by %s holds in one copy, and another copy’s domain opens nothing',
  async (kind) => {
    const store = new ours.TemporaryStore();
    const own = tillOf(ours, kind);
    const trajectory = await ours
      .runtimeOver(store, [own])
      .create(own, { trajectoryId: 't', writs: [writFor('ann')] });
    const ruling = await trajectory.propose({ ...PAY, writ: writFor('ann') } as never);
    expect(ruling).toMatchObject({ ruling: 'rejected', invariantId: 'RULE' });

    const other = tillOf(theirs, kind);
    expect(other.hash).toBe(own.hash);
    expect(() => ours.runtimeOver(store, [other as never])).toThrow(refused('The domain till'));
    const began = ours.runtimeOver(store, [own]).create(other as never, { trajectoryId: 'u' });
    await expect(began).rejects.toThrow(refused('The domain till'));
    expect((await store.trajectories()).map(({ trajectory_id }) => trajectory_id)).toEqual(['t']);
  },
);

test('no function that runs a domain accepts one of another or unmarked copy', async () => {
  const own = tillOf(ours, 'each');
  const other = tillOf(theirs, 'each') as never;
  const { [Symbol.for('assize.made-by')]: _, ...unmarked } = own as never as Record<
    symbol,
    unknown
  >;
  const store = new ours.TemporaryStore();
  await ours.runtimeOver(store, [own]).create(own, { trajectoryId: 't' });
  const { kernel, replay, ontology, testing, agents } = ours;
  const state = { paid: { bob: 10 } };
  for (const domain of [other, unmarked as never]) {
    const domains = [domain];
    const source = { store, oracleStore: store, trajectoryId: 't' };
    const uses: readonly (() => unknown)[] = [
      () => new kernel.World(domain, state),
      () => kernel.initialState(domain),
      () => kernel.firstFinding(domain, state),
      () => kernel.detectionVector(domain, state),
      () => replay.deepReplay(store, 't', { domains }),
      () => replay.deepReplayStore(store, { domains }),
      () => replay.domainToRun(own, { domains }),
      () => replay.backtest(store, 't', { domains }),
      () => replay.backtest(store, 't', { domains: [own], instead: domains }),
      () => replay.backtestStore(store, { domains }),
      () => ontology.findWriteSkew(domain),
      () => testing.checkDomain(domain),
      () => agents.replayRun(source, domain, [], { anchors: [] }),
      () => agents.simulate(source, { domain, anchors: [], variants: [{ name: 'v', agents: [] }] }),
    ];
    for (const use of uses)
      await expect(async () => use(), use.toString()).rejects.toThrow(refused('The domain till'));
  }
});

test('a schema marked sensitive by another copy is refused in a domain', () => {
  const domainWith = (name: unknown) =>
    ours.kernel.defineDomain({
      name: 'names',
      version: '1',
      state: z.object({ name: name as z.ZodType }),
      processes: {},
      roles: {},
      actions: {},
      invariants: [],
    });
  expect(domainWith(ours.kernel.sensitive(z.string())).sensitive).toBeDefined();
  expect(() => domainWith(theirs.kernel.sensitive(z.string()))).toThrow(
    refused('The schema marked `sensitive`'),
  );
});

test('a tool, a store and an oracle of another copy are refused as arguments', async () => {
  const tool = ({ effects }: Copy) =>
    effects.declareTool({ name: 'look', input: z.object({}), class: 'read', execute: () => null });
  const over = (store: unknown, more = {}) => ours.runtimeOver(store as never, [], more as never);
  const store = new ours.TemporaryStore();
  const other = new theirs.TemporaryStore();
  over(store, { tools: [tool(ours)] });
  expect(() => over(store, { tools: [tool(theirs)] })).toThrow(refused('The tool look'));
  expect(() => over(other)).toThrow(refused('The option store'));
  expect(() => over(store, { oracle: other })).toThrow(refused('The option oracle'));
  expect(() => over(store, { snapshots: other })).toThrow(refused('The option snapshots'));
  const clock = { now: () => START };
  expect(() => ours.createOracle({ store: other as never, clock, mode: 'record' })).toThrow(
    refused('The option store'),
  );

  const domain = tillOf(ours, 'each');
  const trajectory = await ours.runtimeOver(store, [domain]).create(domain, { trajectoryId: 't' });
  const agent = { name: 'a', role: { name: 'teller' }, decide: () => ({ do: 'done' }) };
  const oracle = (of: Copy) =>
    of.createOracle({ store: new of.TemporaryStore(), clock, mode: 'record' });
  const run = (of: unknown, by: unknown) =>
    ours.agents.runAgents(of as never, [agent as never], { oracle: by } as never);
  await expect(run(trajectory, oracle(theirs))).rejects.toThrow(refused('The option oracle'));
  const foreign = tillOf(theirs, 'each');
  const theirTrajectory = await theirs
    .runtimeOver(other, [foreign])
    .create(foreign, { trajectoryId: 't' });
  await expect(run(theirTrajectory, oracle(ours))).rejects.toThrow(refused('The trajectory'));
});

test('a foreign store is accepted, also a wrapper of this copy’s store', () => {
  const own = new ours.TemporaryStore();
  for (const store of [Object.create(own), new Proxy(own, {}), { commit: () => undefined }])
    expect(() => ours.runtimeOver(store as never, [])).not.toThrow();
});

test('a policy and a writ of another copy count as those of this one', async () => {
  const table = {
    id: 'house',
    otherwise: 'allow',
    rules: [{ id: 'no-pay', effect: 'deny', actions: ['pay'] }],
  };
  const rulings = [];
  for (const copy of [ours, theirs]) {
    const policy = copy.ruleTable(copy.parseRuleTable(table as never));
    const domain = tillOf(ours, 'each');
    const runtime = ours.runtimeOver(new ours.TemporaryStore(), [domain], { policy });
    const trajectory = await runtime.create(domain, { trajectoryId: 't' });
    rulings.push(await trajectory.propose({ ...PAY, writ: copy.writFor('ann') } as never));
  }
  expect(rulings[0]).toMatchObject({ ruling: 'rejected', reason: 'policy_denied' });
  expect(rulings[1]).toEqual(rulings[0]);
});

test('`DidNothing` of any copy is understood as no effect', () => {
  const thrown = new theirs.effects.DidNothing('no line', { final: true });
  expect(Object.getPrototypeOf(thrown)).not.toBe(ours.effects.DidNothing.prototype);
  expect(thrown instanceof ours.effects.DidNothing && thrown.isFinal).toBe(true);
  expect(new ours.effects.DidNothing('no line')).toBeInstanceOf(ours.effects.DidNothing);
  expect(new Error('no line')).not.toBeInstanceOf(ours.effects.DidNothing);
});
