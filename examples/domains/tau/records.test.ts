import { contentHash } from 'assize/internal/canon';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { differences, RecordTexts } from './records.ts';

type Loose = Record<'flights' | 'reservations' | 'users', Record<string, unknown>>;

// Ids that JavaScript orders otherwise than RFC 8785, or that every object seems to have.
const id = fc.oneof(
  fc.constantFrom('10', '9', '429815', 'constructor', '__proto__', 'é', '\u{1f600}', '\uffff'),
  fc.string(),
);
const record = fc.dictionary(
  fc.string(),
  fc.oneof(fc.integer(), fc.string(), fc.array(fc.double({ min: 0, max: 1, noNaN: true }))),
  {
    maxKeys: 3,
  },
);
const collection = fc.dictionary(id, record, { maxKeys: 6 });
const records = fc.record({ flights: collection, reservations: collection, users: collection });

/**
 * A change as a branch makes it: a new object on the path to the change, the same objects for
 * everything else.
 */
const change = fc.record({
  name: fc.constantFrom('flights' as const, 'reservations' as const, 'users' as const),
  id,
  to: fc.option(record, { nil: undefined }),
});

function changedBy(
  before: Loose,
  { name, id, to }: { name: keyof Loose; id: string; to: unknown },
): Loose {
  const kept = Object.entries(before[name]).filter(([key]) => key !== id);
  return { ...before, [name]: Object.fromEntries(to === undefined ? kept : [...kept, [id, to]]) };
}

describe('records that share most of an initial state', () => {
  test('have the content hash of the whole state after any change', () => {
    fc.assert(
      fc.property(records, fc.array(change, { maxLength: 6 }), (initial, changes) => {
        const texts = new RecordTexts(initial);
        let state: Loose = initial;
        for (const step of [undefined, ...changes]) {
          if (step !== undefined) state = changedBy(state, step);
          expect(texts.hash(state)).toBe(contentHash(state));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('a record changed in place between two calls is hashed with its new value', () => {
    const initial = { flights: {}, reservations: { A: { bags: 1 } }, users: {} };
    const texts = new RecordTexts(initial);
    const own = { bags: 2 };
    const state = { ...initial, reservations: { A: own } };
    expect(texts.hash(state)).toBe(contentHash(state));
    own.bags = 3;
    expect(texts.hash(state)).toBe(contentHash(state));
  });

  test('report changes by content: copies are skipped, a removed record is null', () => {
    const initial = {
      flights: {},
      reservations: { A: { x: 1 }, B: { x: 1 } },
      users: { u: { y: 1 } },
    };
    const texts = new RecordTexts(initial);
    const state = {
      flights: {},
      reservations: { A: { x: 1 }, C: { x: 2 } },
      users: { u: { y: 1 } },
    };
    expect(texts.changed(state)).toEqual({ reservations: { B: null, C: { x: 2 } } });
  });
});

describe('differences', () => {
  test('name every record that is not the expected one, on either side', () => {
    const expected = { reservations: { A: { x: 1 }, B: { x: 1 } } };
    const actual = { reservations: { A: { x: 1 }, B: { x: 2 } }, users: { constructor: { y: 1 } } };
    expect(differences(expected, actual)).toEqual([
      { collection: 'reservations', id: 'B', expected: { x: 1 }, actual: { x: 2 } },
      { collection: 'users', id: 'constructor', expected: null, actual: { y: 1 } },
    ]);
  });

  test('do not include a difference in the order of members only', () => {
    expect(differences({ users: { u: { a: 1, b: 2 } } }, { users: { u: { b: 2, a: 1 } } })).toEqual(
      [],
    );
  });
});
