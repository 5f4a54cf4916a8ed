import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ANYONE } from '../../../../../tests/support/models/permissive-authority.ts';
import { defineDomain } from '../domain/define-domain.ts';
import { EVERYTHING } from '../domain/footprint.ts';
import { each, type Invariant, invariant } from '../domain/invariant.ts';
import { escalate, type InvariantResult, pass, reject } from '../domain/invariant-result.ts';
import { changesOf } from '../state/changes.ts';
import { Draft } from '../state/draft.ts';
import { adjudicate, type Ruling } from './adjudicate.ts';
import { detectionVector, firstFinding } from './full-check.ts';
import { World } from './world.ts';

const AT = '2026-03-23T09:00:00.000000Z';
const START = {
  orders: { o1: { user: 'ada', total: 5 }, o2: { user: 'bob', total: 5 } } as Record<
    string,
    { user: string; total: number }
  >,
  users: { ada: { limit: 10 }, bob: { limit: 10 } } as Record<string, { limit: number }>,
  log: [] as number[],
};

type State = typeof START;

/** A `World` with an action that applies its arguments, and a count of each rule's checks. */
function worldOf(
  rules: (
    asked: (id: string, result: InvariantResult) => InvariantResult,
  ) => readonly Invariant<any>[],
  start: State = START,
) {
  const asked: string[] = [];
  let todo: (state: any) => void = () => {};
  const domain = defineDomain<any, any>({
    name: 'shop',
    version: '1',
    state: z.any(),
    processes: { work: { writes: [''] } },
    roles: { worker: { processes: ['work'] } },
    actions: { act: { process: 'work', args: z.null(), apply: (state: any) => todo(state) } },
    invariants: rules((id, result) => {
      asked.push(id);
      return result;
    }),
  });
  const world = new World(domain, structuredClone(start));
  const act = (change: (state: any) => void): Ruling => {
    todo = change;
    asked.length = 0;
    const intent = { action: 'act', role: { name: 'worker', params: {} }, args: null };
    const ruling = adjudicate(world, intent, ANYONE, { at: AT, observations: [] });
    if (ruling.verdict === 'approved') ruling.keep();
    return ruling;
  };
  return { world, domain, asked, act };
}

const limits = (
  asked: (id: string, result: InvariantResult) => InvariantResult,
): Invariant<any>[] => [
  each<any, '/orders/*', any>(
    'LIMIT',
    '/orders/*',
    { reads: ['/users/*'], with: ({ user }: any) => ({ user: `/users/${user}` }) },
    ({ total }: any, { user }: any, [id]: readonly string[]) =>
      asked(
        `LIMIT ${id}`,
        user !== undefined && total <= user.limit ? pass : reject(`${total} is too much`),
      ),
  ),
  invariant('LOG', ['/log'], ({ log }) => asked('LOG', log.length < 3 ? pass : reject('full'))),
];

describe('only values that a change touches are checked', () => {
  test('an item is checked when it or one of its dependencies changes', () => {
    const { asked, act } = worldOf(limits);
    act((s) => (s.orders.o1.total = 6));
    expect(asked).toEqual(['LIMIT o1']);
    act((s) => (s.users.bob.limit = 9));
    expect(asked).toEqual(['LIMIT o2']);
    act((s) => s.log.push(1));
    expect(asked).toEqual(['LOG']);
    act((s) => (s.users.eve = { limit: 1 }));
    expect(asked).toEqual([]);
    act(() => {});
    expect(asked).toEqual([]);
  });

  test('an item with a new dependency is found by it, and not by the old one', () => {
    const { asked, act } = worldOf(limits);
    act((s) => (s.orders.o1.user = 'bob'));
    act((s) => (s.users.ada.limit = 0));
    expect(asked).toEqual([]);
    expect(act((s) => (s.users.bob.limit = 4))).toMatchObject({
      verdict: 'rejected',
      detail: '/orders/o1: 5 is too much',
    });
    act((s) => delete s.orders.o1);
    act((s) => (s.users.bob.limit = 8));
    expect(asked).toEqual(['LIMIT o2']);
  });

  test('a rejected change does not move the index', () => {
    const { asked, act } = worldOf(limits);
    expect(act((s) => (s.orders.o1 = { user: 'bob', total: 99 })).verdict).toBe('rejected');
    act((s) => (s.users.ada.limit = 9));
    expect(asked).toEqual(['LIMIT o1']);
    act((s) => (s.users.bob.limit = 9));
    expect(asked).toEqual(['LIMIT o2']);
  });

  test('a member that comes back is judged again', () => {
    const { act } = worldOf(limits);
    act((s) => (s.orders = {}));
    expect(act((s) => (s.orders.o1 = { user: 'ada', total: 11 })).verdict).toBe('rejected');
    expect(act((s) => (s.orders = { o9: { user: 'nobody', total: 1 } })).verdict).toBe('rejected');
  });

  test('an item does not depend on the list length: no change has that path', () => {
    const seen: unknown[] = [];
    const { act } = worldOf((asked) => [
      each<any, '/users/*', any>(
        'LENGTH',
        '/users/*',
        { reads: ['/log'], with: () => ({ length: '/log/length', log: '/log' }) },
        (_, { length, log }) => {
          seen.push(length);
          return asked('LENGTH', log.length > 1 ? reject('full') : pass);
        },
      ),
    ]);
    expect(act((s) => s.log.push(1)).verdict).toBe('approved');
    expect(act((s) => s.log.push(2))).toMatchObject({
      invariantId: 'LENGTH',
      detail: '/users/ada: full',
    });
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  test('a rule that sees one place of a list can’t say how many there are', () => {
    const { world } = worldOf(() => [
      invariant('FIRST', ['/log/0'], ({ log }) => (log[0] === undefined ? pass : reject('begun'))),
      invariant('ALL', ['/log/0'], ({ log }) => (log.length > 2 ? reject('full') : pass)),
      invariant('LENGTH', ['/log/length'], ({ log }) => (log.length > 2 ? reject('full') : pass)),
    ]);
    expect(world.failing.map(({ rule, result }) => [rule.id, result.detail])).toEqual([
      ['ALL', 'the check of the invariant failed: /log/* is outside the footprint'],
      ['LENGTH', 'the check of the invariant failed: /log/* is outside the footprint'],
    ]);
  });

  test('an item is checked when the item it references appears or disappears', () => {
    const start = { ...START, orders: { o1: { user: 'eve', total: 1 } } };
    const rules = (asked: any): Invariant<any>[] => [
      each<any, '/orders/*', any>(
        'FREE',
        '/orders/*',
        { reads: ['/users/*'], with: ({ user }: any) => ({ user: `/users/${user}` }) },
        (_order: any, { user }: any) => asked('FREE', user === undefined ? pass : reject('taken')),
      ),
    ];
    const { act } = worldOf(rules, start);
    expect(act((s) => (s.users.eve = { limit: 1 })).verdict).toBe('rejected');
    expect(act((s) => (s.users = { ...s.users, eve: { limit: 1 } })).verdict).toBe('rejected');
    expect(act((s) => delete s.users.ada).verdict).toBe('approved');
  });
});

describe('a failing check', () => {
  const broken: State = { ...START, log: [1, 2, 3] };

  test('is judged on every proposal, in its place in the order, until it passes', () => {
    const { world, asked, act } = worldOf(limits, broken);
    expect(world.failing.map(({ rule }) => rule.id)).toEqual(['LOG']);
    expect(act((s) => (s.users.bob.limit = 9))).toMatchObject({
      verdict: 'rejected',
      invariantId: 'LOG',
    });
    expect(act((s) => (s.orders.o1.total = 99))).toMatchObject({
      verdict: 'rejected',
      invariantId: 'LIMIT',
    });
    expect(act((s) => s.log.pop()).verdict).toBe('approved');
    expect(world.failing).toEqual([]);
    act((s) => (s.users.bob.limit = 8));
    expect(asked).toEqual(['LIMIT o2']);
  });

  test('is every member by itself', () => {
    const start = { ...START, users: { ada: { limit: 1 }, bob: { limit: 1 } } };
    const { world, act } = worldOf(limits, start);
    expect(world.failing.map(({ keys }) => keys)).toEqual([['o1'], ['o2']]);
    expect(act((s) => (s.users.ada.limit = 9))).toMatchObject({
      detail: '/orders/o2: 5 is too much',
    });
    expect(act((s) => (s.users = { ada: { limit: 9 }, bob: { limit: 9 } })).verdict).toBe(
      'approved',
    );
    expect(world.failing).toEqual([]);
  });

  test('may go away with its member', () => {
    const start = { ...START, users: { ada: { limit: 1 }, bob: { limit: 10 } } };
    const { world, act } = worldOf(limits, start);
    expect(act((s) => delete s.orders.o1).verdict).toBe('approved');
    expect(world.failing).toEqual([]);
  });
});

describe('the first member that does not pass', () => {
  const keys = ['b', 'a/b', 'a!', 'a', '10', '9', 'a~', ''];
  const start = { ...START, users: Object.fromEntries(keys.map((key) => [key, { limit: 0 }])) };
  const rules = (): Invariant<any>[] => [
    each<any, '/users/*', any>('POSITIVE', '/users/*', {}, ({ limit }: any) =>
      limit >= 0 ? pass : reject('negative'),
    ),
  ];

  test('is the first by the text of its key, however many changed', () => {
    for (let n = 1; n <= keys.length; n++) {
      const some = keys.slice(0, n);
      const { world, domain, act } = worldOf(rules, start);
      const ruling = act((s) => {
        for (const key of some) s.users[key].limit = -1;
      });
      const first = [...some].sort()[0] as string;
      const pointer = `/users/${first.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      expect(ruling).toMatchObject({ detail: `${pointer}: negative` });
      const bad = {
        ...start,
        users: Object.fromEntries(keys.map((key) => [key, { limit: some.includes(key) ? -1 : 0 }])),
      };
      expect(firstFinding(domain, bad as never)?.keys).toEqual([first]);
      expect(world.state).toEqual(start);
    }
  });

  test('with two stars by one key after the other', () => {
    const nested = {
      ...START,
      users: { a: { z: { n: 0 } }, 'a!': { b: { n: 0 } } } as never,
    };
    const deep = (): Invariant<any>[] => [
      each<any, '/users/*/*', any>('N', '/users/*/*', {}, ({ n }: any) =>
        n === 0 ? pass : reject('no'),
      ),
    ];
    const { act } = worldOf(deep, nested);
    const ruling = act((s) => {
      s.users['a!'].b.n = 1;
      s.users.a.z.n = 1;
    });
    expect(ruling).toMatchObject({ detail: '/users/a/z: no' });
  });
});

test('a detection vector lists all rules in order, with a first failing item', () => {
  const state = { ...START, users: { ada: { limit: 1 }, bob: { limit: 1 } }, log: [1, 2, 3] };
  const { domain } = worldOf(limits);
  expect(detectionVector(domain, state as never)).toEqual([
    { invariant_id: 'LIMIT', result: 'reject', detail: '/orders/o1: 5 is too much' },
    { invariant_id: 'LOG', result: 'reject', detail: 'full' },
  ]);
  expect(detectionVector(domain, START as never)).toEqual([
    { invariant_id: 'LIMIT', result: 'pass' },
    { invariant_id: 'LOG', result: 'pass' },
  ]);
});

test('a rule over items may not read outside its declared reads', () => {
  const { act } = worldOf(
    () => [
      each<any, '/orders/*', any>(
        'PEEK',
        '/orders/*',
        { reads: ['/users/ada'], with: () => ({ it: '/users/bob' }) },
        () => pass,
      ),
      each<any, '/log/*', any>(
        'ODD',
        '/log/*',
        { reads: ['/users/*'], with: () => ({ it: 'users' as never }) },
        () => pass,
      ),
      each<any, '/users/*', any>('ASK', '/users/*', {}, () => escalate('x')),
    ],
    { ...START, orders: {}, users: {} },
  );
  expect(act((s) => (s.orders.o1 = { user: 'x', total: 1 }))).toMatchObject({
    invariantId: 'PEEK',
    detail: '/orders/o1: the check of the invariant failed: /users/bob is outside the footprint',
  });
  expect(act((s) => s.log.push(1))).toMatchObject({ invariantId: 'ODD', verdict: 'rejected' });
});

describe('an excused failure', () => {
  const rules = (
    asked: (id: string, result: InvariantResult) => InvariantResult,
  ): Invariant<any>[] => [
    invariant('LOG', ['/log'], ({ log }) => asked('LOG', log.length < 3 ? pass : reject('full'))),
    invariant('USERS', ['/users'], ({ users }) =>
      asked('USERS', users.eve === undefined ? pass : reject('eve is here')),
    ),
  ];
  const full = { ...START, log: [1, 2, 3] };

  test.each([false, true])(
    'rejects no proposal until a change touches it (strict: %s)',
    (strict) => {
      const { domain } = worldOf(rules, full);
      const world = new World(domain, structuredClone(full), undefined, { strict });
      expect(world.failing).toHaveLength(1);
      world.checks.excuse(({ rule }) => rule.id === 'LOG');
      expect(world.failing).toEqual([]);
      const judged = (change: (state: any) => void): string | undefined => {
        const draft = new Draft(world.state, undefined);
        draft.within(EVERYTHING, change);
        const { finding, keep } = world.checks.checkChanges(draft.state, changesOf(draft));
        if (finding === undefined) keep();
        else world.rollback(draft);
        return finding?.rule.id;
      };
      expect(judged((s) => (s.users.ada.limit = 11))).toBeUndefined();
      expect(judged((s) => s.log.push(4))).toBe('LOG');
      expect(judged((s) => (s.users.eve = { limit: 1 }))).toBe('USERS');
      // As after a counselor's commit: it checks everything again.
      world.checks.restart(world.state);
      expect(judged((s) => (s.users.ada.limit = 12))).toBeUndefined();
      // Once it passes it is an ordinary rule.
      expect(judged((s) => s.log.pop())).toBeUndefined();
      expect(judged((s) => s.log.push(9))).toBe('LOG');
      expect(judged((s) => (s.users.ada.limit = 13))).toBeUndefined();
    },
  );
});
