import { expect, test } from 'vitest';
import { errorOf } from '../../tests/support/process/errors.ts';
import { LIBRARY } from '../../tests/support/process/guide-files.ts';
import { OntologyError } from './errors.ts';
import { entitiesOf } from './ontology.ts';
import { parse } from './parse.ts';

test('the parsed ontology has plain values in the order of the file', () => {
  const library = parse(LIBRARY);
  expect(library).toMatchObject({
    iri: 'urn:assize:domain:library',
    domain: 'library',
    title: 'A library',
  });
  expect(library.continuants.map(({ term, primary }) => [term, primary])).toEqual([
    [':Member', true],
    [':Library', false],
  ]);
  expect(library.components.map(({ term, paths }) => [term, ...paths])).toEqual([
    [':Titles', '/titles'],
    [':Funds', '/funds'],
    [':Limit', '/limits/{member}'],
    [':Standing', '/standing/{member}'],
    [':Loans', '/loans/{member}'],
  ]);
  expect(library.processes.find(({ process }) => process === 'lending')).toMatchObject({
    term: ':Lend',
    line: LIBRARY.split('\n').findIndex((line) => line.startsWith(':Lend ')) + 1,
    participants: [':Member'],
    reads: [':Titles', ':Limit'],
    writes: [':Loans'],
    after: [':Admit'],
    preconditions: [':IN_THE_CATALOGUE'],
    described: ['process'],
    parents: ['obo:BFO_0000015'],
  });
  expect(library.rules.map(({ rule, order }) => [rule, order])).toEqual([
    ['WITHIN_LIMIT', 1],
    ['LENT_ONCE', 2],
    ['IN_THE_CATALOGUE', 3],
    ['GOOD_STANDING', 4],
    ['WITHIN_FUNDS', 5],
    ['LONG_LOANS', 6],
  ]);
  expect(library.rules.at(-1)).toMatchObject({
    onFailure: 'escalate',
    counselor: 'librarian',
    source: 'library.md',
  });
  expect(JSON.parse(JSON.stringify(library))).toEqual(library);
});

test('the line of a term is its description, even if it is named earlier', () => {
  const lineOf = (term: string): number =>
    LIBRARY.split('\n').findIndex((line) => line.startsWith(`${term} `)) + 1;
  expect(LIBRARY.indexOf(':IN_THE_CATALOGUE')).toBeLessThan(LIBRARY.indexOf('\n:IN_THE_CATALOGUE'));
  for (const { term, line } of entitiesOf(parse(LIBRARY)))
    expect([term, line]).toEqual([term, lineOf(term)]);
});

test('rules stand in the order that they give themselves', () => {
  const turned = LIBRARY.replace('a:order 1 ', 'a:order 99 ');
  expect(
    parse(turned)
      .rules.map(({ rule }) => rule)
      .at(-1),
  ).toBe('WITHIN_LIMIT');
});

const WRONG: readonly (readonly [string, string, string, string, RegExp])[] = [
  [
    'a line that is not Turtle',
    'a:order 2 ;',
    'a:order 2 ,;',
    'bad_turtle',
    /not Turtle on line 107: .*Fix/,
  ],
  [
    'an unknown prefix',
    'dct:source "library.md" ;',
    'dc:source "library.md" ;',
    'bad_turtle',
    /line 12/,
  ],
  [
    'a word that is misspelled',
    'a:refersTo :Loans, :Titles',
    'a:refersto :Loans, :Titles',
    'unknown_term',
    /Line \d+ has a:refersto.* Did you mean a:refersTo\?/,
  ],
  [
    'a mark that is misspelled',
    'obo:BFO_0000023, a:WorkerRole ;\n    a:role "Desk"',
    'obo:BFO_0000023, a:WorkRole ;\n    a:role "Desk"',
    'unknown_term',
    /Did you mean a:WorkerRole\?/,
  ],
  ['no header', 'a owl:Ontology ;', 'a owl:Class ;', 'no_ontology', /Start with/],
  ['no domain', 'a:domain "library"', 'dct:creator "nobody"', 'no_ontology', /Add a:domain/],
  [
    'two headers',
    ':Library a owl:Class ;',
    ':Library a owl:Ontology ;',
    'no_ontology',
    /2 ontologies/,
  ],
  [
    'a text for a term',
    'a:refersTo :Funds',
    'a:refersTo "Funds"',
    'bad_value',
    /Line 126, :WITHIN_FUNDS: a:refersTo takes a term/,
  ],
  [
    'a term for a text',
    'a:process "buying"',
    'a:process :buying',
    'bad_value',
    /:Buy: a:process takes a string/,
  ],
  [
    'an order that is not a number',
    'a:order 4 ',
    'a:order "fourth" ',
    'bad_value',
    /:GOOD_STANDING: a:order takes a whole number/,
  ],
  [
    'two ids',
    'a:rule "LENT_ONCE"',
    'a:rule "LENT_ONCE", "LENT_TWICE"',
    'bad_value',
    /a:rule occurs 2 times/,
  ],
  [
    'a list that would not be read',
    'a:reads :Titles, :Limit',
    'a:reads ( :Titles :Limit )',
    'bad_value',
    /Line 67, :Lend: a:reads takes named terms.* commas/,
  ],
  [
    'a relation to something without a name',
    'obo:RO_0000057 :Library ;',
    'obo:RO_0000057 [ rdfs:label "library" ] ;',
    'bad_value',
    /:Buy: obo:RO_0000057 takes named terms/,
  ],
  [
    'a process without a name',
    '\n:KEEP_RECORD a',
    '\n[] a:process "closing" ; a:reads :Funds .\n:KEEP_RECORD a',
    'bad_value',
    /^A blank node has a:process\. Write :Name/,
  ],
  [
    'a word of ours in the namespace of the domain',
    'a:reads :Titles, :Limit',
    ':reads :Titles, :Limit',
    'unknown_term',
    /Line 69 has :reads.* Did you mean a:reads\?/,
  ],
  [
    'a role that reads, as only a process does',
    'a:role "Desk" ;',
    'a:role "Desk" ; a:reads :Funds ;',
    'bad_value',
    /:DeskRole: a:reads is for a process, and this is a worker role\./,
  ],
  [
    'a rule whose id is forgotten',
    'a:rule "WITHIN_FUNDS" ;',
    'obo:IAO_0000136 :Funds ;',
    'bad_value',
    /:WITHIN_FUNDS: a:refersTo is for a rule, and this is none.* a:rule/,
  ],
];

test.each(WRONG)(
  '%s is refused with its location and the remedy',
  (_, before, after, code, says) => {
    expect(LIBRARY).toContain(before);
    const error = errorOf(() => parse(LIBRARY.replace(before, after)));
    expect(error).toBeInstanceOf(OntologyError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(says) });
  },
);

test('prefixes may be written as in SPARQL: lines are known all the same', () => {
  const sparql = LIBRARY.replace(/@prefix ([^<]*<[^>]*>) \./g, 'PREFIX $1');
  expect(sparql).not.toContain('@prefix');
  expect(parse(sparql)).toEqual(parse(LIBRARY));
});

test('a class may be of a kind that is called a property', () => {
  const taxed = LIBRARY.replace(':Funds a owl:Class ;', ':Funds a owl:Class, :PublicProperty ;');
  expect(parse(taxed)).toEqual(parse(LIBRARY));
  const declared = LIBRARY.replace(
    ':KEEP_RECORD a',
    ':owns a owl:ObjectProperty .\n:KEEP_RECORD a',
  );
  expect(entitiesOf(parse(declared)).map(({ term }) => term)).not.toContain(':owns');
});
