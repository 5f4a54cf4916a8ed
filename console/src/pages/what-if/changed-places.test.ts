import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedPlaces } from './changed-places.ts';

const key = fc.constantFrom('a', 'b', 'a/b', '~', '__proto__', '');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(0, 1, null, 'x'),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

test('the changes lead from the first value to the second, and each is needed', () => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      const changes = changedPlaces(before, after);
      expect(isDeepStrictEqual(changed(before, changes), after)).toBe(true);
      for (const left of changes) {
        const others = changes.filter((one) => one !== left);
        expect(isDeepStrictEqual(changed(before, others), after)).toBe(false);
      }
    }),
  );
});

test('a place of only one of the values has one value', () => {
  expect(changedPlaces({ a: { 'b/c': 1 }, same: [1] }, { a: {}, same: [1], d: {} })).toEqual([
    { place: '/a/b~1c', before: 1 },
    { place: '/d', after: {} },
  ]);
});

/** Writes each place into a copy. */
function changed(before: unknown, changes: ReturnType<typeof changedPlaces>): unknown {
  const root = new Map([['', copied(before)]]);
  for (const change of changes) {
    const way = change.place.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = way.at(-1) as string;
    const parent = way.slice(0, -1).reduce<any>((map, part) => map.get(part), root);
    if ('after' in change) parent.set(last, copied(change.after));
    else parent.delete(last);
  }
  return plain(root.get(''));
}

/** With maps in place of objects. */
function copied(one: unknown): any {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
  return new Map(Object.keys(one).map((name) => [name, copied((one as any)[name])]));
}

function plain(one: unknown): unknown {
  if (!(one instanceof Map)) return one;
  return Object.fromEntries([...one].map(([name, part]) => [name, plain(part)]));
}
