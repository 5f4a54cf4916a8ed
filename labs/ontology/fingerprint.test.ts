import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { domainFolder } from '../../tests/support/process/domain-folders.ts';
import { LIBRARY } from '../../tests/support/process/guide-files.ts';
import { concluded, fingerprint, withSearch } from './fingerprint.ts';
import { parse } from './parse.ts';
import type { SkewSearch } from './write-skew.ts';

const shipped = (name: string) =>
  fingerprint(parse(readFileSync(join(domainFolder(name), 'ontology.ttl'), 'utf8')));
const edited = (...edits: (readonly [string, string])[]) =>
  fingerprint(
    parse(
      edits.reduce((text, [before, after]) => {
        expect(text).toContain(before);
        return text.replace(before, after);
      }, LIBRARY),
    ),
  );

/** The library's rules without some of them. */
const without = (...ids: string[]) =>
  LIBRARY.split('\n\n')
    .filter((part) => !ids.some((id) => part.startsWith(`:${id} `)))
    .join('\n\n')
    .replace(ids.includes('IN_THE_CATALOGUE') ? ' a:precondition :IN_THE_CATALOGUE ;' : '', '');

test('write skew: two workers write into a rule, whether or not one sees it', () => {
  expect(edited().writeSkew).toEqual({
    holds: true,
    witness: [
      'WITHIN_LIMIT is visible only to Desk, and written by Desk (lending, returning) and by Office (admission)',
      'LENT_ONCE is visible to no role, and written by Desk (lending, returning) for each {member}',
      'IN_THE_CATALOGUE is visible only to Desk, and written by Desk (lending, returning) and by Buyer (buying)',
      'GOOD_STANDING is visible to no role, and written by Desk (lending, returning) and by Office (admission)',
    ],
  });
});

test('write skew: two roles can together break a rule that only a third sees', () => {
  const { writeSkew } = edited(
    ['a:writes :Limit, :Standing ;', 'a:writes :Limit, :Standing ; a:apartFrom :Lend ;'],
    [
      '\n:KEEP_RECORD a',
      '\n:Watch rdfs:subClassOf obo:BFO_0000015 ; obo:RO_0000057 :Library ; a:process "watching" ; a:reads :Standing, :Loans ; a:apartFrom :Lend, :GiveBack, :Admit ; rdfs:label "x" ; skos:definition "x" .\n' +
        ':WHY rdfs:subClassOf obo:IAO_0000033 ; obo:IAO_0000136 :Watch, :Lend, :GiveBack, :Admit ; rdfs:label "x" ; skos:definition "x" .\n' +
        ':KEEP_RECORD a',
    ],
  );
  // A worker that watches sees one member. This is enough for a rule for each member.
  expect(writeSkew.witness).toContain(
    'GOOD_STANDING is visible only to watching, and written by Desk (lending, returning) and by Office (admission)',
  );
});

test('write skew: one role breaks a rule that joins those it is confined to', () => {
  const alone = without(
    'WITHIN_LIMIT',
    'IN_THE_CATALOGUE',
    'GOOD_STANDING',
    'WITHIN_FUNDS',
    'LONG_LOANS',
  );
  expect(fingerprint(parse(alone)).writeSkew).toEqual({
    holds: true,
    witness: [
      'LENT_ONCE is visible to no role, and written by Desk (lending, returning) for each {member}',
    ],
  });
  const apart = alone.replace('a:refersTo :Loans ;', 'a:refersTo :Loans ; a:forEach "member" ;');
  expect(fingerprint(parse(apart)).writeSkew).toEqual({
    holds: false,
    witness: ['there is no write skew: no two workers write into one rule'],
  });
});

const BUDGET = readFileSync(join(domainFolder('budget'), 'ontology.ttl'), 'utf8');

test('write skew: agents that see the common cap can still exceed it together', () => {
  const sees = (what: string): string =>
    BUDGET.replace('a:writes :Spent ;', `a:reads ${what} ; a:writes :Spent ;`);
  const cross = 'BUDGET_CAP is visible to no role, and written by spender (spend) for each {agent}';
  for (const text of [BUDGET, sees(':Cap')]) {
    const { writeSkew, conclusion } = fingerprint(parse(text));
    expect(writeSkew).toEqual({ holds: true, witness: [cross] });
    expect(conclusion).toMatch(/^Write skew: a kernel/);
  }
  // Each agent sees the spending of all, as it was: two of them still exceed the cap together.
  const all = BUDGET.replace(
    '\n:Spend a',
    '\n:All a owl:Class ; rdfs:subClassOf obo:BFO_0000019 ; obo:RO_0000052 :Organization ; a:path "/spent" ; rdfs:label "x" ; skos:definition "x" .\n:Spend a',
  ).replace('a:writes :Spent ;', 'a:reads :Cap, :All ; a:writes :Spent ;');
  expect(fingerprint(parse(all)).writeSkew).toEqual({
    holds: true,
    witness: [
      'BUDGET_CAP is visible only to spender, and written by spender (spend) for each {agent}',
    ],
  });
});

const inOrder = [
  ['a:writes :Limit, :Standing ;', 'a:writes :Limit, :Standing ; a:after :Buy ;'],
] as const satisfies (readonly [string, string])[];
const CHAIN = 'buying → admission → lending → returning';

test('a pipeline orders every two processes, also by preconditions', () => {
  expect(edited().pipeline).toEqual({
    holds: false,
    witness: ['the order of buying and admission is not declared'],
  });
  expect(edited(...inOrder).pipeline.witness[0]).toBe(CHAIN);
  const onlyWaits = edited(
    ['a:after :Admit ; a:precondition', 'a:precondition'],
    ['a:writes :Limit, :Standing ;', 'a:writes :Limit, :Standing ; a:after :GiveBack ;'],
  );
  expect(onlyWaits.pipeline.witness[0]).toBe('buying → lending → returning → admission');
  expect(shipped('budget').pipeline).toEqual({
    holds: false,
    witness: ['spend is the only process, and its occurrences have no order'],
  });
});

test('a pipeline of one run at a time has no write skew', () => {
  const one = [
    ...inOrder,
    ['{member}', 'member'],
    ['{member}', 'member'],
    ['{member}', 'member'],
  ] as const;
  const { pipeline, writeSkew, conclusion } = fingerprint(
    parse(one.reduce((text, [before, after]) => text.replace(before, after), LIBRARY)),
  );
  expect(pipeline).toEqual({ holds: true, witness: [CHAIN] });
  expect(writeSkew).toEqual({
    holds: false,
    witness: [
      'there is no write skew: processes happen one after the other, so that no two workers write into one rule at the same time',
    ],
  });
  expect(conclusion).toMatch(/^A pipeline without write skew/);
});

test('two runs of an order are a pipeline if they meet in no rule', () => {
  const meeting = edited(...inOrder);
  expect(meeting.pipeline).toEqual({
    holds: false,
    witness: [
      CHAIN,
      'this is the order of one run for {member}; runs at the same time meet in LENT_ONCE, IN_THE_CATALOGUE',
    ],
  });
  expect(meeting.writeSkew.witness).toEqual([
    'LENT_ONCE is visible to no role, and written by Desk (lending, returning), in runs for two {member}',
    'IN_THE_CATALOGUE is visible only to Desk, and written by Desk (lending, returning) and by Buyer (buying), in runs for two {member}',
  ]);
  const text = without('LENT_ONCE', 'IN_THE_CATALOGUE').replace(...inOrder[0]);
  const apart = fingerprint(parse(text));
  expect(apart.pipeline).toEqual({
    holds: true,
    witness: [CHAIN, 'two runs for other {member} meet in no rule'],
  });
  expect(apart.writeSkew.holds).toBe(false);
});

const found = (first: object, second: object): SkewSearch =>
  ({
    witnesses: [
      {
        invariantId: 'GOOD_STANDING',
        first: { action: 'admit', role: { name: 'Office', params: first } },
        second: { action: 'lend', role: { name: 'Desk', params: second } },
      },
    ],
  }) as unknown as SkewSearch;

test('a pair that was found refutes the order, and a rule for each value', () => {
  const ontology = parse(without('LENT_ONCE', 'IN_THE_CATALOGUE').replace(...inOrder[0]));
  const declared = fingerprint(ontology);
  expect(withSearch(declared, { witnesses: [] } as unknown as SkewSearch, ontology)).toEqual(
    declared,
  );
  const { pipeline, writeSkew, conclusion } = withSearch(
    declared,
    found({ member: 'a' }, { member: 'a' }),
    ontology,
  );
  expect(pipeline.holds).toBe(false);
  expect(pipeline.witness.at(-1)).toBe(
    'the domain does not keep this order: admit and lend are possible on one state, and break GOOD_STANDING',
  );
  expect(writeSkew.holds).toBe(true);
  expect(writeSkew.witness).toEqual([
    expect.stringMatching(/^there is no write skew/),
    'the domain does not keep to this: two workers can break GOOD_STANDING together',
  ]);
  expect(conclusion).toMatch(/strong candidate/);
  const [pair] = found({ member: 'a' }, { member: 'a' }).witnesses;
  const one = { witnesses: [{ ...pair, second: pair?.first }] } as unknown as SkewSearch;
  expect(withSearch(declared, one, ontology).writeSkew.witness.at(-1)).toBe(
    'two agents in one role can break GOOD_STANDING together: fill the role with one agent',
  );
  const joined = withSearch(declared, found({ member: 'a' }, { member: 'b' }), ontology).writeSkew
    .witness;
  expect(joined.at(-1)).toBe(
    'GOOD_STANDING joins two values of {member}: remove a:forEach "member" from :GOOD_STANDING',
  );
});

test('auditability is where every process has to be reported', () => {
  expect(edited().auditability.holds).toBe(true);
  expect(
    edited(['obo:IAO_0000136 :Buy, :Admit, :Lend, :GiveBack', 'obo:IAO_0000136 :Buy, :Lend'])
      .auditability,
  ).toMatchObject({
    holds: false,
    witness: [
      expect.stringContaining(':KEEP_RECORD'),
      'no directive requires admission, returning',
    ],
  });
  expect(shipped('airline').auditability).toEqual({
    holds: false,
    witness: ['no directive requires a report'],
  });
});

test('a report on a thing has every process in which the thing takes part', () => {
  const asked = 'obo:IAO_0000136 :Buy, :Admit, :Lend, :GiveBack';
  const of = (about: string) => edited([asked, `obo:IAO_0000136 ${about}`]).auditability;
  expect(of(':Member')).toMatchObject({
    holds: false,
    witness: [expect.stringContaining(':KEEP_RECORD'), 'no directive requires buying'],
  });
  expect(of(':Member, :Library').holds).toBe(true);
  expect(of(':Member, :Buy').holds).toBe(true);
  // Information is written in a process, and does not take part in it.
  expect(of(':Member, :Titles').holds).toBe(false);
  const kind =
    ':Reader a owl:Class ; rdfs:subClassOf obo:BFO_0000040 ; rdfs:label "x" ; skos:definition "x" .';
  const above = edited(
    [asked, 'obo:IAO_0000136 :Reader, :Buy'],
    [
      '\n:Member a owl:Class, a:PrimaryContinuant ;\n    rdfs:subClassOf obo:BFO_0000040 ;',
      `\n${kind}\n:Member a owl:Class, a:PrimaryContinuant ;\n    rdfs:subClassOf :Reader ;`,
    ],
  );
  expect(above.auditability.holds).toBe(true);
});

test.each(['udt', 'disclosure', 'moderation', 'verification'])(
  '%s has write skew and is auditable (§1.4.3)',
  (name) => {
    const { writeSkew, auditability, pipeline, conclusion } = shipped(name);
    expect([writeSkew.holds, auditability.holds, pipeline.holds]).toEqual([true, true, false]);
    expect(conclusion).toMatch(/strong candidate/);
  },
);

const timed = [
  [
    'rdfs:subClassOf obo:IAO_0000030 ; obo:IAO_0000136 :Library ;\n    a:path "/titles"',
    'rdfs:subClassOf obo:IAO_0000030, a:TimedComponent ; obo:IAO_0000136 :Library ;\n    a:path "/titles"',
  ],
  ['a:after :Buy ;', 'a:after :Buy ; a:notBefore :Titles ;'],
] as const;

test('timed governance: a process waits for a time that another one sets', () => {
  expect(edited().timedGovernance.holds).toBe(false);
  expect(edited(...timed).timedGovernance).toEqual({
    holds: true,
    witness: ['lending waits by IN_THE_CATALOGUE for :Titles, which buying sets'],
  });
});

test('a time that only the waiting process sets is not timed governance', () => {
  const own = edited(
    ...timed,
    ['a:writes :Titles, :Funds ;', 'a:reads :Titles ; a:writes :Funds, :Loans ;'],
    ['a:reads :Titles, :Limit ; a:writes :Loans ;', 'a:reads :Limit ; a:writes :Loans, :Titles ;'],
  );
  expect(own.timedGovernance.holds).toBe(false);
});

test('the paper’s conclusion from each combination of properties', () => {
  const said = (writeSkew: boolean, auditability: boolean, pipeline: boolean) =>
    concluded({ writeSkew, auditability, pipeline });
  expect(said(true, true, false)).toMatch(/strong candidate/);
  expect(said(true, false, false)).toMatch(/^Write skew: /);
  expect(said(false, true, true)).toMatch(/pipeline/);
  expect(said(false, true, false)).toMatch(/^Auditability alone/);
  expect(said(false, false, false)).toMatch(/simple architecture/);
});

test('twice the ontology is no more than about four times the work', () => {
  const described = 'rdfs:label "x" ; skos:definition "x" .';
  const texts = (count: number): string => {
    const each = (line: (i: number) => string): string =>
      Array.from({ length: count }, (_, i) => line(i)).join('\n');
    return [
      LIBRARY.slice(0, LIBRARY.indexOf(':Member a')),
      `:M a a:PrimaryContinuant ; rdfs:subClassOf obo:BFO_0000040 ; ${described}`,
      each(
        (i) =>
          `:C${i} rdfs:subClassOf obo:BFO_0000019 ; obo:RO_0000052 :M ; a:path "/c${i}/{m}" ; ${described}`,
      ),
      each(
        (i) =>
          `:P${i} rdfs:subClassOf obo:BFO_0000015 ; obo:RO_0000057 :M ; a:process "p${i}" ; a:writes :C${i} ; ${described}`,
      ),
      each(
        (i) =>
          `:R${i} rdfs:subClassOf obo:IAO_0000033 ; a:rule "R${i}" ; a:order ${i} ; a:refersTo :C${i}, :C${(i + 1) % count} ; ${described}`,
      ),
    ].join('\n');
  };
  const looks = (count: number): number => {
    let looked = 0;
    const ontology = parse(texts(count));
    const get = (paths: readonly string[]) => (): readonly string[] => {
      looked++;
      return paths;
    };
    const components = ontology.components.map(({ paths, ...one }) =>
      Object.defineProperty({ ...one, paths }, 'paths', { enumerable: true, get: get(paths) }),
    );
    expect(fingerprint({ ...ontology, components }).writeSkew.witness).toHaveLength(count);
    return looked;
  };
  expect(looks(40) / looks(20)).toBeLessThan(5);
});
