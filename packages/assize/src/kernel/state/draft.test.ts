import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize } from '#canon';
import { compileScope, EVERYTHING, patternFromText } from '../domain/footprint.ts';
import { FootprintFault, ValueFault } from '../errors.ts';
import { changesOf } from './changes.ts';
import { Draft } from './draft.ts';
import { plainPatches } from './patches.ts';
import type { Container } from './view.ts';

const PROTO = '__proto__';

/** The changes of a statement, as patches. The state is changed. */
function change(state: object, statement: (state: any) => unknown): unknown[] {
  const draft = new Draft(state as Container, undefined);
  draft.within(EVERYTHING, (proxy) => {
    statement(proxy);
  });
  return structuredClone(plainPatches(changesOf(draft)));
}

/** The patches of a statement. It must leave no change after it is undone. */
function patches(state: object, statement: (state: any) => unknown): unknown[] {
  const before = canonicalize(state);
  const draft = new Draft(state as Container, undefined);
  draft.within(EVERYTHING, (proxy) => {
    statement(proxy);
  });
  const found = structuredClone(plainPatches(changesOf(draft)));
  draft.undo();
  expect(canonicalize(state)).toBe(before);
  return found;
}

describe('a value put into the state is a copy', () => {
  test('a part of the state, put elsewhere in it', () => {
    const state = { a: { n: 1 }, b: null as unknown };
    expect(
      change(state, (s) => {
        s.b = s.a;
        s.a.n = 2;
        s.b.m = 3;
      }),
    ).toEqual([
      { op: 'replace', path: '/a/n', value: 2 },
      { op: 'replace', path: '/b', value: { n: 1, m: 3 } },
    ]);
    expect(state.a).not.toBe(state.b);
  });

  test('a part of the state inside a new value, also twice, also the whole state', () => {
    const state = { a: { n: 1 } } as Record<string, any>;
    change(state, (s) => {
      s.twice = [s.a, { again: s.a }];
      s.whole = s;
    });
    expect(state).toEqual({
      a: { n: 1 },
      twice: [{ n: 1 }, { again: { n: 1 } }],
      whole: { a: { n: 1 }, twice: [{ n: 1 }, { again: { n: 1 } }] },
    });
    expect(
      new Set([state['a'], state['twice'][0], state['twice'][1].again, state['whole'].a]).size,
    ).toBe(4);
  });

  test('a caller’s value, frozen so that no later write to it is lost silently', () => {
    const mine = { list: [1], deep: { n: 1 } };
    const state = {} as Record<string, any>;
    change(state, (s) => {
      s.mine = mine;
      expect(() => mine.list.push(2)).toThrow(TypeError);
      expect(() => {
        mine.deep.n = 2;
      }).toThrow(TypeError);
      s.mine.list.push(2);
    });
    expect(state['mine']).toEqual({ list: [1, 2], deep: { n: 1 } });
  });

  test('the value that `??=` returns is not the one in the state', () => {
    const state = { parts: { a: 1 } } as Record<string, any>;
    change(state, (s) => {
      expect(() => {
        // biome-ignore lint/suspicious/noAssignInExpressions: that is the point
        (s.made ??= {}).n = 1;
      }).toThrow(TypeError);
      s.around = { inner: s.parts, own: {} };
      s.parts.a = 2;
    });
    expect(state).toEqual({ parts: { a: 2 }, made: {}, around: { inner: { a: 1 }, own: {} } });
  });

  test('a removed part is detached: writing to it changes no state', () => {
    const state = { list: [{ n: 1 }, { n: 2 }], a: { n: 1 } as { n: number } | null };
    expect(
      patches(state, (s) => {
        const [first] = s.list;
        const { a } = s;
        s.list.shift();
        s.a = null;
        first.n = 9;
        a.n = 9;
      }),
    ).toEqual([
      { op: 'replace', path: '/a', value: null },
      { op: 'replace', path: '/list/0/n', value: 2 },
      { op: 'remove', path: '/list/1' },
    ]);
  });

  test('a list method moves copies, so a held element is detached', () => {
    const state = { list: [{ n: 2 }, { n: 1 }] };
    change(state, (s) => {
      const held = s.list[0];
      s.list.sort((a: any, b: any) => a.n - b.n);
      held.n = 9;
    });
    expect(state).toEqual({ list: [{ n: 1 }, { n: 2 }] });
  });
});

describe('lists, whose length RFC 6902 cannot set', () => {
  test.each<[string, (list: any) => unknown, unknown[]]>([
    ['push', (list) => list.push(4), [{ op: 'add', path: '/list/3', value: 4 }]],
    ['pop', (list) => list.pop(), [{ op: 'remove', path: '/list/2' }]],
    [
      'shift',
      (list) => list.shift(),
      [
        { op: 'replace', path: '/list/0', value: 2 },
        { op: 'replace', path: '/list/1', value: 3 },
        { op: 'remove', path: '/list/2' },
      ],
    ],
    [
      'unshift of two',
      (list) => list.unshift(8, 9),
      [
        { op: 'replace', path: '/list/0', value: 8 },
        { op: 'replace', path: '/list/1', value: 9 },
        { op: 'replace', path: '/list/2', value: 1 },
        { op: 'add', path: '/list/3', value: 2 },
        { op: 'add', path: '/list/4', value: 3 },
      ],
    ],
    [
      'splice that inserts three',
      (list) => list.splice(1, 0, 7, 8, 9),
      [
        { op: 'replace', path: '/list/1', value: 7 },
        { op: 'replace', path: '/list/2', value: 8 },
        { op: 'add', path: '/list/3', value: 9 },
        { op: 'add', path: '/list/4', value: 2 },
        { op: 'add', path: '/list/5', value: 3 },
      ],
    ],
    [
      'splice that removes',
      (list) => list.splice(0, 2),
      [
        { op: 'replace', path: '/list/0', value: 3 },
        { op: 'remove', path: '/list/2' },
        { op: 'remove', path: '/list/1' },
      ],
    ],
    [
      'length = 0',
      (list) => {
        list.length = 0;
      },
      [
        { op: 'remove', path: '/list/2' },
        { op: 'remove', path: '/list/1' },
        { op: 'remove', path: '/list/0' },
      ],
    ],
    [
      'reverse',
      (list) => list.reverse(),
      [
        { op: 'replace', path: '/list/0', value: 3 },
        { op: 'replace', path: '/list/2', value: 1 },
      ],
    ],
    ['fill', (list) => list.fill(0, 1, 2), [{ op: 'replace', path: '/list/1', value: 0 }]],
    [
      'copyWithin',
      (list) => list.copyWithin(0, 1),
      [
        { op: 'replace', path: '/list/0', value: 2 },
        { op: 'replace', path: '/list/1', value: 3 },
      ],
    ],
    ['a new list in its place is compared element by element', () => undefined, []],
  ])('%s', (_name, statement, expected) => {
    expect(patches({ list: [1, 2, 3] }, (s) => statement(s.list))).toEqual(expected);
  });

  test('a new list in the place of the old one is compared element by element', () => {
    expect(
      patches({ list: [1, { a: 1, b: 1 }] }, (s) => {
        s.list = [1, { a: 1, b: 2 }, 3];
      }),
    ).toEqual([
      { op: 'replace', path: '/list/1/b', value: 2 },
      { op: 'add', path: '/list/2', value: 3 },
    ]);
  });

  test.each<[string, (list: any) => unknown]>([
    ['an index far away', (list) => (list[5] = 1)],
    ['a deleted element', (list) => delete list[0]],
    ['a deleted last element', (list) => delete list[2]],
    ['a deleted element, and the list longer', (list) => [delete list[1], list.push(9)]],
    ['the last place of all', (list) => (list[2 ** 32 - 2] = 1)],
  ])('a gap that stays is refused: %s', (_name, statement) => {
    const state = { list: [1, 2, 3] };
    const draft = new Draft(state, undefined);
    draft.within(EVERYTHING, ({ list }: any) => {
      statement(list);
    });
    expect(() => changesOf(draft)).toThrow(ValueFault);
    draft.undo();
    expect(canonicalize(state)).toBe('{"list":[1,2,3]}');
  });

  test('a gap in a replaced or new list is refused', () => {
    for (const statement of [
      (s: any) => {
        s.list = [1, 2, 3];
        delete s.list[1];
      },
      (s: any) => {
        s.fresh = { deep: [[1]] };
        delete s.fresh.deep[0];
      },
    ]) {
      const draft = new Draft({ list: [1, 2, 3] }, undefined);
      draft.within(EVERYTHING, statement);
      expect(() => changesOf(draft)).toThrow(/gaps/);
    }
  });

  test.each<[string, (list: any) => unknown]>([
    ['grow by its length', (list) => (list.length = 9)],
    ['an invalid length', (list) => (list.length = -1)],
    ['a length that is not a number', (list) => (list.length = '2')],
    ['a place that is not an index', (list) => (list.name = 1)],
    ['a place with leading zeros', (list) => (list['01'] = 1)],
    ['a place beyond all lists', (list) => (list[2 ** 32] = 1)],
    ['a negative place', (list) => (list[-1] = 1)],
    ['its prototype', (list) => (list[PROTO] = {})],
  ])('%s is refused immediately', (_name, statement) => {
    expect(() => patches({ list: [1, 2, 3] }, (s) => statement(s.list))).toThrow(ValueFault);
  });
});

describe('values that are not JSON are refused with their place', () => {
  class Money {}
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const sparse = [1];
  sparse[2] = 3;
  let deep: unknown = 0;
  for (let i = 0; i < 65; i++) deep = [deep];
  test.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['an integer beyond 2^53', 2 ** 53],
    ['undefined', undefined],
    ['undefined inside', { x: undefined }],
    ['a bigint', 1n],
    ['a symbol', Symbol('x')],
    ['a function', () => 1],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['an instance', new Money()],
    ['a lone surrogate', '\ud800'],
    ['a cycle', cycle],
    ['a list with a gap', sparse],
    ['an accessor', Object.defineProperty({}, 'x', { get: () => 1, enumerable: true })],
    ['a symbol as a key', { [Symbol('k')]: 1 }],
    ['a hidden member', Object.defineProperty({}, 'x', { value: 1 })],
    ['more than 64 levels', deep],
  ])('%s', (_name, value) => {
    expect(() =>
      patches({ a: {} }, (s) => {
        s.a.place = value;
      }),
    ).toThrow(/^\/a\/place/);
  });

  test('a symbol as a key, a defined property, a prototype, a freeze', () => {
    expect(() => patches({ a: 1 }, (s) => (s[Symbol('x')] = 1))).toThrow(ValueFault);
    expect(() => patches({ a: 1 }, (s) => Object.defineProperty(s, 'a', { value: 2 }))).toThrow(
      FootprintFault,
    );
    expect(() => patches({ a: 1 }, (s) => Object.setPrototypeOf(s, {}))).toThrow(TypeError);
    expect(() => patches({ a: 1 }, (s) => Object.freeze(s))).toThrow(TypeError);
    expect(patches({ a: 1 }, (s) => delete s[Symbol('x')])).toEqual([]);
  });

  test('−0 becomes 0, so the live state equals its canonical text', () => {
    const state = { n: 1, list: [1] };
    expect(
      change(state, (s) => {
        s.n = -0;
        s.list = [-0, { deep: -0 }];
      }),
    ).toEqual([
      { op: 'replace', path: '/list/0', value: 0 },
      { op: 'add', path: '/list/1', value: { deep: 0 } },
      { op: 'replace', path: '/n', value: 0 },
    ]);
    expect([state.n, ...state.list.slice(0, 1)].map((n) => Object.is(n, 0))).toEqual([true, true]);
    expect(patches({ n: 0 }, (s) => (s.n = -0))).toEqual([]);
  });
});

describe('names that mean something elsewhere are data', () => {
  test('__proto__ is a member: set, read, changed, removed', () => {
    const state = {} as Record<string, unknown>;
    expect(
      change(state, (s) => {
        expect(s[PROTO]).toBeUndefined();
        s[PROTO] = { polluted: true };
        expect(s[PROTO]).toEqual({ polluted: true });
        expect(s.polluted).toBeUndefined();
        expect(Object.keys(s)).toEqual(['__proto__']);
      }),
    ).toEqual([{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
    expect(Object.getPrototypeOf(state)).toBe(Object.prototype);
    expect(canonicalize(state)).toBe('{"__proto__":{"polluted":true}}');
    expect(change(state, (s) => (s[PROTO].polluted = false))).toEqual([
      { op: 'replace', path: '/__proto__/polluted', value: false },
    ]);
    expect(patches(state, (s) => delete s[PROTO])).toEqual([{ op: 'remove', path: '/__proto__' }]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('constructor, toString and hasOwnProperty are absent until written', () => {
    const state = {} as Record<string, unknown>;
    change(state, (s) => {
      for (const key of ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length']) {
        expect(s[key]).toBeUndefined();
        expect(key in s).toBe(false);
        s[key] = key;
      }
    });
    expect(canonicalize(state)).toBe(
      '{"constructor":"constructor","hasOwnProperty":"hasOwnProperty","length":"length","toString":"toString","valueOf":"valueOf"}',
    );
  });

  test('keys that pointers escape', () => {
    expect(patches({}, (s) => Object.assign(s, { 'a/b': 1, '~': 2, '': 3 }))).toEqual([
      { op: 'add', path: '/', value: 3 },
      { op: 'add', path: '/a~1b', value: 1 },
      { op: 'add', path: '/~0', value: 2 },
    ]);
  });
});

describe('order of keys', () => {
  test('matches the text for any insertion order, also after a rollback', () => {
    const state = { b: 1, a: 2, '10': 3, '9': 4 };
    const keysOf = (): unknown =>
      new Draft(state, undefined).within(EVERYTHING, (s) => {
        const names: string[] = [];
        for (const name in s) names.push(name);
        return {
          names,
          keys: Object.keys(s),
          text: JSON.stringify(s),
          entries: Object.entries(s).length,
        };
      });
    const before = keysOf();
    expect(before).toEqual({
      names: ['10', '9', 'a', 'b'],
      keys: ['10', '9', 'a', 'b'],
      text: '{"10":3,"9":4,"a":2,"b":1}',
      entries: 4,
    });
    const draft = new Draft(state, undefined);
    draft.within(EVERYTHING, (s: any) => {
      delete s.b;
      delete s.a;
    });
    draft.undo();
    expect(keysOf()).toEqual(before);
  });
});

describe('reading a draft', () => {
  const state = { list: [{ n: 1 }, { n: 2 }, { n: 3 }], numbers: [3, 1, 2], o: { a: 1, b: [1] } };
  const read = (statement: (s: any) => unknown): unknown =>
    new Draft(structuredClone(state), undefined).within(EVERYTHING, (s) =>
      structuredClone(copied(statement(s))),
    );
  const copied = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

  test.each<[string, (s: any) => unknown, Json]>([
    ['map', (s) => s.list.map((x: any) => x.n), [1, 2, 3]],
    ['filter', (s) => s.list.filter((x: any) => x.n > 1), [{ n: 2 }, { n: 3 }]],
    ['find', (s) => s.list.find((x: any) => x.n === 2), { n: 2 }],
    ['findLast', (s) => s.list.findLast((x: any) => x.n < 3), { n: 2 }],
    ['indexOf an element of its own', (s) => s.list.indexOf(s.list[1]), 1],
    ['includes an element of its own', (s) => s.list.includes(s.list[2]), true],
    ['includes a like one', (s) => s.list.includes({ n: 3 }), false],
    [
      'some and every',
      (s) => [s.list.some((x: any) => x.n > 2), s.list.every((x: any) => x.n > 2)],
      [true, false],
    ],
    ['reduce', (s) => s.numbers.reduce((sum: number, n: number) => sum + n, 0), 6],
    ['flat', (s) => [s.numbers, [s.numbers]].flat(2), [3, 1, 2, 3, 1, 2]],
    ['flatMap', (s) => s.list.flatMap((x: any) => [x.n, x.n]), [1, 1, 2, 2, 3, 3]],
    ['at', (s) => [s.numbers.at(-1), s.numbers.at(0), s.list.at(9) ?? null], [2, 3, null]],
    ['concat', (s) => s.numbers.concat(s.numbers, 9), [3, 1, 2, 3, 1, 2, 9]],
    ['slice', (s) => s.list.slice(1), [{ n: 2 }, { n: 3 }]],
    ['join', (s) => s.numbers.join('-'), '3-1-2'],
    ['toSorted', (s) => s.numbers.toSorted(), [1, 2, 3]],
    ['toReversed', (s) => s.numbers.toReversed(), [2, 1, 3]],
    [
      'toSpliced and with',
      (s) => [s.numbers.toSpliced(0, 2), s.numbers.with(0, 9)],
      [[2], [9, 1, 2]],
    ],
    ['spread of a list', (s) => [...s.numbers, 4], [3, 1, 2, 4]],
    ['spread of an object', (s) => ({ ...s.o, c: 1 }), { a: 1, b: [1], c: 1 }],
    [
      'destructuring',
      ({ o: { a, ...rest }, list: [first] }) => [a, rest, first],
      [1, { b: [1] }, { n: 1 }],
    ],
    [
      'keys, values and entries of a list',
      (s) => [[...s.numbers.keys()], [...s.numbers.entries()]],
      [
        [0, 1, 2],
        [
          [0, 3],
          [1, 1],
          [2, 2],
        ],
      ],
    ],
    [
      'Object.entries',
      (s) => Object.entries(s.o),
      [
        ['a', 1],
        ['b', [1]],
      ],
    ],
    [
      'Object.groupBy',
      (s) => Object.groupBy(s.numbers, (n: number) => (n > 1 ? 'big' : 'small')),
      {
        big: [3, 2],
        small: [1],
      },
    ],
    [
      'Array.isArray and Array.from',
      (s) => [Array.isArray(s.list), Array.isArray(s.o), Array.from(s.numbers)],
      [true, false, [3, 1, 2]],
    ],
    [
      'in and hasOwn',
      (s) => ['a' in s.o, 'z' in s.o, Object.hasOwn(s.o, 'a'), 1 in s.list, 7 in s.list],
      [true, false, true, true, false],
    ],
    ['a method that is absent', (s) => typeof s.o.hasOwnProperty, 'undefined'],
    ['JSON.stringify', (s) => JSON.parse(JSON.stringify(s)), state],
    [
      'for … of',
      (s) => {
        const seen: number[] = [];
        for (const { n } of s.list) seen.push(n);
        return seen;
      },
      [1, 2, 3],
    ],
  ])('%s', (_name, statement, expected) => {
    expect(read(statement)).toEqual(expected);
  });

  test('a part is the same object on each read, also after a change', () => {
    new Draft(structuredClone(state), new WeakSet()).within(EVERYTHING, (s: any) => {
      const { o } = s;
      o.a = 2;
      o.b.push(3);
      expect(s.o).toBe(o);
      expect(s.o.b).toBe(o.b);
      expect(s.list.indexOf(s.list[0])).toBe(0);
    });
  });

  test('a list that grows during iteration reads as in JavaScript', () => {
    const live = { list: [1, 2] };
    change(live, (s) => {
      for (const n of s.list) if (s.list.length < 5) s.list.push(n * 10);
    });
    expect(live.list).toEqual([1, 2, 10, 20, 100]);
  });
});

describe('a draft that was given out', () => {
  test('is read-only when the code that it was given to is done', () => {
    const state = { a: { n: 1 }, list: [1] };
    const kept: any = new Draft(state, undefined).within(EVERYTHING, (s) => s);
    const part = kept.a;
    for (const statement of [
      () => (kept.a = 1),
      () => (part.n = 2),
      () => delete part.n,
      () => kept.list.push(2),
      () => (kept.list.length = 0),
      () => Object.assign(kept, { b: 1 }),
    ]) {
      expect(statement).toThrow(FootprintFault);
    }
    expect(state).toEqual({ a: { n: 1 }, list: [1] });
  });

  test('also when that code threw', () => {
    let kept: any;
    const state = { n: 1 };
    const draft = new Draft(state, undefined);
    expect(() =>
      draft.within(EVERYTHING, (s: any) => {
        kept = s;
        s.n = 2;
        throw new Error('no');
      }),
    ).toThrow('no');
    draft.undo();
    expect(() => (kept.n = 3)).toThrow(FootprintFault);
    expect(state).toEqual({ n: 1 });
  });
});

describe('a draft of a part', () => {
  const inside = (patterns: readonly string[], statement: (s: any) => unknown): unknown =>
    new Draft({ a: { b: 1, c: 2 }, list: [1], z: 1 } as Container, undefined).within(
      compileScope(patterns.map(patternFromText)),
      statement,
    );

  test('shows nothing outside and lets nothing outside be named', () => {
    expect(inside(['/a/b'], (s) => JSON.stringify(s))).toBe('{"a":{"b":1}}');
    for (const statement of [
      (s: any) => s.z,
      (s: any) => s.a.c,
      (s: any) => (s.a.c = 1),
      (s: any) => delete s.a.c,
      (s: any) => (s.z = 1),
      (s: any) => 'z' in s,
      (s: any) => s.list,
    ]) {
      expect(() => inside(['/a/b'], statement)).toThrow(FootprintFault);
    }
  });

  test('a list that may only grow shows its length and nothing else', () => {
    inside(['/list/-'], (s) => {
      expect(s.list.length).toBe(1);
      s.list.push(2);
      expect(() => s.list[0]).toThrow(FootprintFault);
      expect(() => [...s.list]).toThrow(FootprintFault);
      expect(() => Object.keys(s.list)).toThrow(FootprintFault);
      expect(Object.keys(s)).toEqual([]);
    });
  });

  test('a list with only some indexes in it neither shows nor takes any length', () => {
    for (const length of [0, 1, 2]) {
      for (const patterns of [['/list/0'], ['/list/length'], ['/list/0', '/list/length']]) {
        expect(() => inside(patterns, (s) => (s.list.length = length))).toThrow(
          '/list/* is outside the footprint',
        );
      }
    }
    for (const statement of [
      (s: any) => s.list.length,
      (s: any) => s.list.push(2),
      (s: any) => s.list.pop(),
    ]) {
      expect(() => inside(['/list/0'], statement)).toThrow('/list/* is outside the footprint');
    }
    for (const statement of [(s: any) => (s.z = s.list), (s: any) => (s.z = { lists: [s.list] })]) {
      expect(() => inside(['/list/0', '/z'], statement)).toThrow(FootprintFault);
    }
    inside(['/list/0'], (s) => {
      s.list[0] = 5;
      expect(s.list[0]).toBe(5);
    });
  });

  test('is not a promise and has no toJSON, so it can be returned or printed', () => {
    expect(inside(['/a/b'], (s) => [s.then, s.toJSON])).toEqual([undefined, undefined]);
  });
});
