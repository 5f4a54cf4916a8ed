import fc from 'fast-check';
import { isExpressionStatement, isParenthesizedExpression } from 'typescript/unstable/ast/is';
import { afterAll, expect, test } from 'vitest';
import { fragmentFile } from './allowed-source.ts';
import { type BoundNames, boundNames } from './bound-names.ts';
import { Compiler } from './compiler.ts';

const compiler = new Compiler();
afterAll(() => compiler.close());

async function namesOf(sources: readonly string[]): Promise<BoundNames[]> {
  const { sources: files, syntax } = await compiler.compile(
    new Map(sources.map((source, i) => [`${i}.ts`, fragmentFile(source)])),
  );
  expect(syntax).toEqual([]);
  return sources.map((_, i) => {
    const statement = files.get(`${i}.ts`)?.statements[0];
    if (statement === undefined || !isExpressionStatement(statement))
      throw new Error(`no expression ${i}`);
    const wrapped = statement.expression;
    return boundNames(isParenthesizedExpression(wrapped) ? wrapped.expression : wrapped);
  });
}

/** The names that are always a part of the state, and those that are not. */
const CASES: readonly (readonly [source: string, ofState: string])[] = [
  ['(state, args) => { }', 'state'],
  ['({ a, b: { c } }, { d }) => { }', 'a c'],
  ['({ a = {}, ...b }) => { }', ''],
  ['(state = {}) => { }', ''],
  ['(...state) => { }', ''],
  ["(s) => { const x = s.a['b']!.c; let y = s; var z = s; }", 's x'],
  ['(s) => { const x = s.a ?? {}; const { y } = s.a ?? {}; const { z = 1 } = s; }', 's y'],
  ['(s) => { for (const x of s.a) for (const [k, v] of Object.entries(x.b ?? {})) k; }', 's x k v'],
  ['(s) => { for (const x of Object.keys(s)) x; for (const y of [s]) y; }', 's'],
  [
    '(s) => { s.a.filter((x) => x.b).toSorted((y, z) => y - z).reduce((sum, w) => sum + w, 0); }',
    's x y z w',
  ],
  [
    '(s) => { s.a.map((x, i, all) => x).at(0); const y = s.a.map((x) => x); const z = s.a.at(0); }',
    's x z',
  ],
  ['(s) => { const x = s; { const x = { ...s }; } }', 's'],
  ['(s) => { s = { ...s }; const x = s; }', ''],
  ['(s) => { const x = s; x++; }', 's'],
  ['(s) => { const f = (x) => x; f(s); const y = f(s); }', 's'],
  ['(s) => { const x = (s.a); const y = s ? s.a : {}; const z = y.b; }', 's x'],
];

test('a name is a part of the state if each of its declarations is', async () => {
  const found = await namesOf(CASES.map(([source]) => source));
  expect(found.map(({ ofState }) => [...ofState].join(' '))).toEqual(
    CASES.map(([, ofState]) => ofState),
  );
});

test('an arrow function is one at each of its declarations', async () => {
  const [names] = await namesOf([
    '(s) => { const f = () => 1; const g = () => 2; { const g = 1; } let h = () => 3; }',
  ]);
  expect([...names!.arrows]).toEqual(['f']);
});

const name = fc.constantFrom('n', 'm');
const value = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('s', 'p', 'q', 'n', 'm', 's.b', '{ a: { a: {} } }'),
    ...[
      '$.a',
      "$['b']",
      '($)',
      '($ ?? {})',
      '{ ...$ }',
      '[$]',
      '($ ? $ : {})',
      'Object.values($)',
    ].map((form) =>
      tie('value').map((inner) =>
        form.replaceAll('$', () => (inner.startsWith('{') ? `(${inner})` : inner)),
      ),
    ),
    ...['$.at(0)', '$.filter(() => true)', '$.map(() => ({}))', '$.pop()', '$.toReversed()'].map(
      (form) => tie('value').map((inner) => form.replace('$', () => `(${inner})`)),
    ),
  ),
})).value;
/** Statements that declare or assign a name, each around the next ones. */
const FORMS = [
  ...[
    'const # = $;',
    'const { a: # } = $;',
    'const { b: # = {} } = $;',
    'const { ...# } = $;',
    'const [#] = $;',
  ],
  ...['let # = $;', '# = $;', 'for (const # of $)', 'for (const [, #] of Object.entries($))'],
  ...['($).forEach((#) => @);', '($).reduce((sum, #) => @, 0);', '($).map((_, #) => @);'],
].map((form) => (form.includes('@') ? form : `${form} @`));
const statement = fc.record({ form: fc.constantFrom(...FORMS), of: name, from: value });
const program = fc.array(statement, { minLength: 1, maxLength: 6 }).map((all) => {
  const body = all.reduceRight((rest, { form, of, from }) => {
    const block = `{ see('${of}', ${of}); try { ${rest} } catch { } }`;
    return form
      .replaceAll('#', of)
      .replace('$', () => `(${from})`)
      .replace('@', () => block);
  }, '');
  return `(s) => { const p = s.a; const q = { a: { a: {} }, b: [{}] }; try { ${body} } catch { } }`;
});

/** The names that stood for another value than a part of the state in one run. */
function otherNames(source: string): ReadonlySet<string> {
  const parts = new WeakSet<object>();
  const part = <T extends object>(made: T): T => {
    const proxy = new Proxy(made, {});
    parts.add(proxy);
    return proxy;
  };
  const leaf = () => part({ a: 1, b: part([part({ a: 2 })]) });
  const state = part({ a: part({ a: leaf(), b: part([leaf(), leaf()]) }), b: part([leaf()]) });
  const isPart = (found: unknown): boolean =>
    typeof found !== 'object' ||
    found === null ||
    parts.has(found) ||
    (Array.isArray(found) && found.every(isPart));
  const others = new Set<string>();
  const see = (of: string, found: unknown): void => {
    if (!isPart(found)) others.add(of);
  };
  new Function('see', `'use strict'; return ${source}`)(see)(state);
  return others;
}

test('a name that is of the state stands for nothing else in any run', async () => {
  const programs = fc.sample(program, 400);
  const found = await namesOf(programs);
  let [of, other] = [0, 0];
  for (const [i, source] of programs.entries()) {
    const others = otherNames(source);
    const { ofState } = found[i]!;
    expect(
      [...ofState].filter((one) => others.has(one)),
      source,
    ).toEqual([]);
    of += ofState.size - 2;
    other += others.size;
  }
  expect(Math.min(of, other)).toBeGreaterThan(30);
});
