import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from './cases.ts';
import { clone, isContainer, jsonValue, type Value } from './models/json.ts';
import { expect as quick } from './quick-expect.ts';

function holds(said: () => void): boolean {
  try {
    said();
    return true;
  } catch {
    return false;
  }
}

/** Pairs of values. The second is often the first, or a part of it. */
const pair: fc.Arbitrary<[Value, Value]> = fc.oneof(
  fc.tuple(jsonValue, jsonValue),
  jsonValue.map((value): [Value, Value] => [value, clone(value)]),
  fc.tuple(jsonValue, fc.nat(3)).map(([value, n]): [Value, Value] => {
    const part = clone(value);
    const key = isContainer(part) ? Object.keys(part)[n] : undefined;
    if (key !== undefined) delete (part as Record<string, Value>)[key];
    return [value, part];
  }),
);

test('a quick assertion holds exactly when `expect` does', () => {
  fc.assert(
    fc.property(pair, fc.boolean(), ([one, other], isSwapped) => {
      const [is, shall] = isSwapped ? [other, one] : [one, other];
      expect(holds(() => quick(is).toBe(shall))).toBe(holds(() => expect(is).toBe(shall)));
      expect(holds(() => quick(is).toEqual(shall))).toBe(holds(() => expect(is).toEqual(shall)));
      expect(holds(() => quick(is).not.toContain(shall))).toBe(
        holds(() => expect(is).not.toContain(shall)),
      );
      for (const type of [Array, Object]) {
        const isNone = holds(() => expect(is).not.toBeInstanceOf(type));
        expect(holds(() => quick(is).not.toBeInstanceOf(type))).toBe(isNone);
      }
      for (const name of isContainer(shall)
        ? [...Object.keys(shall), 'toString', 'a.b']
        : ['length']) {
        const isNot = holds(() => expect(is).not.toHaveProperty(name));
        expect(holds(() => quick(is).not.toHaveProperty(name))).toBe(isNot);
      }
      if (!isContainer(shall)) return;
      expect(holds(() => quick(is).toMatchObject(shall))).toBe(
        holds(() => expect(is).toMatchObject(shall)),
      );
    }),
    // An inherited property is not a member, and generated keys have this name too rarely to rely
    // on them.
    { numRuns: cases(2_000), examples: [[[{ ['__proto__']: {} }, {}], true]] },
  );
});
