import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Domain, defineDomain, escalate, pass, reject } from '#kernel';
import { deepReplay } from '#replay';
import type { Ruling } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { HandClock, intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { clone } from '../support/models/json.ts';

// `freeze: 'reserve'`: others go on beside a pending proposal, and spoil no approval. A naive model
// judges every choice of pending proposals on copies, and each ruling must equal the model's.

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;
const OWNERS = ['x', 'y'] as const;

interface Item {
  owner: string;
  cents: number;
  invoice?: string;
  by?: string;
}

interface State {
  items: { [id: string]: Item };
  limits: { [owner: string]: number };
}

/** A rule of the generated domain, and the same rule for the model. */
const RULES = {
  SUM: ({ items, limits }: State) =>
    OWNERS.every(
      (owner) =>
        of(items, owner).reduce((all, { cents }) => all + cents, 0) <= (limits[owner] ?? 0),
    ),
  LEAST: ({ items }: State) =>
    Object.values(items).reduce((all, { cents }) => all + cents, 0) >= -60,
  COUNT: ({ items }: State) => OWNERS.every((owner) => of(items, owner).length <= 4),
  UNIQUE: ({ items }: State) => {
    const invoices = Object.values(items).flatMap(({ invoice }) => invoice ?? []);
    return new Set(invoices).size === invoices.length;
  },
  EACH: ({ items, limits }: State) =>
    Object.values(items).every(({ owner, cents }) => cents <= (limits[owner] ?? 0)),
  INDEX: ({ items, limits }: State) =>
    Object.values(items).reduce((all, { cents }) => all + cents, 0) <=
    (limits['x'] ?? 0) + (limits['y'] ?? 0),
  PLAIN: ({ items }: State) =>
    !(items['a'] !== undefined && items['b'] !== undefined && items['c'] === undefined),
  BOSS: ({ items }: State) =>
    Object.values(items).every(({ cents, by }) => cents <= 40 || by !== undefined),
} as const;
type RuleName = keyof typeof RULES;

function of(items: State['items'], owner: string): Item[] {
  return Object.values(items).filter((item) => item.owner === owner);
}

function domainOf(names: readonly RuleName[]): Domain {
  const has = (name: RuleName, ok: boolean) => (ok ? pass : reject(`${name} is broken`));
  return defineDomain<any, any>({
    name: 'items',
    version: '1',
    freeze: 'reserve',
    state: z.object({
      items: z.record(
        z.string(),
        z.object({
          owner: z.string(),
          cents: z.int(),
          invoice: z.string().optional(),
          by: z.string().optional(),
        }),
      ),
      limits: z.record(z.string(), z.int()),
    }),
    initial: { items: {}, limits: { x: 100, y: 60 } },
    processes: { write: { writes: ['/items/*', '/limits/*'] } },
    roles: { clerk: { processes: ['write'] } },
    actions: {
      put: {
        process: 'write',
        args: z.object({
          id: z.string(),
          owner: z.string(),
          cents: z.int(),
          invoice: z.string().optional(),
        }),
        apply: (state: State, { id, ...item }: Item & { id: string }) => {
          state.items[id] = item;
        },
      },
      drop: {
        process: 'write',
        args: z.string(),
        apply: (state: State, id: string) => {
          delete state.items[id];
        },
      },
      limit: {
        process: 'write',
        args: z.object({ owner: z.string(), to: z.int() }),
        apply: (state: State, { owner, to }: { owner: string; to: number }) => {
          state.limits[owner] = to;
        },
      },
    },
    invariants: ({ invariant, each, sum, count, unique }: any) => {
      const all = {
        SUM: sum(
          'SUM',
          '/items/*',
          {
            of: ({ cents }: Item) => cents,
            per: ({ owner }: Item) => owner,
            reads: ['/limits/*'],
            with: (owner: string) => ({ limit: `/limits/${owner}` }),
          },
          (total: number, { limit = 0 }: { limit?: number }) => has('SUM', total <= limit),
        ),
        LEAST: sum('LEAST', '/items/*', { of: ({ cents }: Item) => cents }, (total: number) =>
          has('LEAST', total >= -60),
        ),
        COUNT: count('COUNT', '/items/*', { per: ({ owner }: Item) => owner }, (n: number) =>
          has('COUNT', n <= 4),
        ),
        UNIQUE: unique('UNIQUE', '/items/*', { by: ({ invoice }: Item) => invoice }),
        EACH: each(
          'EACH',
          '/items/*',
          { reads: ['/limits/*'], with: ({ owner }: Item) => ({ limit: `/limits/${owner}` }) },
          ({ cents }: Item, { limit = 0 }: { limit?: number }) => has('EACH', cents <= limit),
        ),
        INDEX: invariant(
          'INDEX',
          ['/limits'],
          ({ limits }: State, { all }: any) =>
            has('INDEX', all.sum() <= (limits['x'] ?? 0) + (limits['y'] ?? 0)),
          { index: { all: { path: '/items/*', of: ({ cents }: Item) => cents } } },
        ),
        PLAIN: invariant('PLAIN', ['/items'], (state: State) => has('PLAIN', RULES.PLAIN(state))),
        BOSS: each(
          'BOSS',
          '/items/*',
          {
            onApprove: (
              state: State,
              { counselor, keys: [id] }: { counselor: string; keys: string[] },
            ) => {
              (state.items[id as string] as Item).by = counselor;
            },
          },
          ({ cents, by }: Item) =>
            cents <= 40 || by !== undefined ? pass : escalate(`${cents} is much`),
        ),
      };
      return [...names.filter((name) => name !== 'BOSS').map((name) => all[name]), all.BOSS];
    },
    counselors: { boss: (principal: string) => principal.startsWith('boss') },
  } as never);
}

type Action =
  | {
      readonly name: 'put';
      readonly args: { id: string; owner: string; cents: number; invoice?: string };
    }
  | { readonly name: 'drop'; readonly args: string }
  | { readonly name: 'limit'; readonly args: { owner: string; to: number } };

type Step =
  /** `held`: the writ requires an approval. */
  | { readonly do: 'propose'; readonly action: Action; readonly held: boolean }
  | { readonly do: 'approve' | 'reject'; readonly nth: number }
  | { readonly do: 'expire' }
  | { readonly do: 'reopen' };

const id = fc.constantFrom(...IDS);
const owner = fc.constantFrom(...OWNERS);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      name: fc.constant('put' as const),
      args: fc
        .record({
          id,
          owner,
          cents: fc.integer({ min: -40, max: 60 }),
          invoice: fc.option(fc.constantFrom('i', 'j'), { nil: undefined, freq: 3 }),
        })
        .map(({ invoice, ...rest }) => (invoice === undefined ? rest : { ...rest, invoice })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('drop' as const), args: id }) },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant('limit' as const),
      args: fc.record({ owner, to: fc.integer({ min: 40, max: 160 }) }),
    }),
  },
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({ do: fc.constant('propose' as const), action, held: fc.boolean() }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom<'approve' | 'reject'>('approve', 'reject'),
        nth: fc.nat(5),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'expire' }, { do: 'reopen' }) },
  ),
  { minLength: 4, maxLength: 24 },
);
const ruleNames = fc.shuffledSubarray(Object.keys(RULES) as RuleName[], { minLength: 1 });

// ── the naive model ──

interface Waiting {
  readonly id: string;
  readonly action: Action;
  /** The change of an approval, with its mark. */
  readonly run: (state: State, by: string) => State;
  /** Undefined for a proposal that changes nothing, and so reserves nothing. */
  readonly place: string | undefined;
}

function done(state: State, { name, args }: Action): State {
  const next = clone(state as never) as unknown as State;
  if (name === 'drop') delete next.items[args];
  else if (name === 'limit') next.limits[args.owner] = args.to;
  else {
    const { id, ...item } = args;
    next.items[id] = item;
  }
  return next;
}

function marked(state: State, action: Action, by: string): State {
  const next = done(state, action);
  if (action.name === 'put' && action.args.cents > 40) (next.items[action.args.id] as Item).by = by;
  return next;
}

const placeOf = (action: Action): string =>
  action.name === 'limit'
    ? `/limits/${action.args.owner}`
    : `/items/${action.name === 'drop' ? action.args : action.args.id}`;

function subsets<T>(of: readonly T[]): T[][] {
  return of.reduce<T[][]>((all, one) => all.concat(all.map((each) => [...each, one])), [[]]);
}

const passes = (names: readonly RuleName[], state: State, but?: RuleName): boolean =>
  names.every((name) => name === but || RULES[name](state));

const seen = {
  committed: 0,
  escalated: 0,
  rejected: 0,
  frozen: 0,
  together: 0,
  approved: 0,
  several: 0,
};

async function play(given: readonly RuleName[], schedule: readonly Step[]): Promise<void> {
  const names: RuleName[] = [...new Set<RuleName>([...given, 'BOSS'])];
  const domain = domainOf(names);
  const store = new MemoryStore();
  const clock = new HandClock();
  const open = () =>
    runtimeOver(store, [domain], { ports: { clock }, approvals: { timeoutMs: 1_000 } });
  const free = writFor('alice');
  const held = writFor('alice', { require_approval: ['**'], nonce: 'held' });
  let trajectory = await open().create(domain, { trajectoryId: 't', writs: [free, held] });
  let state: State = { items: {}, limits: { x: 100, y: 60 } };
  let waiting: Waiting[] = [];

  const propose = async (action: Action, isHeld: boolean): Promise<void> => {
    const isMuch = action.name === 'put' && action.args.cents > 40;
    const ruling: Ruling = await trajectory.propose(
      intent(action.name, action.args, isHeld ? held : free, { role: 'clerk' }),
    );
    seen[ruling.ruling]++;
    const alone = done(state, action);
    if (!passes(names, alone, 'BOSS')) {
      expect(ruling.ruling).toBe('rejected');
      return;
    }
    const place = placeOf(action);
    const isChanged = JSON.stringify(alone) !== JSON.stringify(state);
    const meets = isChanged && waiting.some((one) => one.place === place);
    const futures = subsets(waiting).map((some) =>
      marked(
        some.reduce(
          (now, one) => (one.place === undefined ? now : one.run(now, '$counselor')),
          state,
        ),
        action,
        '$counselor',
      ),
    );
    const isHeldUp = futures.some((future) => !passes(names, future));
    if (meets || (isHeldUp && isChanged)) {
      expect(ruling.ruling).toBe('frozen');
      if (!meets) seen.together++;
      return;
    }
    expect(ruling.ruling).toBe(isMuch || isHeld ? 'escalated' : 'committed');
    if (ruling.ruling === 'escalated') {
      if (waiting.length > 0) seen.several++;
      waiting.push({
        id: ruling.pending,
        action,
        place: isChanged ? place : undefined,
        run: (now, by) => marked(now, action, by),
      });
    } else state = alone;
  };

  for (const step of schedule) {
    if (step.do === 'propose') await propose(step.action, step.held);
    else if (step.do === 'reopen') trajectory = (await open().open('t')) as never;
    else if (step.do === 'expire') {
      clock.forward(1_000);
      waiting = [];
      await propose({ name: 'drop', args: 'none' }, false);
    } else {
      const one = waiting[step.nth % Math.max(1, waiting.length)];
      if (one === undefined) continue;
      const by = { principal: 'boss', method: 'test' };
      if (step.do === 'reject') await trajectory.approvals.reject(one.id, { ...by, reason: 'no' });
      else {
        const isIdle = one.place === undefined;
        const next = one.run(state, 'boss');
        const ruling = await trajectory.approvals.approve(one.id, by);
        if (isIdle && JSON.stringify(next) !== JSON.stringify(state))
          expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'conflict' });
        else {
          // No other proposal has spoilt the approval.
          expect(ruling).toMatchObject({ ruling: 'committed' });
          state = next;
          seen.approved++;
        }
      }
      waiting = waiting.filter((each) => each !== one);
    }
    expect(trajectory.state()).toEqual(state);
    expect(passes(names, state)).toBe(true);
    expect(trajectory.approvals.pending().map((each) => each.id)).toEqual(
      waiting.map((each) => each.id),
    );
  }
  expect((await deepReplay(store, 't', { domains: [domain] })).differences).toEqual([]);
}

test('others go on beside pending proposals, and spoil no approval', async () => {
  await fc.assert(fc.asyncProperty(ruleNames, steps, play), { numRuns: cases(400) });
  if (hasUsualCases())
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(20);
});
