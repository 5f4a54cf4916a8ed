import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { messagesAt } from './findings.ts';
import { membersOf, withItem, withMember, withoutItem } from './members.ts';
import { numberOf, numberText } from './number-text.ts';
import { isSameJson } from './same-json.ts';
import {
  emptyOf,
  isOfKind,
  kindOf,
  limitsOf,
  type Resolved,
  resolved,
  resolvedRoot,
  type Schema,
} from './schema.ts';
import { isReadable, parsed } from './unreadable.ts';

const name = fc.oneof(
  fc.constantFrom('a', 'b', '__proto__', 'a/b~c', ''),
  fc.string({ maxLength: 3 }),
);

/** Random schemas of every kind, also with parts that the form does not read. */
const { schema } = fc.letrec<{ schema: Schema; member: readonly [string, Schema] }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Schema>(
      { type: 'string' },
      { type: 'integer', minimum: 1 },
      { type: 'number' },
      { type: 'boolean' },
      { enum: ['x', 2, null] },
      {},
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
    ),
    tie('schema').map((items) => ({ type: 'array', items })),
    fc
      .tuple(fc.array(tie('member'), { maxLength: 4 }), fc.boolean())
      .map(([members, isRequired]) => ({
        type: 'object',
        properties: Object.fromEntries(members),
        required: isRequired ? members.map(([each]) => each) : [],
      })),
  ),
  member: fc.tuple(name, tie('schema')),
}));

/** Sets each place of the form to the value that it shows. */
function touched(part: Resolved, value: unknown): unknown {
  const kind = kindOf(part);
  if (value === undefined || !isOfKind(kind, value)) return value;
  if (kind === 'object') {
    let object = value as Readonly<Record<string, unknown>>;
    for (const member of membersOf(part, object))
      object = withMember(object, member.name, touched(member.part, member.value));
    return object;
  }
  if (kind !== 'list') return value;
  let list = value as readonly unknown[];
  for (const [n, item] of list.entries())
    list = withItem(list, n, touched(resolved(part.schema.items, part), item));
  return list;
}

test('a form whose fields keep their values keeps the value', () => {
  fc.assert(
    fc.property(schema, fc.jsonValue(), fc.boolean(), (root, any, isEmpty) => {
      const part = resolvedRoot(root);
      const value = isEmpty ? emptyOf(part) : any;
      expect(JSON.stringify(touched(part, value))).toBe(JSON.stringify(value));
    }),
  );
});

test('each member of an object has one field, and a change is only there', () => {
  fc.assert(
    fc.property(schema, fc.dictionary(name, fc.jsonValue()), name, (root, value, changed) => {
      const members = membersOf(resolvedRoot(root), value);
      const names = members.map((member) => member.name);
      expect(new Set(names).size).toBe(names.length);
      for (const each of Object.keys(value)) expect(names).toContain(each);
      const next = withMember(value, changed, 'new');
      for (const each of Object.keys(value))
        if (each !== changed) expect(next[each]).toBe(value[each]);
      expect(Object.getOwnPropertyDescriptor(next, changed)?.value).toBe('new');
      expect(Object.hasOwn(withMember(next, changed, undefined), changed)).toBe(false);
    }),
  );
});

test('an item is changed and removed alone', () => {
  expect(withItem([1, 2, 3], 1, 'x')).toEqual([1, 'x', 3]);
  expect(withoutItem([1, 2, 3], 1)).toEqual([1, 3]);
});

test('the schemas of zod have their fields', () => {
  const node = z.object({
    name: z.string(),
    get next() {
      return z.array(node).optional();
    },
  });
  const root = z.toJSONSchema(
    z.strictObject({
      to: z.string().max(20).describe('the payee'),
      cents: z.int().min(1).max(100),
      rate: z.number(),
      urgent: z.boolean(),
      mode: z.enum(['slow', 'fast']),
      at: z.iso.datetime(),
      lines: z.array(z.strictObject({ text: z.string() })),
      either: z.union([z.string(), z.number()]),
      any: z.record(z.string(), z.string()),
      node,
    }),
    { io: 'input', unrepresentable: 'any' },
  ) as Schema;
  const members = membersOf(resolvedRoot(root), {});
  const kinds = Object.fromEntries(members.map((member) => [member.name, kindOf(member.part)]));
  expect(kinds).toEqual({
    ...{
      to: 'text',
      cents: 'integer',
      rate: 'number',
      urgent: 'boolean',
      mode: 'choice',
      at: 'text',
    },
    ...{ lines: 'list', either: 'json', any: 'json', node: 'object' },
  });
  const recursive = members.find((member) => member.name === 'node')?.part as Resolved;
  const next = membersOf(recursive, {}).find((member) => member.name === 'next')?.part as Resolved;
  expect([kindOf(next), kindOf(resolved(next.schema.items, next))]).toEqual(['list', 'json']);
  const limits = members.map(({ part }) => limitsOf(part.schema)).filter((text) => text !== '');
  expect(limits).toEqual([
    'at most 20 characters',
    'from 1 to 100',
    'a time such as 2026-03-23T09:00:00Z',
  ]);
});

test('a new number is the one nearest to zero', () => {
  const limits: readonly Schema[] = [
    {},
    { minimum: 2 },
    { minimum: -9, maximum: 9 },
    { maximum: -3 },
  ];
  const numbers = limits.map((limit) => emptyOf(resolvedRoot({ type: 'integer', ...limit })));
  expect(numbers).toEqual([0, 2, 0, -3]);
});

test('a number field keeps a text that is not a number', () => {
  expect([
    numberOf('12'),
    numberOf(' 1.5e3 '),
    numberOf(''),
    numberOf('1_0'),
    numberOf('0x10'),
  ]).toEqual([...[12, 1_500, undefined, '1_0', '0x10']]);
  expect([numberText(12), numberText('1_0'), numberText(undefined)]).toEqual(['12', '1_0', '']);
});

test('a text that is not JSON makes the whole unreadable', () => {
  expect(parsed('{"a":[1]}')).toEqual({ a: [1] });
  expect(isReadable({ a: [parsed('[1')] })).toBe(false);
  expect(isReadable({ a: [1, null] })).toBe(true);
});

test('a misfit shows at its field, or at the JSON around it', () => {
  const findings = [
    { pointer: '/a~1b', message: 'too small' },
    { pointer: '/c/0', message: 'missing' },
  ];
  expect(messagesAt(findings, ['a/b'], false)).toBe('too small');
  expect(messagesAt(findings, ['c'], false)).toBeUndefined();
  expect(messagesAt(findings, ['c'], true)).toBe('/c/0: missing');
});

test('JSON values are the same in any order of members', () => {
  expect(isSameJson({ a: 1, b: [null] }, { b: [null], a: 1 })).toBe(true);
  for (const other of [
    { a: 1 },
    { a: 1, b: [0] },
    { a: 1, b: { 0: null } },
    { a: 1, c: [null] },
    null,
  ])
    expect(isSameJson({ a: 1, b: [null] }, other)).toBe(false);
});
