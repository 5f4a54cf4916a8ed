/**
 * The table of fields by class in docs/reference/tools.md, compared with the declarations that
 * `declareTool` accepts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declareTool } from 'assize/internal/effects';
import { expect, test } from 'vitest';
import { z } from 'zod';

const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/tools.md'), 'utf8');

type Class =
  | 'read'
  | { readonly reversibility: string; readonly delivery: string; readonly sink: string };

/** A valid value of each field. */
const FIELDS: Readonly<Record<string, unknown>> = {
  writes: ['x:1'],
  compensate: () => ({ undone: 'all' }),
  mitigate: () => null,
  uncompensated: 'it harms nobody',
  undoCost: () => ({ usd: 1 }),
  reconcile: () => ({ happened: false }),
  channel: 'boss',
};
const FREE = {
  reads: ['x:2'],
  plan: () => null,
  cost: () => ({ usd: 1 }),
  sensitive: true,
  parallel: true,
  description: 'x',
  conflictWith: () => undefined,
};

const SINKS = ['keyed', 'queryable', 'blind'];
const CLASSES: readonly Class[] = [
  'read',
  ...['reversible', 'with_cost', 'irreversible'].flatMap((reversibility) =>
    ['buffered', 'externalised'].flatMap((delivery) =>
      SINKS.map((sink) => ({ reversibility, delivery, sink })),
    ),
  ),
];

/** The rows of the table: the words of the class, and the rule for each field. */
function rowsOfPage(): {
  readonly words: readonly string[];
  readonly rules: Readonly<Record<string, string>>;
}[] {
  const lines = page.split('\n');
  const at = lines.findIndex((line) => line.startsWith('| class | `writes` |'));
  const cells = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', ''));
  const [, ...names] = cells(lines[at] as string);
  expect(names).toEqual(Object.keys(FIELDS));
  const end = lines.findIndex((line, i) => i > at && !line.startsWith('|'));
  return lines.slice(at + 2, end).map((line) => {
    const [sort = '', ...rules] = cells(line);
    return {
      words: sort.split(/, | or /),
      rules: Object.fromEntries(names.map((name, i) => [name, rules[i] as string])),
    };
  });
}

/** Whether the page allows exactly these fields for a class. */
function isAllowed(
  rules: Readonly<Record<string, string>>,
  sort: Class,
  has: ReadonlySet<string>,
): boolean {
  return Object.entries(rules).every(([field, rule]) => {
    switch (rule) {
      case 'may':
        return true;
      case 'must':
        return has.has(field);
      case 'no':
        return !has.has(field);
      case 'one of two':
        return has.has('compensate') !== has.has('uncompensated');
      case 'with compensate':
        return !has.has(field) || has.has('compensate');
      case 'if queryable':
        return has.has(field) === (sort !== 'read' && sort.sink === 'queryable');
      default:
        throw new Error(`The table has an unknown rule: ${rule}. Add a case for it.`);
    }
  });
}

function isDeclared(sort: Class, has: ReadonlySet<string>, more: object): boolean {
  const fields = Object.fromEntries(Object.entries(FIELDS).filter(([name]) => has.has(name)));
  const spec = {
    name: 'x',
    input: z.strictObject({}),
    class: sort,
    execute: () => null,
    ...fields,
    ...more,
  };
  try {
    declareTool(spec as never);
    return true;
  } catch (error) {
    expect((error as { reason?: string }).reason).toBe('invalid_tool');
    return false;
  }
}

test.each(CLASSES)('%o accepts exactly the fields of its row', (sort) => {
  const words = sort === 'read' ? ['read'] : [sort.reversibility, sort.delivery];
  const rows = rowsOfPage().filter((row) => words.every((word) => row.words.includes(word)));
  expect(rows).toHaveLength(1);
  const names = Object.keys(FIELDS);
  let declared = 0;
  for (let set = 0; set < 2 ** names.length; set++) {
    const has = new Set(names.filter((_, i) => (set >> i) & 1));
    const expected = isAllowed(rows[0]!.rules, sort, has);
    for (const more of [{}, FREE])
      expect([[...has], isDeclared(sort, has, more)]).toEqual([[...has], expected]);
    if (expected) declared++;
  }
  expect(declared).toBeGreaterThan(0);
});

test('requires a text as the name of a tool', () => {
  const spec = { input: z.strictObject({}), class: 'read', execute: () => null };
  for (const name of [undefined, null, true, 42, ['x'], '', 'Upper', 'assize.x'])
    expect(() => declareTool({ ...spec, name } as never)).toThrow(/its name must be/);
  expect(declareTool({ ...spec, name: 'undefined' } as never).name).toBe('undefined');
});

test('names an invalid scope in one sentence', () => {
  const spec = {
    name: 'x',
    input: z.strictObject({}),
    class: 'read',
    execute: () => null,
    reads: ['kv::'],
  };
  expect(() => declareTool(spec as never)).toThrow(/"kv::" .*empty segment\.$/);
});

test('has only rows of existing classes', () => {
  const known = new Set([
    'read',
    'reversible',
    'with_cost',
    'irreversible',
    'buffered',
    'externalised',
  ]);
  for (const { words } of rowsOfPage())
    for (const word of words) expect(known.has(word)).toBe(true);
});
