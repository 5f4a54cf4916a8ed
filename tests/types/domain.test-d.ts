/**
 * Code that compiles and code that does not, in the declaration of a domain and in its use.
 * `tsc --noEmit` checks this file: a line under `@ts-expect-error` that compiles is an error.
 * tests/types/wrong.slow.test.ts checks that each of these lines is an error by itself.
 */
import { type Assize, type Domain, defineDomain, escalate, type ProposalInput, pass, type Trajectory } from 'assize';
import fc from 'fast-check';
import { z } from 'zod';
import { udt } from '#domains/udt';
import type { StatePart } from '#kernel';
import { checkDomain } from '#testing';

const state = z.object({
  cap: z.number(),
  spent: z.record(z.string(), z.number()),
  claims: z.record(z.string(), z.object({ by: z.string(), amount: z.number(), approved: z.string().optional() })),
  log: z.array(z.string()),
  last: z.object({ by: z.string(), at: z.string() }).nullable(),
  'a/b': z.record(z.string(), z.object({ m: z.number() })),
  '~': z.string(),
});

const desk = defineDomain({
  name: 'desk',
  version: '1',
  state,
  processes: {
    spend: { reads: ['/cap'], writes: ['/spent/{agent}'] },
    claim: { reads: ['/last/by'], writes: ['/claims/*/amount', '/log/-'] },
    look: { reads: ['/claims'] },
  },
  roles: {
    spender: { params: ['agent'], processes: ['spend'] },
    clerk: { params: ['agent', 'desk'], processes: ['spend', 'claim'] },
    reader: { processes: ['look'], sees: ['/claims'] },
  },
  actions: {
    spend: {
      process: 'spend',
      args: z.object({ amount: z.number(), note: z.string().default('') }),
      apply: (state, { amount, note }, { role }) => {
        const text: string = note;
        state.spent[role.agent] = amount + text.length;
        // @ts-expect-error the clerk has a desk, the spender has none
        state.log.push(role.desk);
      },
      cost: ({ amount }, { role }) => ({ [role.agent]: amount }),
      // @ts-expect-error no role has that parameter
      scopes: (_, { role }) => [role.nobody],
    },
    claim: {
      process: 'claim',
      args: z.object({ id: z.string() }),
      apply: (state, { id }, { role }) => {
        state.log.push(id, role.desk, role.agent);
        // @ts-expect-error the state has no such place
        state.claim = {};
        // @ts-expect-error an amount is a number
        state.cap = 'a lot';
      },
      onApprove: (state, { id }, { counselor, role }) => {
        state.log.push(id, counselor, role.desk);
      },
    },
    look: { process: 'look', args: z.null(), apply: () => {} },
  },
  counselors: { manager: () => true },
  invariants: ({ invariant, each, unique, sum, count }) => [
    invariant('CAP', ['/cap', '/spent/*', '/claims/*/by', '/log/3', '/last/at'], ({ cap }) => (cap > 0 ? pass : pass)),
    // @ts-expect-error the state has no place /capp
    invariant('TYPO', ['/spent', '/capp'], () => pass),
    // @ts-expect-error a number has nothing below it
    invariant('BELOW', ['/cap/x'], () => pass),
    // @ts-expect-error the length of a list is not a place
    invariant('LENGTH', ['/log/length'], () => pass),
    // @ts-expect-error nor is what an index is not
    invariant('INDEX', ['/log/-1'], () => pass),
    // @ts-expect-error no pointer
    invariant('NO_POINTER', ['cap'], () => pass),
    // @ts-expect-error no result
    invariant('NO_RESULT', ['/cap'], () => true),
    each(
      'CLAIM',
      '/claims/*',
      { onApprove: (state, { counselor }) => state.log.push(counselor) },
      ({ by, amount }, _, [id]) => (amount > 1 ? escalate(`${by} ${id?.length}`) : pass),
    ),
    // @ts-expect-error the state has no place /claim/*
    each('MEMBER', '/claim/*', {}, () => pass),
    // @ts-expect-error a claim has no total
    each('PART', '/claims/*', {}, ({ total }) => (total ? pass : pass)),
    each(
      'WITH',
      '/claims/*',
      { reads: ['/spent', '/claims'], with: ({ by }, [id]) => ({ spent: `/spent/${by}`, other: `/claims/${id}/by` }) },
      (_, { spent, other }) => {
        const amount: number | undefined = spent;
        const text: string | undefined = other;
        // @ts-expect-error what is spent is a number
        const wrong: string | undefined = spent;
        return amount && text && wrong ? pass : pass;
      },
    ),
    // @ts-expect-error there is nothing of that name to be judged with
    each('NOT_GIVEN', '/claims/*', { reads: ['/cap'], with: () => ({ cap: '/cap' }) }, (_, { spent }) => spent ?? pass),
    // @ts-expect-error the state has no place /spend
    each('READS', '/claims/*', { reads: ['/spend'] }, () => pass),
    each(
      'POINTER',
      '/claims/*',
      {
        reads: ['/spent'],
        // @ts-expect-error the state has no place /spend
        with: ({ by }) => ({ spent: `/spend/${by}` }),
      },
      () => pass,
    ),
    each(
      'WITH_LENGTH',
      '/claims/*',
      {
        reads: ['/log'],
        // @ts-expect-error the length of a list is not a place
        with: () => ({ lines: '/log/length' }),
      },
      () => pass,
    ),
    each(
      'WITH_INDEX',
      '/claims/*',
      { reads: ['/log/*'], with: ({ amount, by }) => ({ line: `/log/${amount}`, named: `/log/${by}` }) },
      (_, { line, named }) => {
        const lines: (string | undefined)[] = [line, named];
        // @ts-expect-error a line is a text
        const wrong: number | undefined = line;
        return lines.length > 0 && wrong ? pass : pass;
      },
    ),
    // @ts-expect-error what stands at an escaped key has its own type
    each('ESCAPED', '/a~1b/*', {}, (m) => (m.nope ? pass : pass)),
    each('ESCAPED_WITH', '/a~1b/*', { reads: ['/~0'], with: () => ({ it: '/~0' }) }, ({ m }, { it }) => {
      const both: [number, string | undefined] = [m, it];
      // @ts-expect-error it is a text
      const wrong: number | undefined = it;
      return both.length > 0 && wrong ? pass : pass;
    }),
    unique('UNIQUE', '/claims/*', { by: ({ by, amount }, [id]) => [by, amount, id ?? null] }, ([first = '']) =>
      escalate(first),
    ),
    unique('SPARSE', '/claims/*', { by: ({ approved }) => approved }),
    // @ts-expect-error the state has no place /claim/*
    unique('UNIQUE_PATH', '/claim/*', { by: () => 1 }),
    // @ts-expect-error a claim has no total
    unique('UNIQUE_MEMBER', '/claims/*', { by: ({ total }) => total }),
    // @ts-expect-error an object tells no members apart
    unique('UNIQUE_VALUE', '/claims/*', { by: (claim) => claim }),
    // @ts-expect-error nothing says what tells members apart
    unique('UNIQUE_BY', '/claims/*', {}),
    // @ts-expect-error no result
    unique('UNIQUE_RESULT', '/claims/*', { by: ({ by }) => by }, (places) => places.length === 2),
    sum(
      'SUM',
      '/claims/*',
      {
        of: ({ amount }) => amount,
        per: ({ by, approved }) => (approved === undefined ? undefined : by),
        reads: ['/cap', '/spent/*'],
        with: (agent) => ({ spent: `/spent/${agent}`, cap: '/cap' }),
      },
      (total, { spent, cap }, agent) => {
        const figures: readonly [number, number | undefined, number | undefined] = [total, spent, cap];
        // @ts-expect-error what is spent is a number
        const wrong: string | undefined = spent;
        return figures.length + agent.length > 0 && wrong ? pass : pass;
      },
    ),
    sum('SPENT', '/spent/*', {}, (total) => (total > 1 ? pass : pass)),
    // @ts-expect-error the state has no place /spend/*
    sum('SUM_PATH', '/spend/*', {}, () => pass),
    // @ts-expect-error a claim has no total
    sum('SUM_MEMBER', '/claims/*', { of: ({ total }) => total }, () => pass),
    // @ts-expect-error what is added is a number
    sum('SUM_OF', '/claims/*', { of: ({ by }) => by }, () => pass),
    // @ts-expect-error a group is named by a text
    sum('SUM_PER', '/claims/*', { of: ({ amount }) => amount, per: ({ amount }) => amount }, () => pass),
    // @ts-expect-error the state has no place /spend/*
    sum('SUM_READS', '/spent/*', { reads: ['/spend/*'] }, () => pass),
    sum(
      'SUM_WITH',
      '/spent/*',
      {
        reads: ['/spent'],
        // @ts-expect-error the state has no place /spend
        with: (agent) => ({ spent: `/spend/${agent}` }),
      },
      () => pass,
    ),
    // @ts-expect-error there is nothing of that name to be judged with
    sum('SUM_OTHERS', '/spent/*', { reads: ['/cap'], with: () => ({ cap: '/cap' }) }, (_, { limit }) => limit ?? pass),
    // @ts-expect-error a sum has no `where`; what is left out has no group
    sum('SUM_WHERE', '/claims/*', { of: ({ amount }) => amount, where: () => true }, () => pass),
    count(
      'COUNT',
      '/claims/*',
      {
        where: ({ amount }, [id]) => amount > 1 && id !== '',
        per: ({ by }) => by,
        reads: ['/cap'],
        with: () => ({ cap: '/cap' }),
      },
      (n, { cap = 0 }, agent) => (n <= cap ? pass : escalate(`${n.toFixed()} ${cap.toFixed()} ${agent.length}`)),
    ),
    // @ts-expect-error the state has no place /claim/*
    count('COUNT_PATH', '/claim/*', {}, () => pass),
    // @ts-expect-error a claim has no total
    count('COUNT_MEMBER', '/claims/*', { where: ({ total }) => total > 1 }, () => pass),
    // @ts-expect-error whether it is counted is true or false
    count('COUNT_WHERE', '/claims/*', { where: ({ amount }) => amount }, () => pass),
    // @ts-expect-error a count adds nothing up
    count('COUNT_OF', '/claims/*', { of: () => 1 }, () => pass),
    count(
      'COUNT_WITH',
      '/claims/*',
      {
        reads: ['/spent'],
        // @ts-expect-error the state has no place /spend
        with: (agent) => ({ spent: `/spend/${agent}` }),
      },
      () => pass,
    ),
    invariant('INDEX', ['/cap'], ({ cap }, { spent, by }) => (spent.sum() + by.count('ada') <= cap ? pass : pass), {
      index: {
        spent: { path: '/spent/*', of: (amount) => amount },
        by: { path: '/claims/*', per: ({ by }) => by },
      },
    }),
    // @ts-expect-error no index of that name is declared
    invariant('INDEX_NAME', ['/cap'], (_, { spend }) => spend.count(), { index: { spent: { path: '/spent/*' } } }),
    // @ts-expect-error no index is declared
    invariant('INDEX_NONE', ['/cap'], (_, { spent }) => (spent.count() > 1 ? pass : pass)),
    invariant('INDEX_PATH', ['/cap'], () => pass, {
      // @ts-expect-error the state has no place /spend/*
      index: { spent: { path: '/spend/*' } },
    }),
    invariant('INDEX_MEMBER', ['/cap'], () => pass, {
      // @ts-expect-error a claim has no total
      index: { claims: { path: '/claims/*', of: ({ total }) => total } },
    }),
    invariant('INDEX_PER', ['/cap'], () => pass, {
      // @ts-expect-error a group is named by a text
      index: { claims: { path: '/claims/*', per: ({ amount }) => amount } },
    }),
    invariant(
      'INDEX_FIGURE',
      ['/cap'],
      (_, { claims }) => {
        // @ts-expect-error it has figures, and no members
        return claims['c'] ?? pass;
      },
      { index: { claims: { path: '/claims/*' } } },
    ),
  ],
});

const { name, version } = desk;
const bare = { name, version, state, invariants: [] };
const look = { args: z.null(), apply: (): void => {} };

defineDomain({
  ...bare,
  processes: { look: {} },
  // @ts-expect-error there is no process looking
  roles: { reader: { processes: ['looking'] } },
  // @ts-expect-error there is no process looking
  actions: { look: { ...look, process: 'looking' } },
});

const processes = { look: { reads: ['/cap'] } };
export const loose = defineDomain({
  ...bare,
  processes,
  roles: { reader: { processes: Object.keys(processes) } },
  actions: { look: { ...look, process: 'look' } },
});

/**
 * If names are not literals, the slice may be any part of the state, and the requester may have any
 * role.
 */
export async function wider(trajectory: Trajectory<typeof loose>, writ: ProposalInput['writ']) {
  await trajectory.propose({ action: 'look', role: 'reader', args: null, writ });
  const { cap, claims }: { cap?: number | undefined; claims?: object | undefined } = trajectory.slice('reader');
  // @ts-expect-error it may not be seen
  const sure: number = trajectory.slice('reader').cap;
  return [cap, claims, sure];
}

export async function uses(assize: Assize, trajectory: Trajectory<typeof desk>, writ: ProposalInput['writ']) {
  const spender = { name: 'spender', params: { agent: 'ada' } } as const;
  // An argument with a default may be left out.
  await trajectory.propose({ action: 'spend', role: spender, args: { amount: 1 }, writ });
  const both = { agent: 'ada', desk: '3' };
  const spend = { action: 'spend', args: { amount: 1 }, writ } as const;
  await trajectory.propose({ action: 'spend', role: { name: 'clerk', params: both }, args: { amount: 1 }, writ });
  await trajectory.propose({ action: 'look', role: 'reader', args: null, writ, principal: 'x', idempotencyKey: 'k' });
  await trajectory.propose({ action: 'look', role: { name: 'reader', params: {} }, args: null, writ });
  // @ts-expect-error no such action
  await trajectory.propose({ action: 'spent', role: spender, args: { amount: 1 }, writ });
  // @ts-expect-error wrong type of an argument
  await trajectory.propose({ action: 'spend', role: spender, args: { amount: '1' }, writ });
  // @ts-expect-error an argument is missing
  await trajectory.propose({ action: 'spend', role: spender, args: {}, writ });
  // @ts-expect-error no such argument
  await trajectory.propose({ action: 'spend', role: spender, args: { amount: 1, more: 2 }, writ });
  // @ts-expect-error arguments of another action
  await trajectory.propose({ action: 'claim', role: { name: 'clerk', params: both }, args: { amount: 1 }, writ });
  // @ts-expect-error a role with parameters is not named alone
  await trajectory.propose({ action: 'spend', role: 'spender', args: { amount: 1 }, writ });
  // @ts-expect-error no such role
  await trajectory.propose({ action: 'look', role: 'nobody', args: null, writ });
  // @ts-expect-error a role that does not perform the process
  await trajectory.propose({ action: 'claim', role: spender, args: { id: 'x' }, writ });
  // @ts-expect-error a parameter is missing
  await trajectory.propose({ action: 'spend', role: { name: 'spender', params: {} }, args: { amount: 1 }, writ });
  // @ts-expect-error no such parameter
  await trajectory.propose({ action: 'look', role: { name: 'reader', params: { agent: 'a' } }, args: null, writ });
  // @ts-expect-error parameters are texts
  await trajectory.propose({ ...spend, role: { name: 'spender', params: { agent: 1 } } });
  // @ts-expect-error no writ
  await trajectory.propose({ action: 'look', role: 'reader', args: null });

  const seen = trajectory.slice('spender', { agent: 'ada' });
  const cap: number = seen.cap;
  const spent: number | undefined = seen.spent['ada'];
  // @ts-expect-error the spender sees no claims
  seen.claims;
  // @ts-expect-error what is not there is undefined
  const sure: number = seen.spent['ada'];
  // @ts-expect-error the parameters of the role
  trajectory.slice('spender');
  // @ts-expect-error no such parameter
  trajectory.slice('spender', { agent: 'ada', desk: '3' });
  // @ts-expect-error no such role
  trajectory.slice('nobody');
  const by: string | undefined = trajectory.slice('reader').claims['c']?.by;
  const clerk = trajectory.slice('clerk', both);
  const amount: number | undefined = clerk.claims['c']?.amount;
  // A null value has nothing below it, and is then not visible.
  const lastBy: string | undefined = clerk.last?.by;
  // @ts-expect-error of a claim the clerk sees the amount only
  clerk.claims['c']?.by;
  // @ts-expect-error the last claimant may be missing
  clerk.last.by;
  // @ts-expect-error a list that may only grow is not seen
  clerk.log;

  // @ts-expect-error a slice is a copy, so a write to it is lost
  seen.cap = 3;
  // @ts-expect-error at every depth
  trajectory.slice('reader').claims['c'] = { by: 'ada', amount: 1 };
  // @ts-expect-error at every depth
  (trajectory.slice('reader').claims['c'] ?? { by: '' }).by = 'eve';

  trajectory.subscribe('spender', { agent: 'ada' }, (slice) => slice.cap.toFixed());
  trajectory.subscribe('reader', {}, ({ claims }) => claims['c']?.by);
  // @ts-expect-error the spender sees no claims
  trajectory.subscribe('spender', { agent: 'ada' }, ({ claims }) => claims);
  // @ts-expect-error the parameters of the role
  trajectory.subscribe('spender', {}, () => {});

  const created: Trajectory<typeof desk> = await assize.create(desk);
  const opened: Trajectory<typeof desk> = await assize.open('t', desk);
  // @ts-expect-error a trajectory of one domain is not one of another
  const other: Trajectory<typeof udt> = opened;
  const untyped: Trajectory = created;
  await (await assize.open('t')).propose({ action: 'whatever', role: 'anybody', args: undefined, writ });
  const any: unknown = untyped.slice('anybody');
  const domains: Domain[] = [desk, udt, opened.domain];
  const form: string | undefined = opened.domain.actions.claim.description;
  return [cap, spent, sure, by, amount, lastBy, other, any, domains, form];
}

export function checked() {
  checkDomain(desk, {
    roles: { spender: [{ agent: 'a' }], reader: [{}] },
    args: { spend: fc.constant({ amount: 1 }) },
  });
  // @ts-expect-error no such option
  checkDomain(desk, { runz: 1 });
  // @ts-expect-error no such role
  checkDomain(desk, { roles: { spendr: [{ agent: 'a' }] } });
  // @ts-expect-error no such parameter
  checkDomain(desk, { roles: { spender: [{ agnet: 'a' }] } });
  // @ts-expect-error no such action
  checkDomain(desk, { args: { spent: fc.constant({ amount: 1 }) } });
  // @ts-expect-error no such argument
  checkDomain(desk, { args: { spend: fc.constant({ amout: 1 }) } });
}

export async function shipped(trajectory: Trajectory<typeof udt>, writ: ProposalInput['writ']) {
  const role = { name: 'Billing', params: { patient: 'p' } } as const;
  const args = { claim: 'c', test: 't', date: '2026-01-01', tier: '90+' } as const;
  await trajectory.propose({ action: 'submit_claim', role, args, writ });
  const order = { order: 'o', type: 'definitive', rationale: 'r' } as const;
  // @ts-expect-error Billing orders no tests
  await trajectory.propose({ action: 'order_test', role, args: order, writ });
  // @ts-expect-error no such tier
  await trajectory.propose({ action: 'submit_claim', role, args: { ...args, tier: '60+' }, writ });
  const tier: string | undefined = trajectory.slice('Billing', role.params).claims['p']?.['c']?.tier;
  // @ts-expect-error Billing sees no tests
  trajectory.slice('Billing', role.params).tests;
  return tier;
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = T extends (infer Item)[] ? Flat<Item>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Shop = {
  a: { b: number; c?: { d: string } };
  l: { x: number; y: number }[];
  r: Record<string, { p: number; q: string }>;
};

/** The part of a state under pointers; wider where they don't say, never narrower. */
export const parts: [
  Same<Flat<StatePart<Shop, ''>>, Flat<Shop>>,
  Same<Flat<StatePart<Shop, '/a/b'>>, { a: { b: number } }>,
  Same<Flat<StatePart<Shop, '/a/c/d' | '/a/b'>>, { a: { b: number; c?: { d: string } | undefined } }>,
  Same<Flat<StatePart<Shop, '/a/*'>>, { a: Shop['a'] }>,
  // One of the members, and which one is not known.
  Same<Flat<StatePart<Shop['l'][number], '/{k}'>>, { x?: number; y?: number }>,
  Same<Flat<StatePart<Shop, '/l/*/x'>>, { l: { x: number }[] }>,
  Same<Flat<StatePart<Shop, '/l/0/x'>>, { l: ({ x: number } | null)[] }>,
  Same<Flat<StatePart<Shop, '/l/-'>>, Record<never, never>>,
  // A value of unknown type may have anything below it.
  Same<StatePart<{ x: unknown; y: number }, '/x/deep'>['x'], unknown>,
  // A member shows one of the two, and the type cannot know the one.
  Same<Flat<StatePart<Shop, '/r/m/p' | '/r/*/q'>>, { r: { [key: string]: { p: number } | { q: string } } }>,
] = [true, true, true, true, true, true, true, true, true, true];
