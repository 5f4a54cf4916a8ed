import { MemoryStore } from '@assize/testing/memory';
import { type CallContext, declareTool, readTransaction, type Tool } from 'assize/internal/effects';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../../../../tests/support/cases.ts';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { OutsideSink } from '../../../../tests/support/tools/effect-sink.ts';
import { attended } from '../../../../tests/support/tools/ledger-with-effects.ts';
import { crashedEverywhere, transact } from '../../../../tests/support/tools/tool-stage.ts';
import { declaredTool, declaredTools, type ToolDeclaration } from './index.ts';
import { filledKey, keyProblem, keyStart, mayBeEqual, startWithin } from './key.ts';

/** As it might stand in a file. */
const ORDER: ToolDeclaration = JSON.parse(`{
  "name": "shop.order",
  "input": {
    "type": "object",
    "properties": { "what": { "type": "string" }, "shop": { "type": "string" }, "count": { "type": "integer" } },
    "required": ["what", "shop"],
    "additionalProperties": false
  },
  "class": { "reversibility": "reversible", "delivery": "externalised", "sink": "keyed" },
  "writes": ["shop:{shop}:orders"],
  "key": "{shop}/{key}",
  "execute": { "call": "take" },
  "compensate": {
    "call": "cancel",
    "args": { "order": { "$from": "/result/id" }, "at": [{ "$from": "/input/shop" }], "why": "undone" }
  }
}`);

/** A shop that is called by functions. */
function shop(sink = new OutsideSink('keyed')) {
  const args: unknown[] = [];
  const callables = {
    take: ({ what }: { what: string }, { key }: CallContext) => {
      sink.do(key, what);
      return { id: what };
    },
    cancel: (given: { order: string }, { key }: CallContext) => {
      args.push(given);
      sink.undo(key.replace(/^undo-/, ''), given.order);
    },
    find: (_: unknown, { key }: CallContext) =>
      sink.has(key) ? { happened: true, result: { id: 'a' } } : { happened: false },
  };
  return { sink, args, callables };
}

const GIVEN = { what: 'a', shop: 'x/y' };

describe('a declared tool', () => {
  test('calls its named function, with a key of its own form', async () => {
    const { sink, callables } = shop();
    const { isCommitted } = await transact([declaredTool(ORDER, callables)], async (tx) => {
      expect(await tx.call('shop.order', GIVEN)).toEqual({ id: 'a' });
    });
    expect(isCommitted).toBe(true);
    expect(sink.log).toEqual([
      { did: 'do', what: 'a', key: expect.stringMatching(/^x%2fy\/[0-9a-f]{64}$/) },
    ]);
  });

  test('is undone with arguments from input and result', async () => {
    const { sink, args, callables } = shop();
    await transact([declaredTool(ORDER, callables)], async (tx) => {
      await tx.call('shop.order', GIVEN);
      throw new Error('no');
    });
    expect([sink.standing('a'), args]).toEqual([0, [{ order: 'a', at: ['x/y'], why: 'undone' }]]);
  });

  test('is unresolved if its compensation can’t be called', async () => {
    const { sink, args, callables } = shop();
    const lost = {
      ...callables,
      take: (given: { what: string }, call: CallContext) => void callables.take(given, call),
    };
    const { left } = await transact([declaredTool(ORDER, lost)], async (tx) => {
      await tx.call('shop.order', GIVEN);
      throw new Error('no');
    });
    expect([sink.standing('a'), args, left.map(({ phase }) => phase)]).toEqual([
      1,
      [],
      ['unresolved'],
    ]);
  });

  test('has the scopes and the input that it declares', async () => {
    const tool = declaredTool(ORDER, shop().callables);
    expect(tool.claims(tool.parse(GIVEN)).map(({ scope }) => scope.text)).toEqual([
      'shop:x~2fy:orders',
    ]);
    for (const wrong of [{}, { what: 'a' }, { ...GIVEN, count: 0.5 }, { ...GIVEN, more: 1 }])
      expect(errorOf(() => tool.parse(wrong))).toMatchObject({ code: 'bad_input' });
  });

  test('calls another tool, if that takes its arguments', async () => {
    const sink = new OutsideSink('keyed');
    const take = declareTool({
      name: 'take',
      input: z.strictObject({ order: z.string() }),
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['never:asked'],
      execute: ({ order }, { key }) => sink.do(key, order),
    });
    const { compensate: _, ...rest } = ORDER;
    const sort = {
      ...(ORDER.class as object),
      reversibility: 'irreversible',
      delivery: 'buffered',
    } as never;
    const of = (args: object) =>
      declaredTool(
        { ...rest, class: sort, execute: { call: 'take', args: args as never } },
        { take },
      );
    const fits = await transact([of({ order: { $from: '/input/what' } })], (tx) =>
      tx.call('shop.order', GIVEN),
    );
    expect([fits.left, sink.standing('a')]).toEqual([[], 1]);
    const unfit = await transact([of({ order: 1 })], (tx) => tx.call('shop.order', GIVEN));
    expect([unfit.left.map(({ phase }) => phase), sink.log.length]).toEqual([['unresolved'], 1]);
  });

  test('refuses an input that prevents one of its calls, before any effect', async () => {
    const { compensate: _, ...held } = {
      ...ORDER,
      class: { ...(ORDER.class as object), delivery: 'buffered' },
    };
    const keyed = {
      ...held,
      uncompensated: 'it may stay',
      key: 'order/{count}/{key}',
    } as ToolDeclaration;
    const args = { what: { $from: '/input/what' }, list: [{ count: { $from: '/input/count' } }] };
    const told = { ...keyed, key: '{key}', execute: { call: 'take', args } } as ToolDeclaration;
    const undone = { ...ORDER, compensate: { call: 'cancel', args } } as ToolDeclaration;
    for (const [declaration, why] of [
      [keyed, 'its key needs count as a string or a number'],
      [told, 'the call has no value at /input/count'],
      [undone, 'the call has no value at /input/count'],
    ] as const) {
      const { sink, callables } = shop();
      const tool = declaredTool(declaration, callables);
      const { error, isCommitted } = await transact([tool], (tx) => tx.call('shop.order', GIVEN));
      expect(error).toMatchObject({ code: 'bad_input', message: expect.stringContaining(why) });
      expect([isCommitted, sink.log]).toEqual([false, []]);
      expect(tool.parse({ ...GIVEN, count: 1 })).toEqual({ ...GIVEN, count: 1 });
    }
  });

  test('is done once or not at all, with a crash at every step', async () => {
    for (const sort of ['keyed', 'queryable'] as const) {
      const asks = sort === 'queryable' ? { reconcile: { call: 'find' } } : {};
      const declaration = {
        ...ORDER,
        ...asks,
        class: { ...(ORDER.class as object), sink: sort },
      } as ToolDeclaration;
      const crashes = await crashedEverywhere({
        open: async () =>
          Object.assign(shop(new OutsideSink(sort)), {
            [Symbol.asyncDispose]: async () => undefined,
          }),
        tools: ({ callables }) => [declaredTool(declaration, callables)],
        body: (tx) => tx.call('shop.order', GIVEN),
        check: ({ sink }, { isCommitted, left }) => {
          expect([left, sink.standing('a')]).toEqual([[], isCommitted ? 1 : 0]);
        },
      });
      expect(crashes).toBeGreaterThan(4);
    }
  });
});

test('a key template gives different keys to different calls', () => {
  const members = new Set(['a', 'b']);
  const template = fc
    .array(fc.constantFrom('{a}', '{b}', '{key}', ':', '-', 'a', '%', 'a:'), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join(''));
  const value = fc.constantFrom('', 'a', ':', 'a:', ':a', '::', '%3a', '-', 'a-');
  const call = fc.record({ a: value, b: value, key: value });
  let tried = 0;
  fc.assert(
    fc.property(template, call, call, (text, one, other) => {
      if (keyProblem(text, members, { isUndone: false }) !== undefined) return;
      tried++;
      const named = (['a', 'b', 'key'] as const).filter((name) => text.includes(`{${name}}`));
      const isSame = named.every((name) => one[name] === other[name]);
      expect(filledKey(text, one, one.key) === filledKey(text, other, other.key)).toBe(isSame);
    }),
    { numRuns: cases(20_000) },
  );
  expect(tried).toBeGreaterThan(0);
});

test('two tools at one function never give it the same key', () => {
  const hashes = ['a', '4'].map((digit) => digit.repeat(64)) as [string, string];
  const members = new Set(['a', 'b']);
  const template = fc
    .array(fc.constantFrom('{a}', '{b}', '{key}', '/', '/', 'a', '4', '%', '%2f', hashes[0]), {
      minLength: 1,
      maxLength: 5,
    })
    .map((parts) => parts.join(''))
    .filter((text) => keyProblem(text, members, { isUndone: false }) === undefined);
  const short = ['', ...'a4%/'].flatMap((one) => ['', ...'a4%/'].map((other) => one + other));
  const values = [...new Set([...short, ...hashes, `a${hashes[1]}`])];
  const keysOf = (text: string, key: string): ReadonlySet<string> =>
    new Set(values.flatMap((a) => values.map((b) => filledKey(text, { a, b }, key))));
  const tried = { apart: 0, together: 0 };
  fc.assert(
    fc.property(template, template, template, (one, other, outer) => {
      const isApart = !mayBeEqual(keyStart(one), keyStart(other));
      tried[isApart ? 'apart' : 'together']++;
      const others = keysOf(other, hashes[1]);
      const shared = [...keysOf(one, hashes[0])].filter((key) => others.has(key));
      if (isApart) expect(shared).toEqual([]);
      // A tool calls another one: its key takes the place of the key of the effect.
      const nested = startWithin(keyStart(one), keyStart(outer));
      for (const key of keysOf(outer, hashes[0]))
        expect(filledKey(one, { a: '', b: '' }, key)).toContain(nested.text);
    }),
    { numRuns: cases(500) },
  );
  expect(Math.min(tried.apart, tried.together)).toBeGreaterThan(0);
});

test('the costs of a call and of its compensation are declared as amounts', () => {
  const declaration = {
    ...ORDER,
    class: { ...(ORDER.class as object), reversibility: 'with_cost' },
  };
  const { spec } = declaredTool(
    { ...declaration, cost: { usd: 3 }, undoCost: { usd: 1 } } as never,
    shop().callables,
  );
  expect([spec.cost?.(GIVEN), spec.undoCost?.(GIVEN)]).toEqual([{ usd: 3 }, { usd: 1 }]);
});

describe('a declaration is refused', () => {
  const keyed = { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' };
  test.each<[string, object, string]>([
    ['of an unknown class', { class: 'harmless' }, 'its class must be'],
    ['of an unknown sink', { class: { ...keyed, sink: 'deaf' } }, 'sink'],
    ['with a compensation and no class', { class: undefined }, 'a compensation without a class'],
    ['without a class', { class: undefined, compensate: undefined }, 'no class'],
    ['whose scope does not parse', { writes: ['shop//{shop}'] }, 'does not parse'],
    ['whose scope names no member', { writes: ['shop:{town}'] }, 'town'],
    ['that says nothing of what it writes', { writes: undefined }, 'writes'],
    ['whose key names no member', { key: '{town}' }, 'names town'],
    ['whose key is always the same', { key: 'order' }, 'same for every call'],
    ['whose key runs members together', { key: '{shop}{key}' }, 'same for different calls'],
    ['whose key is not kept apart', { key: '{shop}x{key}' }, 'same for different calls'],
    [
      'whose key is the same after a compensation',
      { key: '{shop}' },
      'before and after a compensation',
    ],
    ['whose key has a stray brace', { key: '{key}{' }, 'brace'],
    ['that calls what is not there', { execute: { call: 'fly' } }, 'execute calls "fly"'],
    [
      'that undoes with what is not there',
      { compensate: { call: 'toString' } },
      'compensate calls',
    ],
    [
      'whose arguments come from nowhere',
      { execute: { call: 'take', args: { $from: '/town' } } },
      '$from',
    ],
    [
      'whose arguments come from no member',
      { execute: { call: 'take', args: [{ $from: '/input/town' }] } },
      'is not a field of the input',
    ],
    [
      'whose call needs its own result',
      { execute: { call: 'take', args: { a: { $from: '/result' } } } },
      '$from',
    ],
    [
      'whose arguments come from one place and something else',
      { execute: { call: 'take', args: { what: { $from: '/input/what', or: 'a' } } } },
      '$from must be the only field, without "or"',
    ],
    [
      'whose pointer is invalid',
      { compensate: { call: 'cancel', args: { $from: 'result' } } },
      '$from',
    ],
    ['that can be undone, and is not', { compensate: undefined }, 'compensate'],
    ['that is irreversible, and undone', { class: keyed }, 'irreversible'],
    ['whose input is invalid', { input: { type: 'array' } }, 'input'],
    [
      'whose schema is invalid',
      { input: { type: 'object', properties: { a: { type: 'horse' } } } },
      'at /properties/a/type',
    ],
    ['with a member too many', { retries: 3 }, 'retries'],
    ['whose cost has no amounts', { cost: { usd: -1 } }, 'cost'],
    ['whose cost of undoing has no amounts', { undoCost: { usd: 0.5 } }, 'undoCost'],
    ['that is undone without a cost, and says one', { undoCost: { usd: 1 } }, 'with_cost'],
  ])('%s', (_, change, why) => {
    expect(
      errorOf(() => declaredTool({ ...ORDER, ...change } as never, shop().callables)),
    ).toMatchObject({
      reason: 'invalid_tool',
      message: expect.stringMatching(/^The tool shop\.order /),
    });
    expect(
      errorOf(() => declaredTool({ ...ORDER, ...change } as never, shop().callables)),
    ).toMatchObject({
      message: expect.stringContaining(why),
    });
  });

  test.each<[string, string, 'keyed' | 'blind', object, string]>([
    [
      'only reads, and calls what does not',
      'execute',
      'keyed',
      { class: 'read' },
      'its execute must only read',
    ],
    [
      'is keyed, and calls what is not',
      'execute',
      'blind',
      {},
      'its execute calls other.tool, whose sink is blind',
    ],
    [
      'is keyed, and is undone by what is not',
      'compensate',
      'blind',
      {},
      'its compensate calls other.tool',
    ],
    ['is asked for by what acts', 'reconcile', 'keyed', {}, 'its reconcile must only read'],
    [
      'is keyed, and mitigated by what is blind',
      'mitigate',
      'blind',
      {},
      'its mitigate calls other.tool',
    ],
    ['is of no class, and calls a tool', 'execute', 'keyed', { class: null }, 'its class must be'],
  ])('that %s', (_, part, sink, change, why) => {
    const other = declareTool({
      name: 'other.tool',
      input: z.looseObject({}),
      class: { reversibility: 'irreversible', delivery: 'buffered', sink },
      writes: ['x:y'],
      execute: () => null,
    });
    const declaration = { ...ORDER, [part]: { call: 'other' }, ...change } as never;
    expect(errorOf(() => declaredTool(declaration, { ...shop().callables, other }))).toMatchObject({
      reason: 'invalid_tool',
      message: expect.stringContaining(why),
    });
  });

  test('with a mitigation that has no residue to read', () => {
    const mitigate = { call: 'cancel', args: { $from: '/result/id' } };
    expect(errorOf(() => declaredTool({ ...ORDER, mitigate }, shop().callables))).toMatchObject({
      reason: 'invalid_tool',
      message: expect.stringContaining('its mitigate cannot be called'),
    });
    const { compensate: _, ...rest } = ORDER;
    const alone = { ...rest, uncompensated: 'it may stay', mitigate: { call: 'cancel' } };
    expect(errorOf(() => declaredTool(alone, shop().callables))).toMatchObject({
      reason: 'invalid_tool',
    });
  });

  test('with possible keys of another declaration, or with its name', () => {
    const { compensate: _, ...rest } = ORDER;
    const one = { ...rest, class: keyed, key: 'order:{shop}' } as ToolDeclaration;
    const of = (other: object) => declaredTools([one, { ...one, ...other }], shop().callables);
    expect(errorOf(() => of({ name: 'shop.other', key: 'order:{what}' }))).toMatchObject({
      reason: 'invalid_tool',
      message: expect.stringContaining('keys of shop.order'),
    });
    expect(errorOf(() => of({ key: 'x:{what}' }))).toMatchObject({
      message: expect.stringContaining('this name'),
    });
    expect(of({ name: 'shop.other', key: 'other:{what}' }).length).toBe(2);
  });
});

describe('of two tools that call one function', () => {
  const keyed = { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' } as const;
  const of = (name: string, key: string, parts: object = {}): ToolDeclaration => {
    const { compensate: _, ...rest } = ORDER;
    return { ...rest, name, class: keyed, key, ...parts } as ToolDeclaration;
  };
  const take = () => null;
  const beside = (...tools: Tool[]) => runtimeOver(new MemoryStore(), [], { tools });
  const refusal = { reason: 'invalid_tool', evidence: { tool: 'b' } };

  test.each<[string, string, boolean]>([
    ['pay/{what}', 'pay/rent{what}', true],
    ['{what}', 'x{shop}', true],
    ['{what}a', 'b{shop}', true],
    ['a{what}', 'b{shop}', false],
    ['pay/{what}', 'pay{what}', true],
    ['pay/{what}', 'paid/{what}', false],
    ['{what}:{shop}', '{what}:x', true],
    ['%2f{what}', '{what}', true],
    // No two effects share an effect key, but the author of an input may know the key of an effect.
    ['{key}', '{key}', false],
    ['{key}:{what}', '{key}', false],
    ['{key}', 'x{key}', false],
    ['{key}', 'a{key}', true],
    ['{key}', '{what}', true],
    ['{shop}/{key}', '{what}/{key}', true],
  ])('the keys %s and %s', (one, other, meet) => {
    const declared = () => declaredTools([of('a', one), of('b', other)], { take });
    if (meet)
      expect(errorOf(declared)).toMatchObject({
        ...refusal,
        message: expect.stringContaining('keys of a'),
      });
    else expect(declared().length).toBe(2);
    const apart = () =>
      beside(declaredTool(of('a', one), { take }), declaredTool(of('b', other), { take }));
    if (meet) expect(errorOf(apart)).toMatchObject(refusal);
    else expect(apart).not.toThrow();
  });

  test('under two names, by themselves, or as another tool does', () => {
    expect(
      errorOf(() =>
        declaredTools([of('a', '{what}'), of('b', '{shop}', { execute: { call: 'grab' } })], {
          take,
          grab: take,
        }),
      ),
    ).toMatchObject(refusal);
    const sold = declareTool({
      name: 'take',
      input: z.looseObject({}),
      class: keyed,
      writes: ['x:y'],
      execute: take,
    });
    const over = (name: string, key: string) => declaredTool(of(name, key), { take: sold });
    expect(errorOf(() => beside(over('a', '{what}'), over('b', '{shop}')))).toMatchObject(refusal);
    // The tool itself hands on the key of its effect.
    expect(errorOf(() => beside(sold, over('b', '{shop}')))).toMatchObject(refusal);
    expect(errorOf(() => beside(over('b', '{shop}'), sold))).toMatchObject(refusal);
    expect(() => beside(sold, over('a', '{key}'), over('b', 'b/{shop}'))).not.toThrow();
    // A wrapper around a tool, such as a counter of its calls.
    const { spec } = over('a', '{what}');
    const counted = declareTool({
      ...spec,
      execute: (input, call, planned) => spec.execute(input, call, planned),
    });
    expect(errorOf(() => beside(counted, over('b', '{shop}')))).toMatchObject(refusal);
  });

  test('by way of a declared tool', () => {
    const inner = declaredTool(of('take', 'x/{key}'), { take });
    const calls = { execute: { call: 'inner' } };
    const through = (name: string, key: string) => declaredTool(of(name, key, calls), { inner });
    expect(errorOf(() => beside(through('a', '{what}'), through('b', 'b{shop}')))).toMatchObject(
      refusal,
    );
    expect(() => beside(through('a', 'a/{what}'), through('b', 'b/{shop}'))).not.toThrow();
    expect(() =>
      beside(through('a', 'a/{what}'), declaredTool(of('b', 'x/a/{shop}'), { take })),
    ).not.toThrow();
    // A key of the outer tool is escaped in that of the inner one.
    expect(
      errorOf(() =>
        beside(through('a', 'a/{what}'), declaredTool(of('b', 'x/a%2f{shop}'), { take })),
      ),
    ).toMatchObject(refusal);
  });

  test('also to compensate their effects, or to query them', () => {
    const sort = {
      reversibility: 'reversible',
      delivery: 'externalised',
      sink: 'queryable',
    } as const;
    const call = (call: string) => ({ call });
    const all = {
      class: sort,
      execute: call('f'),
      compensate: call('take'),
      reconcile: call('find'),
    };
    const callables = { take, f: () => null, find: () => null, g: () => null };
    const pair = (key: string, parts: object) => () =>
      declaredTools([of('a', '{key}', all), of('b', key, parts)], callables);
    expect(errorOf(pair('undo-{what}', { execute: call('take') }))).toMatchObject(refusal);
    expect(errorOf(pair('{what}', { execute: call('find') }))).toMatchObject(refusal);
    expect(pair('b/{what}', { execute: call('take') })().length).toBe(2);
    expect(pair('{shop}', { execute: call('g') })().length).toBe(2);
  });
});

test.each([[{ happened: true, result: 1, at: 'noon' }], [{ happened: 'yes' }], [null]])(
  'a reconciliation that answers %j leaves the outcome unknown',
  async (said) => {
    const sort = { ...(ORDER.class as object), sink: 'queryable' };
    const declaration = { ...ORDER, class: sort, reconcile: { call: 'find' } } as ToolDeclaration;
    const take = () => {
      throw new Error('the line went dead');
    };
    const tool = declaredTool(declaration, { ...shop().callables, take, find: () => said });
    const { left } = await transact([tool], (tx) => tx.call('shop.order', GIVEN));
    expect(left).toMatchObject([
      { phase: 'in_doubt', error: { message: expect.stringContaining('{ happened: false }') } },
    ]);
  },
);

describe('a compensation answers', () => {
  const answered = (said: unknown, declaration: object = {}, callables: object = {}) =>
    declaredTool({ ...ORDER, ...declaration } as never, {
      ...shop().callables,
      cancel: () => said,
      ...callables,
    });

  /** The residue in the log of a compensated effect, and the unresolved effects. */
  async function leftBy(tool: Tool) {
    const store = new MemoryStore();
    const assize = runtimeOver(store, [attended], { tools: [tool] });
    const trajectory = await assize.create(attended, { trajectoryId: 't' });
    const thrown = trajectory.transaction(
      { writ: writFor('alice'), writes: ['**'], retries: 0 },
      async (tx) => {
        await tx.call('shop.order', GIVEN);
        throw new Error('as planned');
      },
    );
    await expect(thrown).rejects.toThrow('as planned');
    const left = await assize.recoverEffects();
    await assize.close();
    const ref = readTransaction((await store.effectsOf(1))!).effects[0]!.residue;
    const residue = ref && JSON.parse((await store.blob(ref.$blob))!).value;
    return { residue, left: left.map(({ phase }) => phase) };
  }

  const costs = { class: { ...(ORDER.class as object), reversibility: 'with_cost' } };

  test('with a residue that is stored in the effect log', async () => {
    expect(await leftBy(answered({ undone: 'partly', residue: { fee: 5 } }, costs))).toEqual({
      residue: { fee: 5 },
      left: [],
    });
  });

  test.each([[{ undone: 'all' }], [undefined], [{ cancelled: true }], ['done'], [[1]]])(
    'that all is undone: %j',
    async (said) => {
      expect(await leftBy(answered(said, costs))).toEqual({ residue: undefined, left: [] });
    },
  );

  test.each([[{ undone: 'partly' }], [{ undone: 'some', residue: 1 }], [{ undone: true }]])(
    'without a valid result, and the effect needs a human decision: %j',
    async (said) => {
      expect(await leftBy(answered(said))).toEqual({ residue: undefined, left: ['in_doubt'] });
    },
  );

  test('with a residue that another tool mitigates under its own key', async () => {
    const keys: string[] = [];
    const args = { about: { $from: '/input/what' }, fee: { $from: '/residue/fee' } };
    const complain = (given: unknown, { key }: CallContext) => {
      keys.push(key);
      return given as never;
    };
    const mitigate = { call: 'complain', args };
    const tool = answered(
      { undone: 'partly', residue: { fee: 5 } },
      { ...costs, mitigate },
      { complain },
    );
    expect(await leftBy(tool)).toEqual({
      residue: { mitigated: { about: 'a', fee: 5 }, residue: { fee: 5 } },
      left: [],
    });
    expect(keys).toEqual([expect.stringMatching(/^mitigate-x%2fy\/[0-9a-f]{64}$/)]);
  });

  test.each(['keyed', 'queryable', 'blind'] as const)(
    'with a residue, mitigated once despite a lost answer: by a %s tool',
    async (sink) => {
      const log = new OutsideSink(sink);
      const letter = declareTool({
        name: 'mail.letter',
        input: z.looseObject({}),
        class: { reversibility: 'irreversible', delivery: 'buffered', sink },
        writes: ['x:y'],
        execute: (_, { key }) => {
          const isFirst = !log.has(key);
          log.do(key, 'letter');
          if (isFirst) throw new Error('the line went dead');
          return 'written before';
        },
        ...(sink === 'queryable' && {
          reconcile: (_: unknown, { key }: CallContext) =>
            log.has(key) ? { happened: true, result: 'it was written' } : { happened: false },
        }),
      });
      const partly = { undone: 'partly', residue: { fee: 5 } };
      // A mitigation by a blind call is blind itself: it needs a human decision.
      const sort = sink === 'blind' ? { ...(ORDER.class as object), sink } : ORDER.class;
      const tool = answered(partly, { class: sort, mitigate: { call: 'letter' } }, { letter });
      const mitigated = { keyed: 'written before', queryable: 'it was written' };
      expect(await leftBy(tool)).toEqual(
        sink === 'blind'
          ? { residue: undefined, left: ['in_doubt'] }
          : { residue: { mitigated: mitigated[sink], residue: { fee: 5 } }, left: [] },
      );
      expect(log.standing('letter')).toBe(1);
    },
  );
});
