import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Rooms whose catches see only errors of Node and of drivers. */
const OUTSIDE = /^packages\/(postgres|assize\/src\/(base|stores|merkle))\/|\/public\//;

type Node = { readonly type: string; readonly start: number } & { readonly [member: string]: any };

/** The places of `x instanceof …` where `x` is bound by a `catch`, as `file:line`. */
function caughtInstanceof(file: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown, caught: readonly string[]): void => {
    if (Array.isArray(node)) {
      for (const each of node) visit(each, caught);
      return;
    }
    const { type, start, ...members } = (node ?? {}) as Node;
    if (typeof type !== 'string') return;
    const names =
      type === 'CatchClause' && members['param']?.type === 'Identifier'
        ? [members['param'].name]
        : [];
    if (
      type === 'BinaryExpression' &&
      members['operator'] === 'instanceof' &&
      caught.includes(members['left'].name)
    )
      found.push(`${file}:${text.slice(0, start).split('\n').length}`);
    for (const member of Object.values(members))
      if (typeof member === 'object')
        visit(member, names.length === 0 ? caught : [...caught, ...names]);
  };
  visit(parseAst(text, { lang: 'ts' }, file), []);
  return found;
}

test('the search finds a caught value behind instanceof', () => {
  expect(
    caughtInstanceof('a.ts', 'try { f(); } catch (e) {\n  if (e instanceof Error) g(); }'),
  ).toEqual(['a.ts:2']);
  expect(caughtInstanceof('a.ts', 'if (e instanceof Error) g();')).toEqual([]);
});

test('no caught value is tested with instanceof: isInstance of base is safe', () => {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts') && !OUTSIDE.test(file),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(
    files.flatMap((file) => caughtInstanceof(file, readFileSync(join(root, file), 'utf8'))),
  ).toEqual([]);
});
