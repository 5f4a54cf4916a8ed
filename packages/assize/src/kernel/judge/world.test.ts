import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain } from '../domain/define-domain.ts';
import type { Domain } from '../domain/domain.ts';
import { KernelError } from '../errors.ts';
import { initialState, World } from './world.ts';

function domainOf(
  reads: readonly string[],
  writes: readonly string[] = [],
  more: object = {},
): Domain<any, any> {
  return defineDomain<any, any>({
    name: 'shop',
    version: '1',
    state: z.object({
      b: z.any(),
      a: z.any(),
      list: z.array(z.any()),
      people: z.record(z.string(), z.any()),
    }),
    processes: { look: { reads }, work: { writes }, mine: { reads: ['/people/{who}'] } },
    roles: {
      reader: { processes: ['look', 'work'] },
      self: { params: ['who'], processes: ['mine'] },
    },
    actions: {},
    invariants: [],
    ...more,
  });
}

const STATE = {
  b: { y: 2, x: 1 },
  a: 'text',
  list: [{ n: 1, m: 1 }, 5, { n: 2 }],
  people: { bob: { age: 1, notes: [1] }, ada: { age: 2, notes: [] } },
};

function slice(reads: readonly string[], writes: readonly string[] = []): unknown {
  return new World(domainOf(reads, writes), structuredClone(STATE)).slice('reader', {});
}

describe('a slice', () => {
  test.each<[string[], unknown]>([
    [[], {}],
    [[''], STATE],
    [['/a'], { a: 'text' }],
    [['/a/inner'], {}],
    [['/b/x', '/b/z'], { b: { x: 1 } }],
    [['/people/*/age'], { people: { bob: { age: 1 }, ada: { age: 2 } } }],
    [['/people/ada', '/people/*/age'], { people: { bob: { age: 1 }, ada: { age: 2, notes: [] } } }],
    [['/people/nobody'], { people: {} }],
    [['/list/*/n'], { list: [{ n: 1 }, null, { n: 2 }] }],
    [['/list/0'], { list: [{ n: 1, m: 1 }] }],
    [['/list/1/n', '/list/9'], { list: [null, null] }],
    [['/list/9'], { list: [] }],
    [['/list/0/n', '/list/2'], { list: [{ n: 1 }, null, { n: 2 }] }],
    [['/people/constructor', '/people/__proto__'], { people: {} }],
  ])('of %j', (reads, expected) => {
    expect(slice(reads)).toEqual(expected);
  });

  test('has written and read paths, but no append-only list', () => {
    expect(slice(['/a'], ['/b/x', '/list/-'])).toEqual({ a: 'text', b: { x: 1 } });
    expect(slice(['/list'], ['/list/-'])).toEqual({ list: STATE.list });
  });

  test('of a role bound to one person has only that person', () => {
    const world = new World(domainOf([]), structuredClone(STATE));
    expect(world.slice('self', { who: 'ada' })).toEqual({ people: { ada: { age: 2, notes: [] } } });
    expect(world.slice('self', { who: '*' })).toEqual({ people: {} });
    expect(world.slice('self', { who: '__proto__' })).toEqual({ people: {} });
  });

  test('has its keys in order, at every depth', () => {
    expect(JSON.stringify(slice(['']))).toBe(
      '{"a":"text","b":{"x":1,"y":2},"list":[{"m":1,"n":1},5,{"n":2}],"people":{"ada":{"age":2,"notes":[]},"bob":{"age":1,"notes":[1]}}}',
    );
    expect(JSON.stringify(slice(['/people/*/age']))).toBe(
      '{"people":{"ada":{"age":2},"bob":{"age":1}}}',
    );
  });

  test('of a world beyond 1 MiB', () => {
    const big = {
      ...STATE,
      people: Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [`p${i}`, 'x'.repeat(50_000)]),
      ),
    };
    const world = new World(domainOf(['']), initialState(domainOf(['']), big));
    expect(world.slice('reader', {})).toEqual(big);
  });

  test('of no role is an error', () => {
    const world = new World(domainOf([]), structuredClone(STATE));
    expect(() => world.slice('nobody', {})).toThrow(KernelError);
    expect(() => world.slice('toString', {})).toThrow(KernelError);
    expect(() => world.slice('self', {})).toThrow('needs the parameter who');
  });
});

describe('an initial state', () => {
  test('is a copy of the given state, else of the domain’s own', () => {
    const domain = domainOf([], [], { initial: STATE });
    const state = initialState(domain);
    expect(state).toEqual(STATE);
    expect(state).not.toBe(STATE);
    expect(initialState(domain, { ...STATE, a: 1 })).toEqual({ ...STATE, a: 1 });
  });

  test.each<[string, unknown]>([
    ['another type', { ...STATE, list: {} }],
    ['a member too many', { ...STATE, more: 1 }],
    ['a list', []],
    ['nothing', null],
  ])('of %s does not fit', (_what, given) => {
    expect(() => initialState(domainOf([]), given)).toThrow(
      expect.objectContaining({ code: 'invalid_state' }),
    );
  });

  test('is needed', () => {
    expect(() => initialState(domainOf([]))).toThrow('has no initial state');
  });

  test('is JSON', () => {
    expect(() => initialState(domainOf([]), { ...STATE, a: Number.NaN })).toThrow();
    expect(() => initialState(domainOf([]), { ...STATE, a: new Date() })).toThrow();
  });
});
