/**
 * The persons who decide about a proposal, when and as what: each kind of the channel, or its
 * deputy once the proposal has waited so long. The model knows sets of kinds and milliseconds only.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { addMicros } from '#canon';
import { adjudicate, type Deputy, defineDomain, escalate, pass, World } from '#kernel';
import { entryRow } from '#ledger';
import { deepReplay } from '#replay';
import type { Ruling } from '#runtime';
import { cases } from '../support/cases.ts';
import { FaultyStore, payloads, soundState } from '../support/ledger/desk.ts';
import { HandClock, intent, runtimeOver, START, writFor } from '../support/ledger/runtime.ts';
import { ANYONE } from '../support/models/permissive-authority.ts';

const KINDS = ['a', 'b', 'c'] as const;
type Kind = (typeof KINDS)[number];

/** People by name: the letters after the dash are their kinds. */
const PEOPLE = ['p-', 'p-a', 'q-a', 'p-b', 'p-c', 'p-ab', 'p-bc', 'p-abc', 'agent-abc'];
const kindsOf = (name: string): string => name.slice(name.indexOf('-') + 1);

interface Setting {
  readonly ofRule?: Kind | undefined;
  readonly ofAction?: Kind | undefined;
  readonly approvals: number;
  readonly deputies: Readonly<Partial<Record<Kind, Deputy>>>;
  /** The times until the end: of the rule, of the action, and of this one escalation. */
  readonly ends: readonly [number | undefined, number | undefined, number | undefined];
  readonly isAskedByWrit: boolean;
  /** The time of the deployment. */
  readonly limit: number | 'never';
}

/** The members that are given. */
function given(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function domainOf({ ofRule, ofAction, approvals, deputies, ends }: Setting, version: string = '1') {
  const [endOfRule, endOfAction, endOfOne] = ends;
  return defineDomain<any, any>({
    ...{ name: 'deputised', version, state: z.object({ asked: z.int(), by: z.array(z.string()) }) },
    initial: { asked: 0, by: [] },
    processes: { asking: { writes: ['/asked', '/by'] } },
    roles: { worker: { processes: ['asking'] } },
    actions: {
      ask: {
        ...{ process: 'asking', args: z.object({ n: z.int().optional() }) },
        ...given({ channel: ofAction, timeoutMs: endOfAction }),
        apply: (state: any) => {
          state.asked += 1;
        },
      },
    },
    counselors: Object.fromEntries(
      KINDS.map((kind) => [kind, (name: string) => kindsOf(name).includes(kind)]),
    ),
    deputies: deputies as Readonly<Record<string, Deputy>>,
    invariants: ({ invariant }) => [
      invariant(
        'ASKED',
        ['/asked', '/by'],
        ({ asked, by }: any) =>
          by.length >= asked * approvals ? pass : escalate('asked', given({ timeoutMs: endOfOne })),
        {
          ...given({ channel: ofRule, approvals, timeoutMs: endOfRule }),
          onApprove: ({ by }: any, { counselor }: any) => by.push(counselor),
        },
      ),
    ],
  });
}

/** Under which kinds a person decides after so many milliseconds, by the model. */
function asBy(setting: Setting, isJoined: boolean, name: string, waited: number) {
  const { ofRule, ofAction, deputies } = setting;
  const own = kindsOf(name);
  if (name.startsWith('agent')) return undefined;
  const named = isJoined ? [ofRule, ofAction] : [ofRule ?? ofAction];
  const wanted = [...new Set(named.filter((kind) => kind !== undefined))].sort();
  if (wanted.length === 0) return own === '' ? undefined : own[0];
  const held = wanted.map((kind) => {
    const deputy = deputies[kind];
    if (own.includes(kind)) return kind;
    return deputy !== undefined && own.includes(deputy.kind) && waited >= deputy.afterMs
      ? deputy.kind
      : undefined;
  });
  return held.includes(undefined) ? undefined : held.join('+');
}

const ms = fc.integer({ min: 1, max: 50 });
const kind = fc.option(fc.constantFrom(...KINDS), { nil: undefined, freq: 4 });
const deputyOf = (of: Kind) =>
  fc.option(
    fc.record({ kind: fc.constantFrom(...KINDS.filter((one) => one !== of)), afterMs: ms }),
    { nil: undefined, freq: 9 },
  );
const setting: fc.Arbitrary<Setting> = fc.record({
  ofRule: kind,
  ofAction: kind,
  approvals: fc.constantFrom(1, 1, 2, 3),
  deputies: fc.record({ a: deputyOf('a'), b: deputyOf('b'), c: deputyOf('c') }).map(given),
  ends: fc.tuple(
    ...[1, 2, 3].map(() => fc.option(fc.integer({ min: 30, max: 150 }), { nil: undefined })),
  ) as unknown as fc.Arbitrary<Setting['ends']>,
  isAskedByWrit: fc.boolean(),
  limit: fc.constantFrom(100, 100, 'never' as const),
});
const steps = fc.array(
  fc.record({
    wait: fc.integer({ min: 0, max: 20 }),
    who: fc.constantFrom(...PEOPLE),
    does: fc.constantFrom('approve', 'approve', 'amend', 'amend', 'reject'),
  }),
  { minLength: 1, maxLength: 14 },
);

const careful = writFor('agent-abc', { require_approval: ['ask'] });
const free = writFor('agent-abc');

test('each kind of a channel, or its deputy that is due, decides', async () => {
  await fc.assert(
    fc.asyncProperty(setting, steps, async (setup, acts) => {
      const domain = domainOf(setup);
      const [store, clock] = [new FaultyStore(), new HandClock()];
      const assize = runtimeOver(store, [domain], {
        ports: { clock },
        approvals: { timeoutMs: setup.limit },
      });
      const writ = setup.isAskedByWrit ? careful : free;
      const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
      const asked = await trajectory.propose(intent('ask', {}, writ));
      if (asked.ruling !== 'escalated') throw new Error(JSON.stringify(asked));
      const limits = [setup.limit, ...setup.ends].map(Number).filter((one) => one > 0);
      const lasts = Math.min(...limits);
      expect(trajectory.approvals.pending()[0]?.payload.expires).toBe(
        limits.length === 0 ? undefined : addMicros(START, lasts * 1_000),
      );

      let id = asked.pending;
      let waited = 0;
      const by: string[] = [];
      const as: string[] = [];
      for (const { wait, who, does } of acts) {
        clock.forward(wait);
        waited += wait;
        if (waited >= lasts) break;
        const may = asBy(setup, setup.isAskedByWrit, who, waited);
        const amended = does === 'amend' && setup.approvals === 1 ? { args: { n: 2 } } : {};
        const input = { principal: who, method: 'test', ...amended };
        const { deciders } = await trajectory.approvals.decidersAmong(id, [who]);
        expect(deciders).toEqual(may === undefined || by.includes(who) ? [] : [who]);
        const foreseen = trajectory.approvals.judge(id, input);
        const { head } = trajectory;
        const decide = (): Promise<Ruling> =>
          does === 'reject'
            ? trajectory.approvals.reject(id, { principal: who, method: 'test', reason: 'no' })
            : trajectory.approvals.approve(id, input);
        if (may === undefined || (by.includes(who) && does !== 'reject')) {
          const code = may === undefined ? 'unauthorised_counselor' : 'already_approved';
          expect((await foreseen) as object).toMatchObject({ ruling: 'refused', code });
          await expect(decide()).rejects.toMatchObject({ code });
          expect(trajectory.head).toBe(head);
          continue;
        }
        const judged = await foreseen;
        const ruling = await decide();
        as.push(may);
        if (does === 'reject') break;
        expect(judged).toMatchObject({ ruling: ruling.ruling });
        by.push(who);
        expect(ruling.ruling).toBe(by.length === setup.approvals ? 'committed' : 'escalated');
        if (ruling.ruling !== 'escalated') break;
        id = ruling.pending;
      }
      const recorded = (await payloads(store, 't')).flatMap((payload: any) =>
        [payload.counselor ?? payload.approved_by?.at(-1)].filter((one) => one !== undefined),
      );
      expect(recorded.map((one) => one.as)).toEqual(as);
      await soundState(store, 't');
      expect((await deepReplay(store, 't', { domains: [domain] })).differences).toEqual([]);
    }),
    { numRuns: cases(2_000) },
  );
});

test('a request keeps the deputies of its version of the domain', async () => {
  const setup: Setting = {
    ...{ ofRule: 'a', approvals: 1, deputies: { a: { kind: 'b', afterMs: 10 } } },
    ...{ ends: [undefined, undefined, undefined], isAskedByWrit: false, limit: 'never' },
  };
  const old = domainOf(setup);
  const next = domainOf({ ...setup, deputies: {} }, '2');
  const [store, clock] = [new FaultyStore(), new HandClock()];
  const assize = runtimeOver(store, [old, next], { ports: { clock } });
  const trajectory = await assize.create(old, { trajectoryId: 't', writs: [free] });
  const ask = async (): Promise<string> => {
    const ruling = await trajectory.propose(intent('ask', {}, free));
    if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
    return ruling.pending;
  };
  const first = await ask();
  await assize.upgrade('t', next, { writ: free, reason: 'no deputies' });
  const deputy = { principal: 'p-b', method: 'test' };
  const early = trajectory.approvals.approve(first, deputy);
  await expect(early).rejects.toMatchObject({
    code: 'unauthorised_counselor',
    message: expect.stringContaining(`The b may decide for a from ${addMicros(START, 10_000)}.`),
  });
  clock.forward(10);
  expect(await trajectory.approvals.approve(first, deputy)).toMatchObject({ ruling: 'committed' });
  const second = await ask();
  clock.forward(60_000);
  await expect(trajectory.approvals.approve(second, deputy)).rejects.toMatchObject({
    code: 'unauthorised_counselor',
  });
  await soundState(store, 't');
  expect((await deepReplay(store, 't', { domains: [old, next] })).differences).toEqual([]);
});

test('a deep replay finds deputies and an end that the domain did not name', async () => {
  const setup: Setting = {
    ...{ ofRule: 'a', ofAction: 'c', approvals: 1, deputies: { a: { kind: 'b', afterMs: 10 } } },
    ...{ ends: [50, undefined, undefined], isAskedByWrit: true, limit: 100 },
  };
  const endless = { ...setup, ends: [undefined, undefined, undefined] } as const;
  const after = (ms: number): string => addMicros(START, ms * 1_000);
  const named = { of: 'a', kind: 'b', from: after(10) };
  const differencesOf = async (made: Setting, forged: object): Promise<string[]> => {
    const domain = domainOf(made);
    const store = new FaultyStore();
    const options = { ports: { clock: new HandClock() }, approvals: { timeoutMs: made.limit } };
    const assize = runtimeOver(store, [domain], options);
    const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [careful] });
    await trajectory.propose(intent('ask', {}, careful));
    const [root, asked] = await store.entries('t');
    const { deputies, expires, ...rest } = JSON.parse(asked!.payload);
    expect(deputies).toEqual([named]);
    const row = entryRow(given({ ...rest, deputies, expires, ...forged }) as never);
    const copy = new FaultyStore();
    await copy.commit({ entries: [root!, row], blobs: [] });
    const { differences } = await deepReplay(copy, 't', { domains: [domain] });
    return differences.map(({ what }) => what);
  };
  expect(await differencesOf(setup, {})).toEqual([]);
  for (const deputies of [
    [{ ...named, from: after(9) }],
    [{ ...named, from: after(11) }],
    [{ ...named, kind: 'c' }],
    [named, { of: 'c', kind: 'b', from: after(10) }],
    undefined,
  ])
    expect(await differencesOf(setup, { deputies })).toEqual(['deputies']);
  for (const expires of [after(51), undefined])
    expect(await differencesOf(setup, { expires })).toEqual(['expires']);
  expect(await differencesOf(setup, { expires: after(49) })).toEqual([]);
  for (const expires of [after(1), after(100_000), undefined])
    expect(await differencesOf(endless, { expires })).toEqual([]);
});

const time = fc.option(fc.nat(50), { nil: null });
const items = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), time);

test('the shortest time of the items of a rule and of all calls counts', () => {
  const judged = (ms: number | null) =>
    ms === 0 ? pass : escalate('asked', ms === null ? {} : { timeoutMs: ms });
  const domain = defineDomain<any, any>({
    ...{ name: 'timed', version: '1', initial: { items: {} } },
    state: z.object({ items: z.record(z.string(), z.int().nullable()) }),
    processes: { putting: { writes: ['/items'] } },
    roles: { worker: { processes: ['putting'] } },
    actions: {
      put: {
        ...{ process: 'putting', args: z.record(z.string(), z.int().nullable()) },
        apply: ({ items }: any, args: object) => Object.assign(items, args),
      },
    },
    invariants: ({ each, eachCall }: any) => [
      each('ITEM', '/items/*', { timeoutMs: 30 }, judged),
      eachCall('CALL', 'x.*', { timeoutMs: 40 }, ({ input }: any) => judged(input)),
      eachCall('OTHER', 'x.*', { timeoutMs: 45 }, ({ input }: any) => judged(input)),
    ],
    counselors: { a: () => true },
  } as any);
  fc.assert(
    fc.property(items, items, fc.array(time), fc.boolean(), (before, put, inputs, strict) => {
      const world = new World(domain, { items: before }, undefined, { strict });
      const calls = inputs.map((input) => ({ tool: 'x.do', input }));
      const asked = { action: 'put', role: { name: 'worker', params: {} }, args: put };
      const ruling = adjudicate(world, asked, ANYONE, { at: START, observations: [], calls });
      const [ofItems, ofCalls] = [Object.values({ ...before, ...put }), inputs].map((all) =>
        all.filter((one) => one !== 0),
      ) as [(number | null)[], (number | null)[]];
      const named = [...ofItems, ...ofCalls].filter((one) => one !== null);
      if (ofItems.length > 0) named.push(30);
      if (ofCalls.length > 0) named.push(40);
      expect(ruling).toMatchObject(
        named.length === 0
          ? { verdict: 'approved' }
          : { verdict: 'escalated', timeoutMs: Math.min(...named) },
      );
    }),
    { numRuns: cases(2_000) },
  );
});
