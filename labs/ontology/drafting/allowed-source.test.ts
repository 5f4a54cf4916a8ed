import { afterAll, expect, test } from 'vitest';
import { ESCAPES } from '../testing/escapes.ts';
import { LIBRARY_ANSWER } from '../testing/library-answer.ts';
import { type Allowed, allowedSource, fragmentFile } from './allowed-source.ts';
import { fragmentsOf } from './assemble.ts';
import { Compiler } from './compiler.ts';

const compiler = new Compiler();
afterAll(() => compiler.close());

async function read(
  sources: readonly string[],
  sort: 'schema' | 'function',
): Promise<(Allowed | { readonly syntax: string })[]> {
  const files = new Map(sources.map((source, i) => [`f${i}.ts`, fragmentFile(source)] as const));
  const compiled = await compiler.compile(files);
  return sources.map((_, i) => {
    const wrong = compiled.syntax.find(({ file }) => file === `f${i}.ts`);
    return wrong === undefined
      ? allowedSource(compiled.sources.get(`f${i}.ts`)!, sort)
      : { syntax: wrong.says };
  });
}

const ALLOWED = [
  "({ funds }) => (funds >= 0 ? pass : reject(-funds + ' more'))",
  '(state, { book }, { role: { member } }) => { delete state.loans[member]![book]; }',
  '({ loans }) => { const seen = new Set<string>(); for (const [key] of Object.entries(loans)) seen.add(key); return pass; }',
  '(state) => { switch (state.kind) { case "a": state.n += Math.max(1, 2); break; default: throw new Error("no"); } }',
  '({ rows }) => rows.filter(({ n, ...rest }: { readonly n: number }) => n > Number(rest)).length === 0 ? pass : escalate("ask")',
  '(state, { key }) => { for (const [id, rows] of Object.entries(state.all[key] ?? {})) rows[id] = state.list.at(0); }',
  '({ loans }) => { const late = (n: number) => n > 1; return loans.every(({ n }) => late(n)) ? pass : reject("late"); }',
  "(state, { key }) => { if (typeof state.all[key] === 'string') state.all[key] = { [key]: 1 }; }",
  '(state) => { let n = 0; while (n < 3) n++; state.days = (Date.parse(state.to) - Date.UTC(2026, 1)) / 86_400_000; }',
];

/** Each would reach beyond the arguments of a pure function, or beyond its hole. */
const REFUSED: readonly (readonly [string, string])[] = [
  ['an import', '() => import("node:fs")'],
  ['require', '() => require("node:fs")'],
  ['process', '(state) => { process.exit(0); }'],
  ['process under the name of a local', '(state) => { { const process = 1; } process.exit(0); }'],
  ['globalThis', '() => globalThis'],
  ['eval', '() => eval("1")'],
  ['Function', '() => new Function("return 1")()'],
  ['the constructor of a function', '() => (() => 1).constructor("return process")()'],
  ['a constructor by a literal', '() => pass["constructor"]'],
  ['a constructor by a template', '() => pass[`constructor`]'],
  ['a constructor by a pattern', '({ constructor: f }) => f'],
  ['a constructor by a text', '() => { const key = "constructor"; return key; }'],
  ['__proto__', '(state) => { state.__proto__.x = 1; }'],
  ['a prototype', '() => { Array.prototype.map = 1; }'],
  ['a global as a value', '() => { const o = Object; return o; }'],
  ['a shorthand global', '() => ({ Object })'],
  ['fetch', '() => fetch("http://localhost")'],
  ['Math.random', '() => Math.random()'],
  ['Date.now', '() => Date.now()'],
  ['new Date', '() => new Date()'],
  ['async', 'async () => pass'],
  ['await', '() => { await 1; }'],
  ['a function expression', '(function () { return this; })'],
  ['a nested function', '() => { function f() {} return f; }'],
  ['a class', '() => class {}'],
  ['this', '() => this'],
  ['a generator', '() => { yield 1; }'],
  ['any', '(x: any) => x'],
  ['an assertion', '(x) => x as never'],
  ['a type of the outside', '(x: Process) => x'],
  ['setTimeout', '() => { setTimeout(() => 1); }'],
  ['console', '() => { console.log(1); }'],
  ['a tagged template', '() => String.raw`x`'],
  ['z as a value', '() => z'],
  ['debugger', '() => { debugger; }'],
  ['instanceof', '(x) => x instanceof Error'],
  ['meta', '() => import.meta.url'],
  ['an end of the hole', '() => 1); process.exit(0); (() => 1'],
  ['two expressions', '() => 1, () => 2'],
  ['no function', 'z.string()'],
  ['a comment that goes on', '() => 1 /*'],
  ['an escaped name', '() => pr\\u006fcess.exit(0)'],
];

test('a pure arrow function is allowed, and keeps its text', async () => {
  expect(await read(ALLOWED, 'function')).toEqual(ALLOWED.map((source) => ({ source })));
});

test('the fragments of a whole answer are allowed', async () => {
  const fragments = fragmentsOf(LIBRARY_ANSWER as never);
  for (const sort of ['schema', 'function'] as const) {
    const sources = fragments.filter((one) => one.sort === sort).map(({ source }) => source);
    for (const one of await read(sources, sort)) expect(one).toHaveProperty('source');
  }
});

test('comments around an expression are left out', async () => {
  expect(await read(['/* a */ () => pass // b'], 'function')).toEqual([{ source: '() => pass' }]);
});

test('a fragment that reaches further is refused', async () => {
  const found = await read(
    REFUSED.map(([, source]) => source),
    'function',
  );
  const passed = REFUSED.filter((_, i) => 'source' in found[i]!).map(([name]) => name);
  expect(passed).toEqual([]);
});

/** Refused by their types (`escapes.test.ts`). */
const OPEN_TYPES: readonly string[] = [
  ...[
    'a list of anything',
    'a map of anything',
    'a set of anything',
    'an empty list',
    'an object of anything',
  ],
  ...['a replacer', 'the rest of a match', 'an item of anything', 'a method as a value'],
  'a method of a global as a value',
];

test('a known way out is refused by its syntax, if its types are not open', async () => {
  const found = await read(
    ESCAPES.map(({ source }) => source),
    'function',
  );
  expect(ESCAPES.length).toBeGreaterThan(90);
  expect(ESCAPES.filter((_, i) => 'source' in found[i]!).map(({ name }) => name)).toEqual(
    OPEN_TYPES,
  );
});

test('a schema is a call of zod, with known members only', async () => {
  const allowed = [
    'z.string().min(1).regex(/^a+$/)',
    'z.object({ at: z.iso.date() }).extend({ n: z.number().int().default(1) })',
  ];
  const refused = [
    ...[
      'z.any()',
      'z.custom()',
      'z.core.x()',
      'z',
      'x.string()',
      '(() => z.string())()',
      'z.string()._zod.constr()',
    ],
    ...[
      'z.string().transform((a) => a)',
      'z.string().refine(() => true)',
      'z.number().default(() => 1)',
    ],
    ...[
      'z.object({ a: z.string() }).shape["a"].min(1)',
      'z.literal(pass)',
      'z.string().parse("a")',
    ],
  ];
  const found = await read([...allowed, ...refused], 'schema');
  expect(found.filter((one) => 'source' in one)).toEqual(allowed.map((source) => ({ source })));
});
