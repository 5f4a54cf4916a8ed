import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Call, declareTool } from '#effects';
import { cases } from '../../../tests/support/cases.ts';
import { OutsideSink } from '../../../tests/support/effects-stage.ts';
import { errorOf } from '../../../tests/support/error-of.ts';
import { crashedEverywhere, transact } from '../../../tests/support/tool-stage.ts';
import { declaredTool, declaredTools, type ToolDeclaration } from './index.ts';
import { filledKey, keyProblem } from './key.ts';

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
    take: ({ what }: { what: string }, { key }: Call) => {
      sink.do(key, what);
      return { id: what };
    },
    cancel: (given: { order: string }, { key }: Call) => {
      args.push(given);
      sink.undo(key.replace(/^undo-/, ''), given.order);
    },
    find: (_: unknown, { key }: Call) =>
      sink.has(key) ? { happened: true, result: { id: 'a' } } : { happened: false },
  };
  return { sink, args, callables };
}

const GIVEN = { what: 'a', shop: 'x/y' };

describe('a declared tool', () => {
  test('calls what it names, with a key of its own form', async () => {
    const { sink, callables } = shop();
    const { isCommitted } = await transact([declaredTool(ORDER, callables)], async (tx) => {
      expect(await tx.call('shop.order', GIVEN)).toEqual({ id: 'a' });
    });
    expect(isCommitted).toBe(true);
    expect(sink.log).toEqual([{ did: 'do', what: 'a', key: expect.stringMatching(/^x%2fy\/[0-9a-f]{64}$/) }]);
  });

  test('is undone with arguments from input and result', async () => {
    const { sink, args, callables } = shop();
    await transact([declaredTool(ORDER, callables)], async (tx) => {
      await tx.call('shop.order', GIVEN);
      throw new Error('no');
    });
    expect([sink.standing('a'), args]).toEqual([0, [{ order: 'a', at: ['x/y'], why: 'undone' }]]);
  });

  test('waits for a person where what undoes it can’t be called', async () => {
    const { sink, args, callables } = shop();
    const lost = { ...callables, take: (given: { what: string }, call: Call) => void callables.take(given, call) };
    const { left } = await transact([declaredTool(ORDER, lost)], async (tx) => {
      await tx.call('shop.order', GIVEN);
      throw new Error('no');
    });
    expect([sink.standing('a'), args, left.map(({ phase }) => phase)]).toEqual([1, [], ['unresolved']]);
  });

  test('has the scopes and the input that it declares', async () => {
    const tool = declaredTool(ORDER, shop().callables);
    expect(tool.claims(tool.parse(GIVEN)).map(({ scope }) => scope.text)).toEqual(['shop:x~2fy:orders']);
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
    const sort = { ...(ORDER.class as object), reversibility: 'irreversible', delivery: 'buffered' } as never;
    const of = (args: object) =>
      declaredTool({ ...rest, class: sort, execute: { call: 'take', args: args as never } }, { take });
    const fits = await transact([of({ order: { $from: '/input/what' } })], (tx) => tx.call('shop.order', GIVEN));
    expect([fits.left, sink.standing('a')]).toEqual([[], 1]);
    const unfit = await transact([of({ order: 1 })], (tx) => tx.call('shop.order', GIVEN));
    expect([unfit.left.map(({ phase }) => phase), sink.log.length]).toEqual([['unresolved'], 1]);
  });

  test('is done once or not at all, with a crash at every step', async () => {
    for (const sort of ['keyed', 'queryable'] as const) {
      const asks = sort === 'queryable' ? { reconcile: { call: 'find' } } : {};
      const declaration = { ...ORDER, ...asks, class: { ...(ORDER.class as object), sink: sort } } as ToolDeclaration;
      const crashes = await crashedEverywhere({
        open: async () => Object.assign(shop(new OutsideSink(sort)), { [Symbol.asyncDispose]: async () => undefined }),
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

test('what a template of keys makes of different calls is different', () => {
  const members = new Set(['a', 'b']);
  const template = fc
    .array(fc.constantFrom('{a}', '{b}', '{key}', ':', '-', 'a', '%', 'a:'), { minLength: 1, maxLength: 6 })
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

test('what a call costs and what undoing it does is said by amounts', () => {
  const declaration = { ...ORDER, class: { ...(ORDER.class as object), reversibility: 'with_cost' } };
  const { spec } = declaredTool({ ...declaration, cost: { usd: 3 }, undoCost: { usd: 1 } } as never, shop().callables);
  expect([spec.cost?.(GIVEN), spec.undoCost?.(GIVEN)]).toEqual([{ usd: 3 }, { usd: 1 }]);
});

describe('a declaration is refused', () => {
  const keyed = { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' };
  test.each<[string, object, string]>([
    ['of an unknown class', { class: 'harmless' }, 'its class is'],
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
    ['whose key is the same after a compensation', { key: '{shop}' }, 'after a compensation'],
    ['whose key has a stray brace', { key: '{key}{' }, 'brace'],
    ['that calls what is not there', { execute: { call: 'fly' } }, 'execute calls "fly"'],
    ['that undoes with what is not there', { compensate: { call: 'toString' } }, 'compensate calls'],
    ['whose arguments come from nowhere', { execute: { call: 'take', args: { $from: '/town' } } }, '$from'],
    [
      'whose arguments come from no member',
      { execute: { call: 'take', args: [{ $from: '/input/town' }] } },
      'no member',
    ],
    ['whose call needs its own result', { execute: { call: 'take', args: { a: { $from: '/result' } } } }, '$from'],
    ['whose pointer is none', { compensate: { call: 'cancel', args: { $from: 'result' } } }, '$from'],
    ['that can be undone, and is not', { compensate: undefined }, 'compensate'],
    ['that is irreversible, and undone', { class: keyed }, 'irreversible'],
    ['whose input is none', { input: { type: 'array' } }, 'input'],
    ['whose schema is none', { input: { type: 'object', properties: { a: { type: 'horse' } } } }, 'JSON Schema'],
    ['with a member too many', { retries: 3 }, 'retries'],
    ['whose cost is no amounts', { cost: { usd: -1 } }, 'cost'],
    ['whose cost of undoing is no amounts', { undoCost: { usd: 0.5 } }, 'undoCost'],
    ['that is undone without a cost, and says one', { undoCost: { usd: 1 } }, 'with_cost'],
  ])('%s', (_, change, why) => {
    expect(errorOf(() => declaredTool({ ...ORDER, ...change } as never, shop().callables))).toMatchObject({
      code: 'invalid_tool',
      message: expect.stringMatching(/^The tool shop\.order /),
    });
    expect(errorOf(() => declaredTool({ ...ORDER, ...change } as never, shop().callables))).toMatchObject({
      message: expect.stringContaining(why),
    });
  });

  test('whose keys may be those of another, or whose name is', () => {
    const { compensate: _, ...rest } = ORDER;
    const one = { ...rest, class: keyed, key: 'order:{shop}' } as ToolDeclaration;
    const of = (other: object) => declaredTools([one, { ...one, ...other }], shop().callables);
    expect(errorOf(() => of({ name: 'shop.other', key: 'order:{what}' }))).toMatchObject({
      code: 'invalid_tool',
      message: expect.stringContaining('those of shop.order'),
    });
    expect(errorOf(() => of({ key: 'x:{what}' }))).toMatchObject({ message: expect.stringContaining('this name') });
    expect(of({ name: 'shop.other', key: 'other:{what}' }).length).toBe(2);
  });
});
