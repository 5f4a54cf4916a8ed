import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, parsePointer, toPointer } from '#canon';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  clone,
  deepFreeze,
  isContainer,
  jsonValue,
  oddKey,
  setMember,
  type Value,
} from '../../../../../tests/support/models/json.ts';
import { applyPatches, type Folded, fresh, type Patch, share } from '../index.ts';

type Choice = {
  readonly turns: readonly number[];
  readonly key: string;
  readonly value: Value;
  readonly op: number;
};

const choice: fc.Arbitrary<Choice> = fc.record({
  turns: fc.array(fc.nat(1_000), { maxLength: 4 }),
  key: oddKey,
  value: jsonValue,
  op: fc.nat(2),
});
const world: fc.Arbitrary<Record<string, Value>> = fc
  .array(fc.tuple(oddKey, jsonValue), { maxLength: 5 })
  .map((pairs) => {
    const object = {};
    for (const [key, value] of pairs) setMember(object, key, value);
    return object;
  });

/** A patch that applies to the state: the choices that the state allows. */
function patchFor(state: Json, { turns, key, value, op }: Choice): Patch {
  const keys: string[] = [];
  let here = state as Value;
  for (const turn of turns) {
    const below = Object.keys(here as object).filter((name) =>
      isContainer((here as Record<string, Value>)[name]),
    );
    if (below.length === 0) break;
    const name = below[turn % below.length] as string;
    keys.push(name);
    here = (here as Record<string, Value>)[name] as Value;
  }
  const list = Array.isArray(here);
  const names = Object.keys(here as object);
  const known = names[(turns[0] ?? 0) % Math.max(1, names.length)];
  const last = list ? String((here as Value[]).length) : key;
  const fresh = !Object.hasOwn(here as object, last);
  if (op === 0 && fresh)
    return { op: 'add', path: toPointer([...keys, last]), value: clone(value) as Json };
  if (known === undefined)
    return { op: 'add', path: toPointer([...keys, last]), value: clone(value) as Json };
  const at = list && op === 2 ? String((here as Value[]).length - 1) : known;
  if (op === 2) return { op: 'remove', path: toPointer([...keys, at]) };
  return { op: 'replace', path: toPointer([...keys, at]), value: clone(value) as Json };
}

/** The plainest implementation: copies everything and follows RFC 6902. */
function naive(state: Json, patch: Patch): Json {
  const copy = clone(state) as Value;
  const keys = parsePointer(patch.path);
  const last = keys.pop() as string;
  let here = copy;
  for (const key of keys) here = (here as Record<string, Value>)[key] as Value;
  if (Array.isArray(here)) {
    if (patch.op === 'add') here.splice(Number(last), 0, clone(patch.value) as Value);
    else if (patch.op === 'replace') here[Number(last)] = clone(patch.value) as Value;
    else here.splice(Number(last), 1);
  } else if (patch.op === 'remove') delete (here as Record<string, Value>)[last];
  else setMember(here as object, last, clone(patch.value));
  return copy as Json;
}

const text = (state: unknown): string => canonicalize(state);

describe('a fold', () => {
  test('matches RFC 6902 for each operation (property)', () => {
    fc.assert(
      fc.property(world, fc.array(choice, { maxLength: 12 }), (start, choices) => {
        const fold = fresh(clone(start) as Json);
        let expected = clone(start) as Json;
        for (const made of choices) {
          const patch = patchFor(expected, made);
          expected = naive(expected, patch);
          applyPatches(fold, [patch]);
          expect(text(fold.state)).toBe(text(expected));
        }
      }),
      { numRuns: cases(1_500) },
    );
  });

  test('of a state shared by many proceeds alone and never changes it (property)', () => {
    const step = fc.record({ who: fc.nat(3), share: fc.boolean(), choice });
    fc.assert(
      fc.property(world, fc.array(step, { maxLength: 24 }), (start, steps) => {
        const base = deepFreeze(clone(start)) as Record<string, unknown>;
        // The base is frozen, so a write to shared data throws.
        const first = share({ state: base, owned: undefined });
        const folds: { fold: Folded; expected: Json }[] = [
          { fold: first, expected: clone(start) as Json },
        ];
        for (const { who, share: parts, choice: made } of steps) {
          const one = folds[who % folds.length] as (typeof folds)[0];
          if (parts && folds.length < 4)
            folds.push({ fold: share(one.fold), expected: clone(one.expected) });
          const patch = deepFreeze(patchFor(one.expected, made));
          one.expected = naive(one.expected, patch);
          applyPatches(one.fold, [patch]);
          for (const { fold, expected } of folds) expect(text(fold.state)).toBe(text(expected));
        }
        expect(text(base)).toBe(text(start));
      }),
      { numRuns: cases(1_500) },
    );
  });

  test('that owns its state changes it in place; a sharing one copies parts once', () => {
    const deep = { kept: { far: [1] }, near: { list: [1, 2] } };
    const owner = fresh(deep as unknown as Json);
    applyPatches(owner, [{ op: 'add', path: '/near/list/2', value: 3 }]);
    expect(owner.state).toBe(deep);
    const other = share(owner);
    applyPatches(other, [{ op: 'add', path: '/near/list/3', value: 4 }]);
    const { near } = other.state as typeof deep;
    applyPatches(other, [{ op: 'add', path: '/near/list/4', value: 5 }]);
    expect((other.state as typeof deep).near).toBe(near);
    expect((other.state as typeof deep).kept).toBe(deep.kept);
    expect(deep.near.list).toEqual([1, 2, 3]);
    // The one that was shared from copies from now on as well.
    applyPatches(owner, [{ op: 'replace', path: '/kept/far/0', value: 0 }]);
    expect((other.state as typeof deep).kept.far).toEqual([1]);
  });

  test('writes members named like the language’s own as data', () => {
    const fold = fresh({} as Json);
    applyPatches(fold, [
      { op: 'add', path: '/__proto__', value: { polluted: true } },
      { op: 'add', path: '/__proto__/more', value: 1 },
      { op: 'add', path: '/constructor', value: { prototype: {} } },
      { op: 'add', path: '/constructor/prototype/polluted', value: true },
    ]);
    expect(text(fold.state)).toBe(
      '{"__proto__":{"more":1,"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    );
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
    const other = share(fold);
    applyPatches(other, [{ op: 'remove', path: '/__proto__' }]);
    expect(text(other.state)).toBe('{"constructor":{"prototype":{"polluted":true}}}');
    expect(Object.getPrototypeOf(other.state)).toBe(Object.prototype);
  });
});
