import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import { ANYONE } from '../../../../../tests/support/models/permissive-authority.ts';
import { BUILT_IN_ROLE } from '../domain/built-in-role.ts';
import { defineDomain } from '../domain/define-domain.ts';
import type { Domain } from '../domain/domain.ts';
import { BELIEVE_ACTION } from '../domain/memory-shape.ts';
import { memoryScope, STATEMENT_TEXTS } from './beliefs.ts';
import { compile } from './compile.ts';
import type { Authority } from './compiled.ts';

const MEMORY = {
  predicates: {
    allergy: { cardinality: 'multi-valued', strategy: 'lww' },
    dose: { cardinality: 'single-valued', strategy: 'await', channel: 'doctor' },
  },
};

function clinic(more: object = {}, action: object = {}): Domain<any, any> {
  return defineDomain<any, any>({
    name: 'clinic',
    version: '1',
    state: z.object({ visits: z.number() }),
    processes: { visiting: { writes: ['/visits'] } },
    roles: { nurse: { processes: ['visiting'] } },
    actions: {
      visit: {
        process: 'visiting',
        args: z.object({ patient: z.string(), heard: z.string() }),
        apply: () => {},
        ...action,
      } as never,
    },
    invariants: [],
    counselors: { doctor: () => true },
    memory: MEMORY as never,
    ...more,
  });
}

const SAID = {
  verb: 'assert',
  space: 'ward',
  subject: 'patient:7',
  predicate: 'allergy',
  object: 'penicillin',
};
const believe = (sayings: unknown, authority: Partial<Authority> = {}, domain = clinic()) =>
  compile(
    domain,
    { action: BELIEVE_ACTION, role: BUILT_IN_ROLE, args: { sayings } as Json },
    { ...ANYONE, ...authority },
  );

describe('assize.believe', () => {
  test('compiles to its sayings, and asks the writ for each of them', () => {
    const asked: (readonly string[])[] = [];
    const admits: Authority['admits'] = ({ scopes }) => {
      asked.push(scopes);
      return { ok: true, needsApproval: false };
    };
    expect(believe([SAID], { admits })).toMatchObject({ name: BELIEVE_ACTION, statements: [SAID] });
    expect(asked).toContainEqual(['memory:ward:patient~3a7:allergy']);
    expect(memoryScope({ space: 'a:b', subject: '*', predicate: '/' })).toBe(
      'memory:a~3ab:~2a:~2f',
    );
  });

  test('does not reveal the subject if the writ does not cover it', () => {
    const admits: Authority['admits'] = ({ scopes }) =>
      scopes.length === 0
        ? { ok: true, needsApproval: false }
        : { ok: false, detail: scopes.join() };
    const refusal = believe([SAID], { admits });
    expect(refusal).toMatchObject({ reason: 'invalid_authority' });
    expect(JSON.stringify(refusal)).not.toContain('patient');
  });

  test.each([
    ['no sayings', []],
    ['a verb that there is not', [{ ...SAID, verb: 'guess' }]],
    ['a confidence above 1', [{ ...SAID, confidence: 1.5 }]],
    ['an empty subject', [{ ...SAID, subject: '' }]],
    ['U+0000', [{ ...SAID, object: 'a\0b' }]],
    ['a subject that is not composed', [{ ...SAID, subject: 'e\u0301' }]],
    ['a strategy that there is not', [{ ...SAID, strategy: 'newest' }]],
    ['a member that there is not', [{ ...SAID, believe: true }]],
    ['a retraction without its period', [{ ...SAID, verb: 'retract' }]],
    ['more than a thousand', Array.from({ length: 1_001 }, () => SAID)],
  ])('refuses %s', (_, sayings) => {
    expect(believe(sayings)).toMatchObject({ reason: 'type_mismatch' });
  });

  test('refuses a predicate that the domain does not declare, by name', () => {
    expect(believe([{ ...SAID, predicate: 'mood' }])).toMatchObject({
      reason: 'precondition_failed',
      detail: expect.stringMatching(/^unknown_predicate: .*"mood"/),
    });
  });

  test('accepts predicates with a description for people', () => {
    const meaning = (description: string): Domain<any, any> =>
      clinic({
        memory: {
          predicates: {
            ...MEMORY.predicates,
            allergy: { ...MEMORY.predicates.allergy, description },
          },
        },
      });
    expect(meaning('What must not be given.').hash).toBe(clinic().hash);
    expect(believe([SAID], {}, meaning('What must not be given.'))).toMatchObject({
      statements: [SAID],
    });
    for (const wrong of ['', 'x'.repeat(2_001)])
      expect(() => meaning(wrong)).toThrow(/description/);
  });

  test('is there only where the domain declares a memory', () => {
    expect(believe([SAID], {}, clinic({ memory: undefined }))).toMatchObject({
      reason: 'unknown_tool',
    });
  });
});

describe('an action with beliefs', () => {
  const says = (beliefs: unknown): object => ({
    beliefs: (args: { heard: string }) => (typeof beliefs === 'function' ? beliefs(args) : beliefs),
  });
  const visit = (action: object) =>
    compile(
      clinic({}, action),
      {
        action: 'visit',
        role: { name: 'nurse', params: {} },
        args: { patient: 'patient:7', heard: 'rash' },
      },
      ANYONE,
    );

  test('says them beside its own scopes', () => {
    const said = (args: { heard: string }): unknown => [{ ...SAID, object: args.heard }];
    expect(visit(says(said))).toMatchObject({ statements: [{ ...SAID, object: 'rash' }] });
    expect(visit({})).toMatchObject({ statements: [] });
  });

  test('is refused if they are invalid', () => {
    const thrown = (): never => {
      throw new Error('no idea');
    };
    for (const beliefs of ['rash', [{ verb: 'assert' }], thrown, async () => []])
      expect(visit(says(beliefs))).toMatchObject({ reason: 'precondition_failed' });
  });

  test('has its arguments kept so that they can be erased', () => {
    expect([...clinic({}, says([])).sensitiveArgs].sort()).toEqual([BELIEVE_ACTION, 'visit']);
    expect([...clinic({ memory: undefined }).sensitiveArgs]).toEqual([]);
  });
});

test('an overlong name is refused for its length, before a slow normalization', () => {
  const composed = vi.spyOn(String.prototype, 'normalize');
  onTestFinished(() => composed.mockRestore());
  const long = '\u0315\u0300'.repeat(2_000);
  for (const member of ['space', 'subject', 'predicate'])
    expect(believe([{ ...SAID, [member]: long }])).toMatchObject({ reason: 'type_mismatch' });
  expect(STATEMENT_TEXTS.name.safeParse(long).error?.issues).toMatchObject([{ code: 'too_big' }]);
  expect(composed.mock.contexts.filter((text) => String(text).length > 512)).toEqual([]);
});

describe('a domain', () => {
  test('is refused for beliefs without memory, an unknown strategy or channel', () => {
    expect(() => clinic({ memory: undefined }, { beliefs: () => [] })).toThrow(
      /declares no memory/,
    );
    const strategy = { predicates: { a: { cardinality: 'single-valued', strategy: 'newest' } } };
    expect(() => clinic({ memory: strategy })).toThrow(/memory/);
    const channel = {
      predicates: { a: { cardinality: 'single-valued', strategy: 'await', channel: 'nobody' } },
    };
    expect(() => clinic({ memory: channel })).toThrow(/nobody/);
  });

  test('is another one with another memory, and the same as ever without', () => {
    const other = {
      predicates: { ...MEMORY.predicates, dose: { cardinality: 'single-valued', strategy: 'evi' } },
    };
    expect(
      new Set(
        [clinic(), clinic({ memory: other }), clinic({ memory: undefined })].map(
          ({ hash }) => hash,
        ),
      ).size,
    ).toBe(3);
  });
});
