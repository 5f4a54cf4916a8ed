import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Authority,
  adjudicate,
  type Domain,
  defineDomain,
  each,
  initialState,
  pass,
  reject,
  World,
} from '../index.ts';

const ANYONE: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

function propose(world: World, action: string, args: unknown) {
  const intent = { action, role: { name: 'r', params: {} }, args } as never;
  const ruling = adjudicate(world, intent, ANYONE, {
    at: '2026-01-01T00:00:00.000000Z',
    observations: [],
  });
  if (ruling.verdict === 'approved') ruling.keep();
  return ruling;
}

test('a rule that caches by object receives a new object for a new proposal', () => {
  const totals = new WeakMap<object, number>();
  const total = (order: { items: number[] }): number => {
    if (!totals.has(order))
      totals.set(
        order,
        order.items.reduce((sum, price) => sum + price, 0),
      );
    return totals.get(order) as number;
  };
  const domain = defineDomain({
    name: 'orders',
    version: '1',
    state: z.object({ orders: z.record(z.string(), z.object({ items: z.array(z.number()) })) }),
    initial: { orders: { o1: { items: [] } } },
    processes: { p: { writes: ['/orders'] } },
    roles: { r: { processes: ['p'] } },
    actions: {
      add: {
        process: 'p',
        args: z.object({ price: z.number() }),
        apply: (s, { price }) => void s.orders['o1']?.items.push(price),
      },
    },
    invariants: [
      each<any, '/orders/*', any>('AT_MOST_100', '/orders/*', {}, (order) =>
        total(order) <= 100 ? pass : reject('too much'),
      ),
      each<any, '/orders/*', any>('NOT_NEGATIVE', '/orders/*', {}, (order) =>
        total(order) >= 0 ? pass : reject('negative'),
      ),
    ],
  }) as Domain;
  const world = new World(domain, initialState(domain));
  expect([60, 30, 500].map((price) => propose(world, 'add', { price }).verdict)).toEqual([
    'approved',
    'approved',
    'rejected',
  ]);
});

describe('arguments are the output of the schema', () => {
  const domain = defineDomain({
    name: 'seen',
    version: '1',
    state: z.object({ paid: z.record(z.string(), z.number()), link: z.string() }),
    initial: { paid: {}, link: '' },
    processes: { p: { writes: ['/paid', '/link'] } },
    roles: { r: { processes: ['p'] } },
    actions: {
      pay: {
        process: 'p',
        args: z.object({ amounts: z.record(z.string(), z.int().min(1)) }),
        apply: (s, { amounts }) => void Object.assign(s.paid, amounts),
      },
      link: {
        process: 'p',
        args: z.object({ url: z.url({ normalize: true }) }),
        apply: (s, { url }) => {
          s.link = url;
        },
      },
    },
    invariants: [],
  }) as Domain;

  test('a member named __proto__ is absent, because zod skips it', () => {
    const world = new World(domain, initialState(domain));
    const ruling = propose(world, 'pay', JSON.parse('{"amounts":{"eve":5,"__proto__":-999950}}'));
    expect(ruling).toMatchObject({
      verdict: 'approved',
      compiled: { args: { amounts: { eve: 5 } } },
    });
    expect(Object.keys((ruling as any).compiled.args.amounts)).toEqual(['eve']);
  });

  test('a change by the schema is recorded', () => {
    const world = new World(domain, initialState(domain));
    const ruling = propose(world, 'link', { url: '  HTTPS://Example.org \n' });
    expect(ruling).toMatchObject({ compiled: { args: { url: 'https://example.org/' } } });
  });

  test('arguments are deeply frozen, also if parts were frozen before', () => {
    const world = new World(domain, initialState(domain));
    const ruling = propose(world, 'pay', Object.freeze({ amounts: { eve: 5 } })) as any;
    expect(Object.isFrozen(ruling.compiled.args.amounts)).toBe(true);
  });
});

describe('a list that may only grow', () => {
  const domainOf = (reads: string[]): Domain =>
    defineDomain({
      name: 'log',
      version: '1',
      state: z.object({
        log: z.array(z.object({ who: z.string(), secret: z.string().optional() })).optional(),
      }),
      processes: { p: { reads, writes: ['/log/-'] } },
      roles: { r: { processes: ['p'] } },
      actions: {
        act: {
          process: 'p',
          args: z.object({ how: z.string() }),
          apply: (s: any, { how }) => {
            if (how === 'push') s.log.push({ who: 'b' });
            if (how === 'filter') s.log = s.log.filter(() => true);
            if (how === 'guess') s.log[0] = { who: 'a', secret: '1234' };
            if (how === 'pop') s.log.pop();
            if (how === 'begin') s.log = [{ who: 'b' }];
            if (how === 'delete') delete s.log;
            if (how === 'shorten') s.log.length = 0;
          },
        },
      },
      invariants: [],
    }) as Domain;
  const verdict = (how: string, log: unknown, reads: string[] = []): string => {
    const domain = domainOf(reads);
    return propose(
      new World(domain, initialState(domain, log === undefined ? {} : { log })),
      'act',
      { how },
    ).verdict;
  };

  test.each(['filter', 'guess', 'pop', 'begin', 'delete', 'shorten'])(
    '%s is refused for any hidden content',
    (how) => {
      for (const reads of [[], ['/log/*/who']]) {
        for (const hidden of [{}, { secret: '1234' }, { secret: 's' }]) {
          expect(verdict(how, [{ who: 'a', ...hidden }], reads)).toBe('rejected');
        }
      }
    },
  );

  test('it grows, and begins where there is none', () => {
    expect(verdict('push', [])).toBe('approved');
    expect(verdict('push', [{ who: 'a', secret: 's' }])).toBe('approved');
    expect(verdict('begin', undefined)).toBe('approved');
  });
});

describe('where the schema has nothing to hide', () => {
  const domainOf = (order: z.ZodType): Domain =>
    defineDomain({
      name: 'whole',
      version: '1',
      state: z.object({ orders: z.record(z.string(), order), list: z.array(order) }),
      initial: { orders: { o1: { items: 1, status: 'a' } }, list: [{ items: 1, status: 'a' }] },
      processes: {
        p: {
          reads: ['/orders/*/items', '/list/*/items'],
          writes: ['/orders/*/status', '/list/*/status'],
        },
      },
      roles: { r: { processes: ['p'] } },
      actions: {
        act: {
          process: 'p',
          args: z.object({ how: z.string() }),
          apply: (s: any, { how }) => {
            if (how === 'object') s.orders.o1 = { ...s.orders.o1, status: 'b' };
            if (how === 'map') s.list = s.list.map((row: object) => ({ ...row, status: 'b' }));
            if (how === 'element') s.list[0] = { ...s.list[0], status: 'b' };
            if (how === 'items') s.orders.o1 = { items: 2, status: 'b' };
          },
        },
      },
      invariants: [],
    }) as Domain;
  const act = (order: z.ZodType, how: string) => {
    const domain = domainOf(order);
    return propose(new World(domain, initialState(domain)), 'act', { how });
  };
  const full = z.object({ items: z.number(), status: z.string() });
  const more = full.extend({ note: z.string().optional() });

  test.each(['object', 'map', 'element'])(
    '%s: a value wholly in the footprint can be replaced',
    (how) => {
      expect(act(full, how).verdict).toBe('approved');
      expect(act(more, how)).toMatchObject({
        verdict: 'rejected',
        detail: expect.stringContaining('only partly in the footprint'),
      });
    },
  );

  test('a value that is only read is not changed', () => {
    expect(act(full, 'items')).toMatchObject({ verdict: 'rejected', reason: 'invalid_authority' });
  });
});
