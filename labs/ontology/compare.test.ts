import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { budget } from '@assize/cli/unstable/domains/budget';
import { udt } from '@assize/cli/unstable/domains/udt';
import { defineDomain } from 'assize/internal/kernel';
import { expect, test } from 'vitest';
import { domainFolder } from '../../tests/support/process/domain-folders.ts';
import { compare } from './compare.ts';
import { parse } from './parse.ts';

const text = (name: string): string =>
  readFileSync(join(domainFolder(name), 'ontology.ttl'), 'utf8');
const UDT = text('udt');

const EDITS: readonly (readonly [what: string, before: string, after: string, said: string])[] = [
  [
    'a process that reads more',
    'a:reads :Events ;',
    'a:reads :Events, :Claims ;',
    'process ordering: the ontology declares that it reads :Claims',
  ],
  [
    'a process that writes less',
    'a:writes :Claims, :Events ;',
    'a:writes :Claims ;',
    'process claiming: it writes /events/{patient}, which the ontology does not declare',
  ],
  [
    'another path',
    'a:path "/orders/{patient}"',
    'a:path "/orders/{who}"',
    'process ordering: it writes /orders/{patient}',
  ],
  [
    'another process',
    'a:process "tracking"',
    'a:process "following"',
    'process tracking: the ontology has no such process',
  ],
  ['another role', 'a:role "Billing"', 'a:role "Biller"', 'role Billing: it is not derived'],
  [
    'nothing that keeps two apart',
    'a:apartFrom :RecordTest ;',
    '',
    'role Clinical: it is not derived',
  ],
  [
    'another id',
    'a:rule "TIER_DERIVED"',
    'a:rule "TIER_IS_DERIVED"',
    'invariant TIER_DERIVED: the ontology has no such rule',
  ],
  [
    'another order',
    'a:order 3 ',
    'a:order 70 ',
    'invariant CLAIM_TIER_CURRENT: it is checked in another order',
  ],
  [
    'a rule that refers to more',
    'a:refersTo :Relapses ;',
    'a:refersTo :Relapses, :Orders ;',
    'invariant RELAPSE_RESPONSE_IS_HUMAN: it does not read :Orders',
  ],
  [
    'a rule that refers to less',
    'a:refersTo :Claims, :Coverage, :Tests ;',
    'a:refersTo :Claims, :Tests ;',
    'invariant DEFINITIVE_WINDOW: it reads :Coverage, to which the rule does not refer',
  ],
  [
    'a rule that asks nobody',
    'a:onFailure "escalate" ; a:counselor "md" ;',
    '',
    'invariant RELAPSE_RESPONSE_IS_HUMAN: it escalates to md; in the ontology to no counselor',
  ],
  [
    'a rule that asks another one',
    'a:counselor "md"',
    'a:counselor "nurse"',
    'in the ontology to nurse',
  ],
  [
    'the ontology of another domain',
    'a:domain "udt"',
    'a:domain "utd"',
    'name udt: the ontology describes utd',
  ],
];

test.each(EDITS)('%s is a difference, and named', (_, before, after, said) => {
  expect(UDT).toContain(before);
  const found = compare(parse(UDT.replace(before, after)), udt).map(
    ({ about, name, says }) => `${about} ${name}: ${says}`,
  );
  expect(found).toEqual(expect.arrayContaining([expect.stringContaining(said)]));
});

test('parts of the domain that the ontology lacks are named too', () => {
  const { declared } = budget;
  const more = defineDomain<any, any>({
    ...declared,
    processes: { ...declared.processes, saving: { writes: ['/spent'] } },
    roles: { ...declared.roles, saver: { processes: ['saving'] } },
  });
  expect(compare(parse(text('budget')), more)).toEqual([
    { about: 'process', name: 'saving', says: 'the ontology has no such process' },
    { about: 'role', name: 'saver', says: 'it is not derived' },
  ]);
});

test('a path that is read but is not a component is reported', () => {
  const without = text('budget').replace('a:path "/cap"', 'a:path "/limit"');
  expect(compare(parse(without), budget).map(({ says }) => says)).toEqual([
    'it does not read :Cap (/limit), to which the rule refers',
    'it reads /cap, which is not a component',
  ]);
});
