import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ANYONE } from '../../../../tests/support/models/permissive-authority.ts';
import { defineDomain } from './domain/define-domain.ts';
import type { Invariant } from './domain/invariant.ts';
import { count, invariant, sum, unique } from './domain/invariant.ts';
import { escalate, pass, reject } from './domain/invariant-result.ts';
import { adjudicate, type Ruling } from './judge/adjudicate.ts';
import { World } from './judge/world.ts';

interface Order {
  user: string;
  total: number;
  open: boolean;
  number?: string;
}

const START = {
  cap: 100,
  limits: { ada: 30, bob: 50 } as Record<string, number>,
  spent: { ada: 10, bob: 20 } as Record<string, number>,
  orders: {
    o1: { user: 'ada', total: 5, open: true, number: 'A-1' },
    o2: { user: 'bob', total: 7, open: false, number: 'B-1' },
  } as Record<string, Order>,
};
type State = typeof START;
type None = Record<never, '/'>;

function worldOf(rules: readonly Invariant<State>[], start: State = START) {
  let todo: (state: State) => void = () => {};
  const domain = defineDomain<any, any>({
    name: 'shop',
    version: '1',
    state: z.any(),
    processes: { work: { writes: [''] } },
    roles: { worker: { processes: ['work'] } },
    actions: { act: { process: 'work', args: z.null(), apply: (state: State) => todo(state) } },
    invariants: rules,
    counselors: { boss: () => true },
  });
  const world = new World(domain, structuredClone(start));
  const act = (change: (state: State) => void): Ruling => {
    todo = change;
    const ruling = adjudicate(
      world,
      { action: 'act', role: { name: 'worker', params: {} }, args: null },
      ANYONE,
      {
        at: '2026-03-23T09:00:00.000000Z',
        observations: [],
      },
    );
    if (ruling.verdict === 'approved') ruling.keep();
    return ruling;
  };
  return { world, act };
}

describe('unique', () => {
  const numbers = unique<State, '/orders/*'>('NUMBERS', '/orders/*', {
    by: (order) => order.number,
  });

  test('two members can’t have one value, and the refusal says which', () => {
    const { act } = worldOf([numbers]);
    expect(
      act((s) => (s.orders['o3'] = { user: 'eve', total: 1, open: true, number: 'B-1' })),
    ).toMatchObject({
      verdict: 'rejected',
      invariantId: 'NUMBERS',
      detail: '/orders/o2 and /orders/o3 have the same value, which must be unique',
    });
    expect(
      act((s) => (s.orders['o3'] = { user: 'eve', total: 1, open: true, number: 'E-1' })).verdict,
    ).toBe('approved');
  });

  test('a value that is free again may be taken, also in one step by a swap', () => {
    const { act } = worldOf([numbers]);
    const swapped = act((s) => {
      const [one, two] = [s.orders['o1'] as Order, s.orders['o2'] as Order];
      [one.number, two.number] = ['B-1', 'A-1'];
    });
    expect(swapped.verdict).toBe('approved');
    expect(act((s) => delete s.orders['o2']).verdict).toBe('approved');
    expect(
      act((s) => (s.orders['o4'] = { user: 'eve', total: 1, open: true, number: 'A-1' })).verdict,
    ).toBe('approved');
  });

  test('items without a value are ignored; a string is not its lookalike number', () => {
    const { act } = worldOf([
      unique<State, '/orders/*'>('TOTALS', '/orders/*', {
        by: ({ number, total }) => number ?? total,
      }),
    ]);
    expect(
      act((s) => {
        s.orders['o3'] = { user: 'eve', total: 5, open: true };
        s.orders['o4'] = { user: 'eve', total: 6, open: true, number: '5' };
      }).verdict,
    ).toBe('approved');
    const { act: actFree } = worldOf([numbers]);
    expect(
      actFree((s) => {
        delete s.orders['o1']?.number;
        delete s.orders['o2']?.number;
      }).verdict,
    ).toBe('approved');
  });

  test('a composite value is taken as of its time, also as a part of the state', () => {
    const { act } = worldOf([
      unique<State, '/orders/*'>('WHOLE', '/orders/*', { by: (order) => order as never }),
    ]);
    const { user, number } = START.orders['o2'] as Required<Order>;
    expect(
      act((s) => {
        Object.assign(s.orders['o1'] as Order, { user, number, total: 7, open: false });
      }),
    ).toMatchObject({ verdict: 'rejected' });
    expect(act((s) => ((s.orders['o2'] as Order).total = 8)).verdict).toBe('approved');
    expect(act((s) => (s.orders['o3'] = { user, total: 7, open: false, number })).verdict).toBe(
      'approved',
    );
  });

  test('its check may ask a person', () => {
    const { act } = worldOf([
      unique<State, '/orders/*'>(
        'NUMBERS',
        '/orders/*',
        { by: ({ number }) => number, channel: 'boss' },
        (places) => escalate(`the same number at ${places.join(' and ')}`),
      ),
    ]);
    expect(act((s) => ((s.orders['o2'] as Order).number = 'A-1'))).toMatchObject({
      verdict: 'escalated',
      detail: 'the same number at /orders/o1 and /orders/o2',
      channel: 'boss',
    });
  });
});

describe('sum', () => {
  test('of all members, beside another place', () => {
    const cap = sum<State, '/spent/*', { cap: '/cap' }>(
      'CAP',
      '/spent/*',
      { reads: ['/cap'], with: () => ({ cap: '/cap' }) },
      (spent, { cap = 0 }) => (spent <= cap ? pass : reject(`spent ${spent} of ${cap}`)),
    );
    const { act } = worldOf([cap]);
    expect(act((s) => (s.spent['eve'] = 70)).verdict).toBe('approved');
    expect(act((s) => (s.spent['ada'] = 11))).toMatchObject({
      verdict: 'rejected',
      detail: 'spent 101 of 100',
    });
    expect(act((s) => (s.cap = 99))).toMatchObject({
      verdict: 'rejected',
      detail: 'spent 100 of 99',
    });
    expect(
      act((s) => {
        s.cap = 200;
        s.spent['ada'] = 110;
      }).verdict,
    ).toBe('approved');
  });

  test('by group, each with a limit of its own; an empty group is not judged', () => {
    const limits = sum<State, '/orders/*', any>(
      'LIMITS',
      '/orders/*',
      {
        per: ({ user }) => user,
        of: ({ total }) => total,
        reads: ['/limits/*'],
        with: (user) => ({ limit: `/limits/${user}` }),
      },
      (total, { limit }: any, user) =>
        total <= (limit ?? 0) ? pass : reject(`${user} ordered ${total} of ${limit ?? 0}`),
    );
    const { act } = worldOf([limits]);
    expect(act((s) => ((s.orders['o2'] as Order).user = 'ada')).verdict).toBe('approved');
    expect(act((s) => ((s.orders['o2'] as Order).total = 26))).toMatchObject({
      detail: 'ada ordered 31 of 30',
    });
    expect(act((s) => (s.limits['ada'] = 11))).toMatchObject({ detail: 'ada ordered 12 of 11' });
    // bob has no orders any more, so no group is left to check.
    expect(act((s) => delete s.limits['bob']).verdict).toBe('approved');
    expect(act((s) => ((s.orders['o2'] as Order).user = 'bob'))).toMatchObject({
      detail: 'bob ordered 7 of 0',
    });
  });

  test('a member named length is gone when a list comes in its place', () => {
    const start = { ...START, parts: { a: { length: 0 } as object, b: [] as number[] } };
    const rule = sum<any, '/parts/*/*'>('PARTS', '/parts/*/*', {}, (total) =>
      total > 3 ? reject(`${total}`) : pass,
    );
    const { act } = worldOf([rule as Invariant<any>], start);
    const parts = (state: State): typeof start.parts => (state as typeof start).parts;
    expect(act((s) => (parts(s).a = [0, 0, 0])).verdict).toBe('approved');
    expect(act((s) => parts(s).b.push(3)).verdict).toBe('approved');
    expect(act((s) => parts(s).b.push(1))).toMatchObject({ detail: '4' });
  });

  test('sums are exact, and fail closed where they can’t be', () => {
    const rule = sum<State, '/spent/*', None>('SUM', '/spent/*', {}, (total) =>
      total === 30 ? pass : reject(`${total}`),
    );
    const { act } = worldOf([rule]);
    expect(act((s) => (s.spent['ada'] = 10.5))).toMatchObject({
      detail:
        'the invariant cannot be checked: /spent/ada cannot be counted: its amount is not a whole number within 2^53 - 1',
    });
    expect(
      act((s) => {
        s.spent['x'] = 2 ** 53 - 1;
        s.spent['y'] = 5;
      }),
    ).toMatchObject({
      detail:
        'the check of the invariant failed: it threw: the sum 9007199254741026 is beyond 2^53 - 1',
    });
    expect(
      act((s) => {
        s.spent['x'] = 2 ** 53 - 1;
        s.spent['y'] = 1;
        s.spent['z'] = -(2 ** 53 - 1);
        s.spent['w'] = -1;
      }).verdict,
    ).toBe('approved');
  });
});

describe('count', () => {
  test('of those that are meant, by group', () => {
    const open = count<State, '/orders/*', None>(
      'OPEN',
      '/orders/*',
      { where: (order) => order.open, per: ({ user }) => user },
      (n, _others, user) => (n <= 1 ? pass : reject(`${user} has ${n} open orders`)),
    );
    const { act } = worldOf([open]);
    expect(act((s) => (s.orders['o3'] = { user: 'ada', total: 1, open: true }))).toMatchObject({
      detail: 'ada has 2 open orders',
    });
    expect(act((s) => (s.orders['o3'] = { user: 'ada', total: 1, open: false })).verdict).toBe(
      'approved',
    );
    expect(
      act((s) => {
        (s.orders['o1'] as Order).open = false;
        (s.orders['o3'] as Order).open = true;
      }).verdict,
    ).toBe('approved');
  });

  test('of all, also when there is none, and when the whole collection goes', () => {
    const some = count<State, '/orders/*', None>('SOME', '/orders/*', {}, (n) =>
      n > 0 ? pass : reject('no orders left'),
    );
    const { act } = worldOf([some]);
    expect(act((s) => (s.orders = {}))).toMatchObject({ detail: 'no orders left' });
    expect(act((s) => delete (s as Partial<State>).orders)).toMatchObject({
      detail: 'no orders left',
    });
    expect(() => worldOf([some], { ...START, orders: {} })).not.toThrow();
    expect(worldOf([some], { ...START, orders: {} }).world.failing).toHaveLength(1);
  });
});

describe('an index of a plain rule', () => {
  const budget = invariant<State, { spent: '/spent/*'; open: '/orders/*' }>(
    'BUDGET',
    ['/cap'],
    ({ cap }, { spent, open }) =>
      spent.sum() + open.count('ada') <= cap
        ? pass
        : reject(`${spent.sum()} and ${open.count('ada')} of ${cap}`),
    {
      index: {
        spent: { path: '/spent/*', of: (amount) => amount },
        open: { path: '/orders/*', per: (order) => (order.open ? order.user : undefined) },
      },
    },
  );

  test('gives figures of collections that the check does not walk', () => {
    const { act } = worldOf([budget]);
    expect(act((s) => (s.spent['eve'] = 70))).toMatchObject({ detail: '100 and 1 of 100' });
    expect(
      act((s) => {
        s.spent['eve'] = 70;
        (s.orders['o1'] as Order).open = false;
      }).verdict,
    ).toBe('approved');
    expect(act((s) => (s.cap = 99))).toMatchObject({ detail: '100 and 0 of 99' });
  });

  test('belongs to its footprint, and is all that it sees of it', () => {
    const { world } = worldOf([
      invariant<any, any>('PEEK', ['/cap'], (state) => state.spent.ada, {
        index: { spent: { path: '/spent/*' } },
      }),
    ]);
    expect(world.failing).toMatchObject([
      { result: { detail: 'the check of the invariant failed: /spent is outside the footprint' } },
    ]);
    expect(world.domain.rules[0]?.patterns).toHaveLength(2);
  });

  test('has no undeclared sum', () => {
    const { world } = worldOf([
      invariant<any, any>('SUM', [], (_state, { spent }: any) => (spent.sum() > 0 ? pass : pass), {
        index: { spent: { path: '/spent/*' } },
      }),
    ]);
    expect(world.failing).toMatchObject([
      {
        result: {
          detail:
            'the check of the invariant failed: it threw: the index spent has no amount to sum; add `of`',
        },
      },
    ]);
  });
});
