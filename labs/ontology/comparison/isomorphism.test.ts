/** Isomorphism of derived architectures: the statements of the seed, renaming, and differences. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../tests/support/process/errors.ts';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';
import { invariantsOf } from '../invariants.ts';
import type { Ontology } from '../ontology.ts';
import { parse } from '../parse.ts';
import { deriveRoles } from '../roles.ts';
import { isIsomorphism } from '../testing/naive-graphs.ts';
import { renamedOntology } from '../testing/renamed-ontology.ts';
import { shippedOntology } from '../testing/shipped-walks.ts';
import { diagramGraph, wiringGraph } from './architecture-graph.ts';
import type { Graph } from './graph.ts';
import { type ArchitectureLevel, isomorphism } from './isomorphism.ts';

const UDT = shippedOntology('udt');
const DISCLOSURE = shippedOntology('disclosure');
const VERIFICATION = shippedOntology('verification');
/** The roles that make records and assign work. No agent fills them. */
const DESKS = ['Intake', 'Staffing'];

describe('the statements of the seed (§3.2.1, §3.2.2)', () => {
  test('UDT and Disclosure differ in three and four proposing subagents', () => {
    expect(isomorphism(UDT, DISCLOSURE, { without: DESKS })).toEqual({
      ...{ level: 'diagram', isomorphic: false, mapping: [] },
      differences: ['3 proposing agents and 4'],
    });
    // The ontology of this repository also has the desks.
    expect(isomorphism(UDT, DISCLOSURE).differences).toEqual(['3 proposing agents and 6']);
  });

  test('Verification has the diagram of Disclosure with other labels', () => {
    const found = isomorphism(DISCLOSURE, VERIFICATION, { without: [...DESKS, 'Registry'] });
    expect(found).toMatchObject({ isomorphic: true, differences: [] });
    expect(found.mapping.filter(({ kind }) => kind === 'channel')).toEqual([
      { kind: 'channel', a: 'coordinator', b: 'expert' },
    ]);
    expect(found.mapping.filter(({ kind }) => kind === 'agent')).toHaveLength(4);
    expect(isomorphism(DISCLOSURE, VERIFICATION).differences).toEqual(['6 proposing agents and 5']);
  });

  test('the wirings differ', () => {
    const without = [...DESKS, 'Registry'];
    const differences = isomorphism(DISCLOSURE, VERIFICATION, {
      without,
      level: 'wiring',
    }).differences;
    expect(differences).toEqual(['10 processes and 7', '25 components and 11', '18 rules and 16']);
  });
});

const graphOf = (ontology: Ontology, level: ArchitectureLevel): Graph => {
  const derived = deriveRoles(ontology);
  const parts = { ontology, roles: derived.roles, invariants: invariantsOf(ontology, derived) };
  return level === 'diagram' ? diagramGraph(parts) : wiringGraph(parts);
};

describe.each([
  ['library', parse(LIBRARY)],
  ['udt', UDT],
  ['disclosure', DISCLOSURE],
  ['verification', VERIFICATION],
])('%s with all names permuted', (_name, ontology) => {
  test.each(['diagram', 'wiring'] as const)('is isomorphic, edge by edge: %s', (level) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), (salt) => {
        const other = renamedOntology(ontology, salt).ontology;
        const { isomorphic, mapping } = isomorphism(ontology, other, { level });
        const [a, b] = [graphOf(ontology, level), graphOf(other, level)];
        expect(isomorphic).toBe(true);
        expect(mapping.map(({ kind, a: name }) => ({ kind, name }))).toEqual(a.nodes);
        const places = mapping.map(({ kind, b: name }) =>
          b.nodes.findIndex((node) => node.kind === kind && node.name === name),
        );
        expect(isIsomorphism(a, b, places)).toBe(true);
      }),
      { numRuns: 10 },
    );
  });
});

describe('a planted difference is found', () => {
  const edited = (rule: string, refersTo: readonly string[]): Ontology => ({
    ...UDT,
    rules: UDT.rules.map((one) => (one.rule === rule ? { ...one, refersTo } : one)),
  });
  const against = (other: Ontology): readonly string[] =>
    isomorphism(UDT, renamedOntology(other, 3).ontology, { level: 'wiring' }).differences;

  test('a rule that refers to one component less', () => {
    expect(against(edited('CONFIRM_BY_DEFINITIVE', [':Orders']))).toEqual([
      '18 edges ‘refers to’ and 17',
    ]);
  });

  test('a rule that refers to another component', () => {
    expect(against(edited('ORDER_HAS_RATIONALE', [':Relapses']))).toEqual([
      expect.stringMatching(/^\d+ \w+ .*and \d+ .*with \d+ ‘/),
    ]);
  });

  test('a rule that asks another counselor', () => {
    const [first, ...rest] = DISCLOSURE.rules
      .filter(({ counselor }) => counselor !== '')
      .map(({ rule }) => rule);
    const other = {
      ...DISCLOSURE,
      rules: DISCLOSURE.rules.map((one) =>
        one.rule === first ? { ...one, counselor: 'lawyer' } : one,
      ),
    };
    expect(rest.length).toBeGreaterThan(0);
    expect(isomorphism(DISCLOSURE, other).differences).toEqual(['1 channel and 2']);
  });
});

describe('bad input', () => {
  test('a role of neither ontology is reported with the known roles', () => {
    expect(
      errorOf(() => isomorphism(UDT, DISCLOSURE, { without: ['Intake', 'Registry'] })),
    ).toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining(
        'names Registry, and no ontology has such a role. Name one of LabOrder,',
      ),
    });
  });

  test('an unsound ontology, an unknown level and an exceeded bound are refused', () => {
    const unsound = { ...UDT, processes: [] };
    expect(errorOf(() => isomorphism(UDT, unsound))).toMatchObject({ code: 'unsound' });
    expect(errorOf(() => isomorphism(UDT, UDT, { level: 'picture' as never }))).toMatchObject({
      code: 'bad_argument',
    });
    expect(errorOf(() => isomorphism(UDT, UDT, { stepsMax: 1 }))).toMatchObject({
      code: 'too_symmetric',
    });
  });
});
