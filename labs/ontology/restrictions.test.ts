/** Restrictions of OWL and classes of BFO, as other editors write them. */
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../tests/support/process/errors.ts';
import { LIBRARY } from '../../tests/support/process/guide-files.ts';
import { check } from './check.ts';
import { fingerprint } from './fingerprint.ts';
import { parse } from './parse.ts';
import { deriveRoles } from './roles.ts';

type Edit = readonly [before: string, after: string];

const edited = (...edits: Edit[]): string =>
  edits.reduce((text, [before, after]) => {
    expect(text).toContain(before);
    return text.replace(before, after);
  }, LIBRARY);

const restriction = (on: string, rest: string): string =>
  `[ a owl:Restriction ; owl:onProperty ${on} ; ${rest} ]`;
const FUNDS = 'rdfs:subClassOf obo:BFO_0000019 ; obo:RO_0000052 :Library ;';
/** The class of the funds, with what is said of its bearer instead of the plain relation. */
const fundsWith = (...expressions: string[]): Edit => [
  FUNDS,
  `rdfs:subClassOf obo:BFO_0000019, ${expressions.join(', ')} ;`,
];
const INHERES = 'obo:RO_0000052';
const BUY = 'rdfs:subClassOf obo:BFO_0000015 ; obo:RO_0000057 :Library ;';

/** The library without the lines, because an edit can move them. */
function withoutLines(text: string): unknown {
  return JSON.parse(
    JSON.stringify(parse(text), (key, value: unknown) => (key === 'line' ? undefined : value)),
  );
}

describe('a restriction is the relation that it requires', () => {
  const equal: readonly (readonly [says: string, edit: Edit])[] = [
    ['some values', fundsWith(restriction(INHERES, 'owl:someValuesFrom :Library'))],
    ['a value', fundsWith(restriction(INHERES, 'owl:hasValue :Library'))],
    [
      'at least one',
      fundsWith(restriction(INHERES, 'owl:minQualifiedCardinality 1 ; owl:onClass :Library')),
    ],
    [
      'some, and only such',
      fundsWith(
        restriction(INHERES, 'owl:someValuesFrom :Library'),
        restriction(INHERES, 'owl:allValuesFrom obo:BFO_0000040'),
      ),
    ],
    [
      'an intersection, as an equivalent class',
      [
        FUNDS,
        `owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( obo:BFO_0000019 ${restriction(INHERES, 'owl:someValuesFrom :Library')} ) ] ;`,
      ],
    ],
    [
      'participants of a process',
      [
        BUY,
        `rdfs:subClassOf obo:BFO_0000015, ${restriction('obo:RO_0000057', 'owl:someValuesFrom :Library')} ;`,
      ],
    ],
    [
      'components that a process writes',
      [
        'a:writes :Titles, :Funds ;',
        `a:writes :Titles ; rdfs:subClassOf ${restriction('a:writes', 'owl:someValuesFrom :Funds')} ;`,
      ],
    ],
  ];

  test.each(equal)('%s', (_, edit) => {
    expect(withoutLines(edited(edit))).toEqual(withoutLines(LIBRARY));
    expect(check(parse(edited(edit)))).toEqual([]);
  });

  test('an exact number is read as some, and check says so', () => {
    const ontology = parse(
      edited(fundsWith(restriction(INHERES, 'owl:qualifiedCardinality 1 ; owl:onClass :Library'))),
    );
    expect(ontology.components.find(({ term }) => term === ':Funds')?.inheresIn).toEqual([
      ':Library',
    ]);
    expect(check(ontology)).toMatchObject([
      {
        severity: 'warning',
        code: 'unread',
        term: ':Funds',
        says: expect.stringContaining('owl:qualifiedCardinality 1'),
      },
    ]);
    expect(deriveRoles(ontology).roles).toHaveLength(3);
  });

  const unread: readonly (readonly [says: string, edit: Edit])[] = [
    [
      'another property',
      [
        FUNDS,
        `${FUNDS} rdfs:subClassOf ${restriction(':partOf', 'owl:someValuesFrom :Library')} ;`,
      ],
    ],
    ['disjoint classes', [FUNDS, `${FUNDS} owl:disjointWith :Titles ;`]],
    [
      'an expression below a class',
      [
        '\n:KEEP_RECORD a',
        `\n${restriction(INHERES, 'owl:someValuesFrom :Library')} rdfs:subClassOf :Funds .\n:KEEP_RECORD a`,
      ],
    ],
  ];

  test.each(unread)('%s: not read, and named by check', (_, edit) => {
    expect(check(parse(edited(edit)))).toMatchObject([
      { severity: 'warning', code: 'unread', term: ':Funds' },
    ]);
  });
});

describe('an expression that cannot be used is refused by name', () => {
  const refused: readonly (readonly [says: string, expression: string, message: RegExp])[] = [
    [
      'only',
      restriction(INHERES, 'owl:allValuesFrom :Library'),
      /owl:allValuesFrom on obo:RO_0000052/,
    ],
    [
      'a greatest number',
      restriction(INHERES, 'owl:maxCardinality 1'),
      /owl:maxCardinality on obo:RO_0000052/,
    ],
    [
      'a number of anything',
      restriction(INHERES, 'owl:cardinality 1'),
      /owl:cardinality on obo:RO_0000052/,
    ],
    [
      'none',
      restriction(INHERES, 'owl:qualifiedCardinality 0 ; owl:onClass :Library'),
      /owl:qualifiedCardinality 0/,
    ],
    [
      'one of two classes',
      '[ a owl:Class ; owl:unionOf ( :Library :Member ) ]',
      /owl:unionOf cannot be used/,
    ],
    [
      'another class',
      '[ a owl:Class ; owl:complementOf :Member ]',
      /owl:complementOf cannot be used/,
    ],
    ['a class without a name', '[ rdfs:label "x" ]', /not a restriction/],
    [
      'a value without a name',
      restriction(INHERES, 'owl:someValuesFrom [ owl:unionOf ( :Library :Member ) ]'),
      /obo:RO_0000052 has a class without a name/,
    ],
    [
      'an inverse',
      restriction('[ owl:inverseOf :bears ]', 'owl:someValuesFrom :Library'),
      /owl:onProperty/,
    ],
    [
      'a text of ours',
      restriction('a:path', 'owl:hasValue "/funds"'),
      /a:path cannot be restricted/,
    ],
    ['nothing', restriction(INHERES, 'rdfs:label "x"'), /no owl:someValuesFrom/],
  ];

  test.each(refused)('%s', (_, expression, message) => {
    const error = errorOf(() => parse(edited(fundsWith(expression))));
    expect(error).toMatchObject({ code: 'bad_value', evidence: { term: ':Funds' } });
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
  });

  test('values outside of the only class that is allowed', () => {
    const both = fundsWith(
      restriction(INHERES, 'owl:someValuesFrom :Library'),
      restriction(INHERES, 'owl:allValuesFrom :Member'),
    );
    expect(errorOf(() => parse(edited(both)))).toMatchObject({
      code: 'bad_value',
      message: expect.stringContaining('has :Library, which is not below :Member'),
    });
  });
});

/** A part of BFO 2.0 as a merge leaves it: a header, classes with OBO definitions, axioms. */
const MERGED = `
<http://purl.obolibrary.org/obo/bfo.owl> a owl:Ontology ; owl:versionInfo "a merged one" .
obo:IAO_0000115 a owl:AnnotationProperty ; rdfs:label "definition" .
obo:BFO_0000001 a owl:Class ; rdfs:label "entity"@en .
obo:BFO_0000002 a owl:Class ; rdfs:subClassOf obo:BFO_0000001 ; owl:disjointWith obo:BFO_0000003 .
obo:BFO_0000003 a owl:Class ; rdfs:subClassOf obo:BFO_0000001 .
obo:BFO_0000020 a owl:Class ; rdfs:subClassOf obo:BFO_0000002 ;
    rdfs:subClassOf [ a owl:Restriction ; owl:onProperty obo:BFO_0000070 ; owl:someValuesFrom obo:BFO_0000004 ] .
obo:BFO_0000020 rdfs:subClassOf [ a owl:Class ; owl:unionOf ( obo:BFO_0000017 obo:BFO_0000019 ) ] .
obo:BFO_0000017 a owl:Class ; rdfs:subClassOf obo:BFO_0000020 .
obo:BFO_0000016 a owl:Class ; rdfs:subClassOf obo:BFO_0000017 .
obo:BFO_0000023 a owl:Class ; rdfs:subClassOf obo:BFO_0000017 .
obo:BFO_0000141 a owl:Class ; rdfs:subClassOf obo:BFO_0000004 .
[] a owl:AllDisjointClasses ; owl:members ( obo:BFO_0000016 obo:BFO_0000023 ) .
`;

describe('BFO 2.0', () => {
  test('merged into the file, it changes nothing', () => {
    const ontology = parse(LIBRARY + MERGED);
    expect(check(ontology)).toEqual([]);
    expect(withoutLines(LIBRARY + MERGED)).toEqual(withoutLines(LIBRARY));
    expect(fingerprint(ontology)).toEqual(fingerprint(parse(LIBRARY)));
    // A merge may put the header of BFO first.
    const [prefixes = '', ...rest] = LIBRARY.split('\n\n');
    expect(withoutLines(`${prefixes}\n${MERGED}\n${rest.join('\n\n')}`)).toEqual(
      withoutLines(LIBRARY),
    );
  });

  test.each([
    ['obo:BFO_0000024', 'a fiat object part', [':Member']],
    ['obo:BFO_0000028', 'a spatial region', [':Member']],
  ])('%s, %s, is an independent continuant', (superclass, _, found) => {
    const ontology = parse(
      edited(['rdfs:subClassOf obo:BFO_0000040 ;', `rdfs:subClassOf ${superclass} ;`]),
    );
    expect(check(ontology)).toEqual([]);
    expect(ontology.continuants.filter(({ primary }) => primary).map(({ term }) => term)).toEqual(
      found,
    );
  });

  test('a disposition or a function can be a component of the state', () => {
    for (const superclass of ['obo:BFO_0000016', 'obo:BFO_0000034'])
      expect(check(parse(edited([FUNDS, FUNDS.replace('obo:BFO_0000019', superclass)])))).toEqual(
        [],
      );
    const bare = edited([FUNDS, 'rdfs:subClassOf obo:BFO_0000016 ;']);
    expect(check(parse(bare))).toMatchObject([{ code: 'no_bearer', term: ':Funds' }]);
  });

  test('a class above all categories, or of one that fits nothing, is an error', () => {
    const codes = (superclass: string): string[] =>
      check(parse(edited([FUNDS, FUNDS.replace('obo:BFO_0000019', superclass)]))).map(
        ({ code }) => code,
      );
    expect(codes('obo:BFO_0000002')).toEqual(['no_category']);
    expect(codes('obo:BFO_0000035')).toEqual(['wrong_category']);
    expect(codes('obo:BFO_9999999')).toEqual(expect.arrayContaining(['unknown_reference']));
  });

  test('a hierarchy that is not BFO’s is refused by name', () => {
    const error = errorOf(() =>
      parse(`${LIBRARY}\nobo:BFO_0000023 rdfs:subClassOf obo:BFO_0000015 .\n`),
    );
    expect(error).toMatchObject({
      code: 'bad_value',
      message: expect.stringContaining('puts role below obo:BFO_0000015, unlike BFO 2.0'),
    });
    const own = errorOf(() => parse(`${LIBRARY}\nobo:BFO_0000023 rdfs:subClassOf :Member .\n`));
    expect(own).toMatchObject({
      code: 'bad_value',
      message: expect.stringContaining('which is not a class of BFO'),
    });
  });

  test('a class between BFO and the domain keeps its OBO definition', () => {
    const between =
      'obo:OBI_0000011 a owl:Class ; rdfs:subClassOf obo:BFO_0000015 ; rdfs:label "planned process" ; obo:IAO_0000115 "A process that realizes a plan." .';
    const ontology = parse(
      `${edited([BUY, BUY.replace('obo:BFO_0000015', 'obo:OBI_0000011')])}\n${between}\n`,
    );
    expect(check(ontology).filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(ontology.others.find(({ term }) => term === 'obo:OBI_0000011')?.definition).toMatch(
      /realizes a plan/,
    );
  });
});
