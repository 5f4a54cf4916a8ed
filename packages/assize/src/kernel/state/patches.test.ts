import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import { canonicalize, parsePointer } from '#canon';
import { applyPatches, fresh, type Patch } from '#ledger';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  type Container,
  clone,
  isContainer,
  jsonState,
} from '../../../../../tests/support/models/json.ts';
import {
  type Mutation,
  program,
  runOnDraft,
  runOnModel,
} from '../../../../../tests/support/models/mutations.ts';
import { defineDomain } from '../domain/define-domain.ts';
import type { Domain } from '../domain/domain.ts';
import { ANY, EVERYTHING, type Pattern, type PatternSegment } from '../domain/footprint.ts';
import { sensitive, sensitiveScope } from '../domain/sensitive.ts';
import { changesOf } from './changes.ts';
import { Draft } from './draft.ts';
import { type PatchOperation, partedState, patchesOf, plainPatches } from './patches.ts';

const segment: fc.Arbitrary<PatternSegment> = fc.oneof(
  fc.constant(ANY),
  // No index: a sensitive part of a list applies to all its elements.
  fc.constantFrom('a', 'b', 'c', '__proto__', 'length', '', 'a/b'),
);
const places: fc.Arbitrary<Pattern[]> = fc.array(
  fc.record({
    segments: fc.array(segment, { minLength: 1, maxLength: 3 }),
    append: fc.constant(false),
  }),
  { minLength: 1, maxLength: 3 },
);

function domainWith(patterns: readonly Pattern[]): Domain {
  return { sensitive: sensitiveScope(patterns) } as Domain;
}

/** Whether a place is sensitive itself, or lies in a sensitive value. */
function isHidden(patterns: readonly Pattern[], keys: readonly string[]): boolean {
  return patterns.some(
    ({ segments }) =>
      segments.length <= keys.length &&
      segments.every((wanted, i) => wanted === ANY || wanted === keys[i]),
  );
}

/** The sensitive places in a value at a path. */
function hiddenIn(patterns: readonly Pattern[], keys: readonly string[], value: unknown): string[] {
  if (isHidden(patterns, keys)) return [keys.join('/')];
  if (!isContainer(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => hiddenIn(patterns, [...keys, key], part));
}

function expectHidden(patterns: readonly Pattern[], patches: readonly PatchOperation[]): void {
  for (const patch of patches) {
    const keys = parsePointer(patch.path);
    if (patch.op === 'remove') continue;
    if (patch.sensitive !== true) expect(hiddenIn(patterns, keys, patch.value)).toEqual([]);
    // The whole value, and nothing else.
    else
      expect([isHidden(patterns, keys), isHidden(patterns, keys.slice(0, -1))]).toEqual([
        true,
        false,
      ]);
  }
}

function folded(state: Container, patches: readonly PatchOperation[]): string {
  const fold = fresh(clone(state) as Json);
  applyPatches(fold, clone(patches) as Patch[]);
  return canonicalize(fold.state);
}

function resultOf(state: Container, statements: readonly Mutation[]): Container {
  const model = clone(state);
  runOnModel(model, statements);
  fc.pre(canonicalize(model, { bytesMax: 2 ** 30 }).length < 100_000);
  return model;
}

test('operations yield the state; plain ones hide sensitive data (property)', () => {
  fc.assert(
    fc.property(places, jsonState, program, (patterns, state, statements) => {
      const expected = canonicalize(resultOf(state, statements));
      const draft = new Draft(clone(state), undefined);
      draft.within(EVERYTHING, (live) => runOnDraft(live as Container, statements));
      const patches = patchesOf(domainWith(patterns), draft.state, changesOf(draft));
      expectHidden(patterns, patches);
      expect(folded(state, patches)).toBe(expected);
    }),
    { numRuns: cases(4_000) },
  );
});

test('a split state rejoins; its plain part hides sensitive data (property)', () => {
  fc.assert(
    fc.property(places, jsonState, (patterns, state) => {
      const parted = partedState(domainWith(patterns), clone(state));
      expect(hiddenIn(patterns, [], parted.plain)).toEqual([]);
      expectHidden(patterns, parted.sensitive);
      expect(
        parted.sensitive.every((patch) => patch.op === 'add' && patch.sensitive === true),
      ).toBe(true);
      expect(folded(parted.plain as Container, parted.sensitive)).toBe(canonicalize(state));
    }),
    { numRuns: cases(2_000) },
  );
});

test('without sensitive places they are the plain operations', () => {
  fc.assert(
    fc.property(jsonState, program, (state, statements) => {
      resultOf(state, statements);
      const draft = new Draft(clone(state), undefined);
      draft.within(EVERYTHING, (live) => runOnDraft(live as Container, statements));
      const changes = changesOf(draft);
      expect(patchesOf({ sensitive: undefined } as Domain, draft.state, changes)).toEqual(
        plainPatches(changes),
      );
      expect(partedState({ sensitive: undefined } as Domain, clone(state))).toEqual({
        plain: state,
        sensitive: [],
      });
    }),
    { numRuns: cases(300) },
  );
});

describe('of a domain', () => {
  const ward = defineDomain({
    name: 'ward',
    version: '1',
    state: z.object({
      patients: z.record(
        z.string(),
        z.object({
          name: sensitive(z.string()),
          age: z.number(),
          notes: z.array(sensitive(z.object({ text: z.string() }))),
        }),
      ),
    }),
    processes: {},
    roles: {},
    actions: {},
    invariants: () => [],
  }) as unknown as Domain;
  const start = { patients: { p: { name: 'Ann', age: 1, notes: [{ text: 'a' }, { text: 'b' }] } } };

  function patchesFor(change: (state: any) => void, from: unknown = start): PatchOperation[] {
    const draft = new Draft(clone(from) as Container, undefined);
    draft.within(EVERYTHING, change);
    return clone(patchesOf(ward, draft.state, changesOf(draft)));
  }

  test('a value and its sensitive part are written separately', () => {
    const added = patchesFor((state) => {
      state.patients.q = { name: 'Bob', age: 2, notes: [{ text: 'x' }] };
    });
    expect(added).toEqual([
      { op: 'add', path: '/patients/q', value: { age: 2, notes: [] } },
      { op: 'add', path: '/patients/q/name', value: 'Bob', sensitive: true },
      { op: 'add', path: '/patients/q/notes/0', value: { text: 'x' }, sensitive: true },
    ]);
  });

  test('is the same for any key order, of a change and of a whole state', () => {
    const one = { age: 2, name: 'Bob', notes: [{ text: 'x' }] };
    const other = { notes: [{ text: 'x' }], name: 'Bob', age: 2 };
    const [first, second] = [one, other].map((patient) =>
      patchesFor((state) => {
        state.patients.q = patient;
      }),
    );
    expect(second).toEqual(first);
    const parted = [one, other].map((q) => partedState(ward, { patients: { q } }));
    expect(JSON.stringify(parted[1])).toBe(JSON.stringify(parted[0]));
  });

  test('a change inside something sensitive writes all of it again, once', () => {
    const domain = domainWith([{ segments: ['deep'], append: false }]);
    const draft = new Draft({ deep: { a: 1, b: [1] }, age: 1 }, undefined);
    draft.within(EVERYTHING, (state: any) => {
      state.deep.a = 2;
      state.deep.b.push(2);
      state.age = 2;
    });
    expect(patchesOf(domain, draft.state, changesOf(draft))).toEqual([
      { op: 'replace', path: '/age', value: 2 },
      { op: 'replace', path: '/deep', value: { a: 2, b: [1, 2] }, sensitive: true },
    ]);
  });

  test('removed and erased values need no hiding', () => {
    const erased = { $erased: 'a'.repeat(64) };
    const gone = patchesFor((state) => {
      state.patients.p.name = erased;
      state.patients.p.notes.pop();
    });
    expect(gone).toEqual([
      { op: 'replace', path: '/patients/p/name', value: erased },
      { op: 'remove', path: '/patients/p/notes/1' },
    ]);
  });

  test('a list that shifts writes its elements at their new places', () => {
    expect(patchesFor((state) => state.patients.p.notes.shift())).toEqual([
      { op: 'replace', path: '/patients/p/notes/0', value: { text: 'b' }, sensitive: true },
      { op: 'remove', path: '/patients/p/notes/1' },
    ]);
  });
});
