import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LIBRARY } from '../../tests/support/process/guide-files.ts';
import { deriveInvariants } from './invariants.ts';
import { parse } from './parse.ts';
import { deriveRoles } from './roles.ts';

const UDT = readFileSync(
  join(import.meta.dirname, '../../packages/cli/src/domains/udt/ontology.ttl'),
  'utf8',
);
const groups = (text: string, threshold?: number): string[] =>
  deriveRoles(parse(text), threshold === undefined ? {} : { threshold }).roles.map(
    ({ processes }) => processes.join(' '),
  );

test('the derived roles are those of Table 1 of the paper, with their slices', () => {
  const { roles, clustering, disagreements } = deriveRoles(parse(UDT));
  expect(roles.map(({ name, params, sees }) => [name, params, [...sees].sort()])).toEqual([
    ['LabOrder', ['patient'], ['/events/{patient}', '/orders/{patient}']],
    ['Billing', ['patient'], ['/claims/{patient}', '/events/{patient}']],
    [
      'Clinical',
      ['patient'],
      [
        '/events/{patient}',
        '/orders/{patient}',
        ...[
          'as_of',
          'consecutive_days',
          'enrolled_at',
          'last_positive',
          'program_phase',
          'tier',
        ].map((field) => `/patients/{patient}/${field}`),
        '/relapses/{patient}',
        '/tests/{patient}',
      ],
    ],
  ]);
  expect(disagreements).toEqual([]);
  expect(clustering.keptSeparate.map(({ overlap }) => overlap?.toFixed(2))).toEqual(['0.28']);
  expect(clustering.next?.overlap?.toFixed(2)).toBe('0.21');
});

test('without its separation policy ordering joins testing; names mismatch', () => {
  const text = UDT.replace('a:apartFrom :RecordTest ;', '');
  expect(groups(text)).toHaveLength(2);
  expect(deriveRoles(parse(text)).disagreements).toEqual([
    expect.stringMatching(/^:LabOrderRole and :ClinicalRole are realized in one group: /),
  ]);
});

test('threshold 0 merges all mergeable processes; above 1 each gets its role', () => {
  const [all = '', ...others] = groups(LIBRARY, 0);
  expect([all.split(' ').sort(), others]).toEqual([
    ['admission', 'buying', 'lending', 'returning'],
    [],
  ]);
  expect(groups(LIBRARY, 1.1).sort()).toEqual(['admission', 'buying', 'lending', 'returning']);
  expect(groups(LIBRARY).sort()).toEqual(['admission', 'buying', 'lending returning']);
});

test('a policy merges processes that hardly overlap', () => {
  const text = LIBRARY.replace('a:after :Lend ;', 'a:after :Lend ; a:togetherWith :Buy ;').replace(
    '\n:KEEP_RECORD a',
    '\n:WHY rdfs:subClassOf obo:IAO_0000033 ; obo:IAO_0000136 :Buy, :GiveBack ; rdfs:label "x" ; skos:definition "x" .\n:KEEP_RECORD a',
  );
  expect(groups(text)).toContainEqual(expect.stringMatching(/buying.*returning/));
});

test('a role of the continuant is a field, and no agent', () => {
  const { roles, continuantRoles } = deriveRoles(parse(LIBRARY));
  expect(continuantRoles).toEqual([
    { term: ':Standing', label: 'standing', paths: ['/standing/{member}'] },
  ]);
  expect(roles.map(({ name }) => name)).toEqual(['Desk', 'Office', 'Buyer']);
});

test('a component is touched with the one that it is inside of', () => {
  const inside = LIBRARY.replace('a:path "/funds"', 'a:path "/titles/*/price"');
  const rule = deriveInvariants(parse(inside)).find(({ id }) => id === 'WITHIN_FUNDS');
  expect(rule).toMatchObject({ localTo: ['Desk', 'Buyer'], crossCutting: false });
});

test('a rule in one footprint is local, in none cross-cutting; overlaps differ', () => {
  const by = new Map(deriveInvariants(parse(LIBRARY)).map((one) => [one.id, one]));
  expect(by.get('WITHIN_LIMIT')).toMatchObject({
    localTo: ['Desk'],
    crossCutting: false,
    meets: ['Desk', 'Office'],
  });
  expect(by.get('GOOD_STANDING')).toMatchObject({
    localTo: [],
    crossCutting: true,
    meets: ['Desk', 'Office'],
  });
  expect(by.get('IN_THE_CATALOGUE')).toMatchObject({
    from: 'precondition',
    gates: ['lending'],
    reads: ['/loans/*', '/titles'],
  });
  expect(by.get('LONG_LOANS')).toMatchObject({
    from: 'policy',
    onFailure: 'escalate',
    counselor: 'librarian',
  });
});

test('a rule that joins participants is not local to a role that sees one', () => {
  const rule = (text: string, id: string) =>
    deriveInvariants(parse(text)).find((one) => one.id === id);
  // The desk sees the loans of one member: whether a book is lent to another, it cannot see.
  expect(rule(LIBRARY, 'LENT_ONCE')).toMatchObject({
    forEach: [],
    localTo: [],
    crossCutting: true,
    meets: ['Desk'],
    meetsTwice: ['Desk'],
  });
  const each = LIBRARY.replace(
    'a:order 2 ; a:refersTo :Loans ;',
    'a:order 2 ; a:refersTo :Loans ; a:forEach "member" ;',
  );
  expect(rule(each, 'LENT_ONCE')).toMatchObject({
    forEach: ['member'],
    localTo: ['Desk'],
    meetsTwice: [],
  });
  const all = LIBRARY.replaceAll('/loans/{member}', '/loans');
  expect(rule(all, 'LENT_ONCE')).toMatchObject({ localTo: ['Desk'], crossCutting: false });
  // Another name of the parameter is another parameter.
  const other = each.replace('/loans/{member}"', '/loans/{reader}"');
  expect(rule(other, 'LENT_ONCE')).toMatchObject({ localTo: [], crossCutting: true });
});

test('consecutive days, tier and program phase stand apart (A.2, A.4)', () => {
  const ontology = parse(UDT);
  const pathOf = (term: string) => ontology.components.find((one) => one.term === term)?.paths;
  expect([':ConsecutiveDays', ':Tier', ':ProgramPhase'].map(pathOf)).toEqual([
    ['/patients/{patient}/consecutive_days'],
    ['/patients/{patient}/tier'],
    ['/patients/{patient}/program_phase'],
  ]);
  expect(deriveRoles(ontology).continuantRoles.map(({ term }) => term)).toEqual([':ProgramPhase']);
  const writers = ontology.processes.filter(({ writes }) => writes.includes(':ProgramPhase'));
  expect(writers.map(({ process }) => process)).toEqual(['enrolment']);
});
