import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalize } from '#canon';
import { EVERYTHING } from '../../packages/assize/src/kernel/domain/footprint.ts';
import {
  changesFault,
  stateFault,
  strictSchema,
} from '../../packages/assize/src/kernel/domain/schema.ts';
import { changesOf } from '../../packages/assize/src/kernel/state/changes.ts';
import { Draft } from '../../packages/assize/src/kernel/state/draft.ts';
import { cases } from '../support/cases.ts';
import {
  type Container,
  clone,
  isContainer,
  jsonValue,
  type Value,
} from '../support/models/json.ts';
import { program, runOnDraft } from '../support/models/mutations.ts';
import { naiveDiff, type Operation, rfc6902 } from '../support/models/naive-patch.ts';

/** A schema, and values that fit it. */
interface Typed {
  readonly schema: z.ZodType;
  readonly values: fc.Arbitrary<Value>;
}

const PROTO = '__proto__';
const KEYS = ['a', 'b', 'c', '0', '10'] as const;

const leaf: fc.Arbitrary<Typed> = fc.constantFrom<Typed[]>(
  { schema: z.string(), values: fc.constantFrom('', 'x', 'yy') },
  { schema: z.string().min(1), values: fc.constantFrom('x', 'yy') },
  { schema: z.number(), values: fc.constantFrom(0, 1, 0.5) },
  { schema: z.number().int().min(0), values: fc.constantFrom(0, 1, 2) },
  { schema: z.int(), values: fc.constantFrom(0, -1) },
  { schema: z.boolean(), values: fc.boolean() },
  { schema: z.null(), values: fc.constant(null) },
  { schema: z.literal(['x', 1]), values: fc.constantFrom('x', 1) },
  { schema: z.enum(['x', 'yy']), values: fc.constantFrom('x', 'yy') },
  { schema: z.any(), values: jsonValue },
  { schema: z.unknown().readonly(), values: jsonValue },
);

function around(inner: fc.Arbitrary<Typed>): fc.Arbitrary<Typed> {
  const dictionary = (
    values: fc.Arbitrary<Value>,
    names: readonly string[] = KEYS,
  ): fc.Arbitrary<Value> =>
    fc
      .dictionary(fc.constantFrom(...names), values, { maxKeys: 3 })
      .map((object) => ({ ...object }));
  return fc.oneof(
    // Objects, with members that may be absent.
    fc
      .tuple(
        fc.array(fc.tuple(inner, fc.boolean()), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
      )
      .map(([members, loose, checked]): Typed => {
        const named = members.map(([typed, optional], i) => ({
          name: KEYS[i] as string,
          typed,
          optional,
        }));
        const shape = Object.fromEntries(
          named.map(({ name, typed, optional }) => [
            name,
            optional ? typed.schema.optional() : typed.schema,
          ]),
        );
        const values = fc
          .record(Object.fromEntries(named.map(({ name, typed }) => [name, typed.values])), {
            requiredKeys: named
              .filter(({ optional }) => !optional)
              .map(({ name }) => name) as never[],
          })
          .map((object) => ({ ...(object as { [key: string]: Value }) }));
        const object = loose ? z.looseObject(shape) : z.object(shape);
        if (!checked) return { schema: object, values };
        // A check of the whole that no member can make alone.
        const most = named.filter(({ optional }) => !optional).length + 1;
        const fits = (value: object): boolean => Object.keys(value).length !== most;
        return { schema: object.refine(fits), values: values.filter(fits) };
      }),
    inner.map(
      ({ schema, values }): Typed => ({
        schema: z.record(z.string(), schema),
        values: dictionary(values),
      }),
    ),
    inner.map(
      ({ schema, values }): Typed => ({
        schema: z.record(z.string().regex(/^[a-z]+$/), schema),
        values: dictionary(values, ['a', 'b']),
      }),
    ),
    inner.map(
      ({ schema, values }): Typed => ({
        schema: z.record(z.number(), schema),
        values: dictionary(values, ['0', '10']),
      }),
    ),
    // Every listed key must be there.
    inner.map(
      ({ schema, values }): Typed => ({
        schema: z.record(z.enum(['a', 'b']), schema),
        values: fc.record({ a: values, b: values }).map((object) => ({ ...object })),
      }),
    ),
    inner.map(
      ({ schema, values }): Typed => ({
        schema: z.partialRecord(z.enum(['a', 'b']), schema),
        values: dictionary(values, ['a', 'b']),
      }),
    ),
    inner.map(
      ({ schema, values }): Typed => ({
        schema: z.looseRecord(z.string(), schema),
        values: dictionary(values),
      }),
    ),
    inner.map(
      ({ schema, values }): Typed => ({
        schema: z.array(schema),
        values: fc.array(values, { maxLength: 3 }),
      }),
    ),
    inner.map(
      ({ schema, values }): Typed => ({
        schema: z.array(schema).min(1).max(2),
        values: fc.array(values, { minLength: 1, maxLength: 2 }),
      }),
    ),
    fc.tuple(inner, inner).map(
      ([one, two]): Typed => ({
        schema: z.tuple([one.schema, two.schema]),
        values: fc.tuple(one.values, two.values),
      }),
    ),
    fc.tuple(inner, inner).map(
      ([one, rest]): Typed => ({
        schema: z.tuple([one.schema], rest.schema),
        values: fc
          .tuple(one.values, fc.array(rest.values, { maxLength: 2 }))
          .map(([first, more]) => [first, ...more]),
      }),
    ),
    fc.tuple(inner, inner).map(
      ([one, two]): Typed => ({
        schema: z.union([one.schema, two.schema]),
        values: fc.oneof(one.values, two.values),
      }),
    ),
    fc.tuple(inner, inner).map(
      ([one, two]): Typed => ({
        schema: z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('one'), a: one.schema }),
          z.object({ kind: z.literal('two'), b: two.schema }),
        ]),
        values: fc.oneof(
          one.values.map((a) => ({ kind: 'one', a })),
          two.values.map((b) => ({ kind: 'two', b })),
        ),
      }),
    ),
    inner.map(
      ({ schema, values }): Typed => ({
        schema: schema.nullable(),
        values: fc.oneof(values, fc.constant(null)),
      }),
    ),
    inner.map(({ schema, values }): Typed => ({ schema: schema.readonly(), values })),
  );
}

const typed: fc.Arbitrary<Typed> = fc.letrec<{ typed: Typed }>((tie) => ({
  typed: fc.oneof({ maxDepth: 2, withCrossShrink: true }, leaf, around(tie('typed'))),
})).typed;

/** A whole state's schema: an object with two parts. */
const world: fc.Arbitrary<Typed> = fc
  .tuple(typed, typed, fc.boolean())
  .map(([one, two, optional]) => ({
    schema: z.object({ one: one.schema, two: optional ? two.schema.optional() : two.schema }),
    values: fc.record({ one: one.values, two: two.values }).map((object) => ({ ...object })),
  }));

/** Whether some record holds a member that zod itself does not look at. */
function hasProto(value: unknown): boolean {
  return (
    isContainer(value) && (Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto))
  );
}

/** The check of the whole; a check of zod's that throws is not a success. */
function fits(schema: z.ZodType, value: unknown): boolean {
  try {
    return schema.safeParse(value).success;
  } catch {
    return false;
  }
}

function faultsOf(
  schema: z.ZodType,
  state: Container,
  statement: (draft: any) => void,
): { faults: number; now: Value } {
  const draft = new Draft(clone(state), undefined);
  draft.within(EVERYTHING, statement);
  const changes = changesOf(draft);
  const faults = changes.filter(
    (change) => changesFault(schema, draft.state, [change]) !== undefined,
  );
  // A check of all together finds one where one by one does.
  expect(changesFault(schema, draft.state, changes) === undefined).toBe(faults.length === 0);
  return { faults: faults.length, now: draft.state as Value };
}

/** Writes part of the way from one state to another. */
function runOperations(draft: any, operations: readonly Operation[]): void {
  for (const operation of operations) {
    const keys = operation.path.split('/').slice(1);
    const last = keys.pop() as string;
    const here = keys.reduce<any>((value, key) => value?.[key], draft);
    if (!isContainer(here) || (Array.isArray(here) && Number(last) > here.length)) continue;
    if (operation.op !== 'remove') (here as Record<string, Value>)[last] = operation.value;
    else if (Array.isArray(here)) here.length = Math.min(here.length, Number(last));
    else delete (here as Record<string, Value>)[last];
  }
}

describe('the check of a change agrees with the check of the whole state', () => {
  test('on the way from one state that fits to another, or part of it', () => {
    fc.assert(
      fc.property(
        world.chain(({ schema, values }) => fc.tuple(fc.constant(schema), values, values)),
        fc.infiniteStream(fc.boolean()),
        ([schema, from, to], picks) => {
          const strict = strictSchema(schema, 'state');
          fc.pre(fits(strict, from) && !hasProto(from) && !hasProto(to));
          const all = naiveDiff(from as Container, to as Container);
          const some = all.filter(() => picks.next().value);
          for (const operations of [all, some]) {
            const { faults, now } = faultsOf(strict, from as Container, (draft) =>
              runOperations(draft, operations),
            );
            expect([faults === 0, canonicalize(now)]).toEqual([
              fits(strict, now),
              canonicalize(now),
            ]);
          }
          expect(canonicalize(rfc6902(from, all))).toBe(canonicalize(to));
        },
      ),
      { numRuns: cases(1_000) },
    );
  });

  test('for any action on it', () => {
    fc.assert(
      fc.property(
        world.chain(({ schema, values }) => fc.tuple(fc.constant(schema), values)),
        program,
        (pair, statements) => {
          const [schema, state] = pair;
          const strict = strictSchema(schema, 'state');
          fc.pre(fits(strict, state));
          const { faults, now } = faultsOf(strict, state as Container, (draft) =>
            runOnDraft(draft, statements),
          );
          fc.pre(!hasProto(now));
          expect([faults === 0, canonicalize(now)]).toEqual([fits(strict, now), canonicalize(now)]);
        },
      ),
      { numRuns: cases(1_000) },
    );
  });

  test('and it changes nothing: even a readonly schema does not freeze the state', () => {
    const strict = strictSchema(
      z.object({ x: z.any().readonly(), y: z.array(z.unknown().readonly()).readonly() }),
      'state',
    );
    const state = { x: { n: 1 }, y: [{ n: 1 }] };
    const draft = new Draft(state, undefined);
    draft.within(EVERYTHING, (s: any) => {
      s.x = { n: 2 };
      s.y[0] = { n: 3 };
    });
    expect(changesFault(strict, draft.state, changesOf(draft))).toBeUndefined();
    expect(stateFault(strict, draft.state)).toBeUndefined();
    expect([
      Object.isFrozen(state.x),
      Object.isFrozen(state.y),
      Object.isFrozen(state.y[0]),
    ]).toEqual([false, false, false]);
  });

  test('a change checks fields named __proto__, although zod skips them', () => {
    const strict = strictSchema(z.object({ r: z.record(z.string(), z.number()) }), 'state');
    const put = (value: Value) => (draft: any) => {
      draft.r[PROTO] = value;
    };
    const wrong = faultsOf(strict, { r: {} }, put('text'));
    expect([wrong.faults, strict.safeParse(wrong.now).success]).toEqual([1, true]);
    expect(faultsOf(strict, { r: {} }, put(1)).faults).toBe(0);
  });
});
