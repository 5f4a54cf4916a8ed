import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, type Tool } from '#effects';
import { runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import { unhandledIn } from '../../../../../tests/support/process/errors.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';
import { COUNT, stage } from '../../../../../tests/support/tools/transaction-stage.ts';

test('a value given as a tool must be a tool', () => {
  const plain = { name: 'x.y', execute: () => null } as unknown as Tool;
  expect(() => runtimeOver(new MemoryStore(), [tally], { tools: [plain] })).toThrow(
    'Create it with declareTool',
  );
});

test('a tool that is wrongly declared is refused by name', () => {
  const good = {
    name: 'x.y',
    input: z.strictObject({ a: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['x:{a}'],
    execute: () => null,
    compensate: () => ({ undone: 'all' }),
  } as const;
  expect(declareTool(good as never).name).toBe('x.y');
  const wrong: [object, string][] = [
    [{ name: 'X' }, 'lower-case words'],
    [{ name: 'assize.x' }, 'not start with assize'],
    [{ input: {} }, 'zod schema'],
    [{ execute: undefined }, 'no execute'],
    [{ class: { ...good.class, reversibility: 'maybe' } }, 'reversibility'],
    [{ class: 'write' }, "its class must be 'read'"],
    [{ class: 'read' }, 'only reads'],
    [{ writes: undefined }, 'it must declare `writes`'],
    [{ writes: ['x//y'] }, 'does not parse'],
    [{ writes: 'x:y' }, 'a list of scopes'],
    [{ writes: [] }, 'it must declare `writes`'],
    [{ writes: ['x:{a'] }, 'braces must enclose'],
    [{ writes: ['x:{b}'] }, 'no field b'],
    [{ compensate: 'yes' }, 'compensate must be a function'],
    [{ mitigate: 'yes' }, 'mitigate must be a function'],
    [
      { mitigate: () => null, compensate: undefined, uncompensated: 'it may stay' },
      'a mitigate needs a compensate',
    ],
    [
      { class: 'read', mitigate: () => null, compensate: undefined, writes: undefined },
      'cannot have mitigate',
    ],
    [{ uncompensated: 'it may stay' }, 'leave one out'],
    [{ compensate: undefined, uncompensated: ' ' }, 'give the reason in uncompensated'],
    [{ compensate: undefined }, 'uncompensated'],
    [{ class: { ...good.class, reversibility: 'irreversible' } }, 'cannot have a compensate'],
    [{ class: { ...good.class, sink: 'queryable' } }, 'reconcile'],
    [{ reconcile: () => ({ happened: false }) }, 'queryable'],
  ];
  wrong.push(
    [{ compensat: () => null }, 'no field "compensat"'],
    [{ description: 7 }, 'description must be a string'],
    [{ plan: 'x' }, 'plan must be a function'],
    [{ sensitive: 'no' }, 'sensitive must be true or false'],
    [{ parallel: 1 }, 'parallel must be true or false'],
    [{ compensate: undefined, uncompensated: 7 }, 'uncompensated must be a string'],
  );
  for (const [change, what] of wrong) {
    let said = 'nothing';
    try {
      declareTool({ ...good, ...change } as never);
    } catch (error) {
      said =
        (error as { reason: string; message: string }).reason === 'invalid_tool'
          ? (error as Error).message
          : String(error);
    }
    expect(said).toContain(what);
  }
  class Declared {
    constructor() {
      Object.assign(this, good);
    }
  }
  class Wrong {
    readonly name = 'x.y';
    readonly input = good.input;
    readonly class = good.class;
    readonly writes = good.writes;
    execute = good.execute;
    get compensate() {
      return 7;
    }
  }
  for (const odd of [new Declared(), new Wrong(), Object.create(good)])
    expect(() => declareTool(odd as never)).toThrow(
      'The tool x.y is not valid: its declaration must be a plain object',
    );
  const hidden = { ...good, compensate: undefined };
  for (const proto of [null, Object.create(null, { compensate: { value: 7 } })]) {
    const spec = Object.setPrototypeOf({ ...good }, proto);
    expect(declareTool(spec).name).toBe('x.y');
    delete spec.compensate;
    expect(() => declareTool(spec)).toThrow(
      proto === null ? 'uncompensated' : 'compensate must be a function',
    );
  }
  Object.defineProperty(hidden, 'compensate', { value: 7, enumerable: false });
  expect(() => declareTool(hidden as never)).toThrow('compensate must be a function');
  expect(declareTool({ ...good, note: undefined, plan: undefined } as never).name).toBe('x.y');
  for (const none of [undefined, null, 7, 'x.y'])
    expect(() => declareTool(none as never)).toThrow(
      expect.objectContaining({ reason: 'invalid_tool' }),
    );
  expect(new DidNothing('no')).toMatchObject({ isFinal: false });
});

test.each<[string, object, string]>([
  ['invalid scopes', { writes: () => null }, 'must return a list'],
  ['one scope', { writes: () => 'x:1' }, 'must return a list'],
  ['no scope, though it writes', { writes: () => [] }, 'must return at least one scope'],
  ['scopes that are not told', { reads: () => JSON.parse('') }, 'its reads function failed'],
  ['scopes that come later', { writes: async () => ['x:1'] }, 'must return a list'],
  ['a value that is not a scope', { writes: () => [7] }, 'not a scope'],
  [
    'a schema that takes its time',
    { input: z.string().refine(async () => true) },
    'its schema failed',
  ],
])('a call that has %s is refused by name, with nothing done', async (_, change, what) => {
  let calls = 0;
  const tool = declareTool({
    name: 'x.y',
    input: z.string(),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['test:x'],
    execute: () => void calls++,
    ...change,
  } as never);
  const { trajectory, all } = await stage({ tools: [tool] });
  const { ruling } = await trajectory.transaction(all, async (tx) => {
    const refused = {
      code: 'bad_input',
      evidence: { tool: 'x.y' },
      message: expect.stringContaining(what),
    };
    await expect(tx.call('x.y', 'a')).rejects.toMatchObject(refused);
    tx.propose(COUNT);
  });
  expect([ruling.ruling, calls]).toEqual(['committed', 0]);
});

test('scopes that fail later end no process', async () => {
  const later = () => Promise.reject(new Error('later'));
  const tool = declareTool({
    name: 'x.y',
    input: z.string(),
    class: 'read',
    reads: later as never,
    execute: () => 1,
  });
  const { trajectory, all } = await stage({ tools: [tool] });
  const unhandled = await unhandledIn(() =>
    trajectory.transaction(all, async (tx) => {
      await expect(tx.call('x.y', 'a')).rejects.toMatchObject({ code: 'bad_input' });
      tx.propose(COUNT);
    }),
  );
  expect(unhandled).toEqual([]);
});
