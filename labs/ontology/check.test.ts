import { expect, test } from 'vitest';
import { errorOf } from '../../tests/support/process/errors.ts';
import { LIBRARY } from '../../tests/support/process/guide-files.ts';
import { check } from './check.ts';
import type { FindingCode } from './finding.ts';
import { parse } from './parse.ts';
import { deriveRoles } from './roles.ts';

type Edit = readonly [before: string, after: string];

const more = (text: string): Edit => ['\n:KEEP_RECORD a', `\n${text}\n:KEEP_RECORD a`];
const described = 'rdfs:label "x" ; skos:definition "x" .';

/** For each code an edit of the library that leads to it, the term concerned, and its severity. */
const PLANTED: Readonly<
  Record<FindingCode, readonly [severity: 'error' | 'warning', term: string, ...edits: Edit[]]>
> = {
  no_label: ['error', ':Funds', ['rdfs:label "funds" ;', '']],
  no_definition: [
    'error',
    ':Funds',
    [
      'skos:definition "A quality of the library that consists in the money left for books." ',
      'skos:note "x" ',
    ],
  ],
  same_name: ['error', ':GiveBack', ['a:process "returning"', 'a:process "lending"']],
  same_term: ['error', ':Fake', more('')],
  unknown_reference: ['error', ':WITHIN_FUNDS', ['a:refersTo :Funds', 'a:refersTo :Fund']],
  described_twice: [
    'error',
    ':Lend',
    ['a:process "lending"', 'a:process "lending" ; a:path "/lending"'],
  ],
  no_category: ['error', ':Funds', ['rdfs:subClassOf obo:BFO_0000019 ;', '']],
  two_categories: [
    'error',
    ':Funds',
    ['rdfs:subClassOf obo:BFO_0000019 ;', 'rdfs:subClassOf obo:BFO_0000019, obo:BFO_0000015 ;'],
  ],
  wrong_category: [
    'error',
    ':Funds',
    ['rdfs:subClassOf obo:BFO_0000019 ;', 'rdfs:subClassOf obo:BFO_0000015 ;'],
  ],
  circular: ['error', ':GiveBack', ['a:after :Admit ;', 'a:after :Admit, :GiveBack ;']],
  no_bearer: ['error', ':Funds', [' obo:RO_0000052 :Library ;', '']],
  not_about: ['error', ':Titles', [' obo:IAO_0000136 :Library ;', '']],
  no_participant: ['error', ':Buy', [' obo:RO_0000057 :Library ;', '']],
  no_path: ['error', ':Funds', ['a:path "/funds" ;', '']],
  bad_path: ['error', ':Funds', ['a:path "/funds" ;', 'a:path "funds" ;']],
  same_path: ['error', ':Funds', ['a:path "/funds" ;', 'a:path "/titles" ;']],
  untouched: [
    'warning',
    ':Shelves',
    more(
      `:Shelves rdfs:subClassOf obo:BFO_0000019 ; obo:RO_0000052 :Library ; a:path "/shelves" ; ${described}`,
    ),
  ],
  touches_nothing: ['error', ':Buy', ['a:writes :Titles, :Funds ;', '']],
  no_process_name: [
    'error',
    ':Close',
    more(`:Close rdfs:subClassOf obo:BFO_0000015 ; obo:RO_0000057 :Library ; ${described}`),
  ],
  primary: [
    'error',
    ':Library',
    [':Library a owl:Class ;', ':Library a owl:Class, a:PrimaryContinuant ;'],
  ],
  no_order: ['error', ':WITHIN_FUNDS', ['a:order 5 ;', '']],
  same_order: ['error', ':WITHIN_FUNDS', ['a:order 5 ;', 'a:order 4 ;']],
  bad_failure: ['error', ':LONG_LOANS', ['a:counselor "librarian" ;', '']],
  refers_to_nothing: ['error', ':WITHIN_FUNDS', [' a:refersTo :Funds ;', '']],
  unknown_parameter: [
    'warning',
    ':LONG_LOANS',
    ['a:forEach "member" ;\n    a:onFailure', 'a:forEach "person" ;\n    a:onFailure'],
  ],
  no_source: [
    'warning',
    ':KEPT',
    more(
      `:KEPT rdfs:subClassOf obo:IAO_0000033 ; a:rule "KEPT" ; a:order 9 ; a:refersTo :Funds ; ${described}`,
    ),
  ],
  precondition_footprint: [
    'error',
    ':IN_THE_CATALOGUE',
    ['a:refersTo :Loans, :Titles ;', 'a:refersTo :Loans, :Titles, :Standing ;'],
  ],
  gates_nothing: ['error', ':IN_THE_CATALOGUE', [' a:precondition :IN_THE_CATALOGUE ;', '']],
  not_timed: [
    'error',
    ':IN_THE_CATALOGUE',
    ['a:after :Buy ;', 'a:after :Buy ; a:notBefore :Loans ;'],
  ],
  no_reason: ['error', ':Lend', ['a:after :Admit ;', 'a:after :Admit ; a:apartFrom :GiveBack ;']],
  contradiction: [
    'error',
    ':Lend',
    ['a:after :Admit ;', 'a:after :Admit ; a:apartFrom :GiveBack ; a:togetherWith :GiveBack ;'],
    more(`:WHY rdfs:subClassOf obo:IAO_0000033 ; obo:IAO_0000136 :Lend, :GiveBack ; ${described}`),
  ],
  unread: [
    'warning',
    ':Funds',
    [
      'rdfs:subClassOf obo:BFO_0000019 ;',
      'rdfs:subClassOf obo:BFO_0000019, [ a owl:Restriction ; owl:onProperty :ownedBy ; owl:someValuesFrom :Library ] ;',
    ],
  ],
  same_role: ['error', ':DeskRole', [' obo:BFO_0000054 :Lend ;', '']],
};

function edited(edits: readonly Edit[]): string {
  return edits.reduce((text, [before, after]) => {
    expect(text).toContain(before);
    return text.replace(before, after);
  }, LIBRARY);
}

test('nothing is wrong with the library', () => expect(check(parse(LIBRARY))).toEqual([]));

test.each(Object.entries(PLANTED).filter(([code]) => code !== 'same_term'))(
  '%s is found',
  (code, [severity, term, ...edits]) => {
    const found = check(parse(edited(edits)));
    const finding = found.find((one) => one.code === code && one.term === term);
    expect(finding, JSON.stringify(found, null, 1)).toMatchObject({
      severity,
      says: expect.any(String),
      todo: expect.any(String),
    });
    if (severity === 'error')
      expect(errorOf(() => deriveRoles(parse(edited(edits))))).toMatchObject({ code: 'unsound' });
    else expect(deriveRoles(parse(edited(edits))).roles).toHaveLength(3);
  },
);

test('the same class twice in a value that was not read from a text', () => {
  const library = parse(LIBRARY);
  const twice = { ...library, others: [...library.others, ...library.audits] };
  expect(check(twice).map(({ code }) => code)).toContain('same_term');
});

test('a path belongs to one component, regardless of its parameter names', () => {
  const other = (path: string): Edit =>
    more(
      `:Lent rdfs:subClassOf obo:IAO_0000030 ; obo:IAO_0000136 :Member ; a:path "${path}" ; ${described}`,
    );
  for (const path of ['/loans/{person}', '/loans/*'])
    expect(check(parse(edited([other(path)])))).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        code: 'same_path',
        says: expect.stringContaining('/loans/*'),
      }),
    );
  const codes = check(parse(edited([other('/loans/{person}/{book}')]))).map(({ code }) => code);
  expect(codes).toEqual([]);
});

test('a process that waits for a successor never happens, by precondition too', () => {
  const waits: Edit = [
    'a:refersTo :Loans, :Titles ; a:after :Buy ;',
    'a:refersTo :Loans, :Titles ; a:after :Buy, :GiveBack ;',
  ];
  const found = check(parse(edited([waits])));
  expect(found.map(({ code, term }) => `${code} ${term}`)).toEqual([
    'circular :Lend',
    'circular :GiveBack',
  ]);
  expect(found[0]?.says).toContain(':GiveBack');
});

test('the error for a misspelled reference suggests the term and its line', () => {
  const [first] = check(parse(edited([['a:refersTo :Funds', 'a:refersTo :Fund']])));
  expect(first).toMatchObject({
    term: ':WITHIN_FUNDS',
    line: 126,
    todo: expect.stringContaining('Did you mean :Funds?'),
  });
});

test('a precondition must read a path that the earlier process writes', () => {
  const found = check(
    parse(edited([['a:refersTo :Loans, :Titles ;', 'a:refersTo :Loans, :Limit ;']])),
  );
  expect(found).toMatchObject([
    { code: 'precondition_footprint', says: expect.stringContaining(':Buy') },
  ]);
});

test('categories are found through own classes, and their cycles are reported', () => {
  const kind = `:Money rdfs:subClassOf obo:BFO_0000019 ; ${described}`;
  const above: Edit = ['rdfs:subClassOf obo:BFO_0000019 ;', 'rdfs:subClassOf :Money ;'];
  expect(check(parse(edited([more(kind), above])))).toEqual([]);
  const circle = `:Money rdfs:subClassOf :Funds ; ${described}`;
  const codes = check(parse(edited([more(circle), above]))).map(
    ({ code, term }) => `${code} ${term}`,
  );
  expect(codes).toEqual(
    expect.arrayContaining(['circular :Funds', 'circular :Money', 'no_category :Funds']),
  );
});
