import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { domainFolder } from '../tests/support/process/domain-folders.ts';
import { LIBRARY } from '../tests/support/process/guide-files.ts';
import { concluded, fingerprint } from './fingerprint.ts';
import { parse } from './parse.ts';

const shipped = (name: string) => fingerprint(parse(readFileSync(join(domainFolder(name), 'ontology.ttl'), 'utf8')));
const edited = (...edits: (readonly [string, string])[]) =>
  fingerprint(
    parse(
      edits.reduce((text, [before, after]) => {
        expect(text).toContain(before);
        return text.replace(before, after);
      }, LIBRARY),
    ),
  );

test('write skew: two roles write into a rule that neither sees', () => {
  expect(edited().writeSkew).toEqual({
    holds: true,
    witness: [
      'GOOD_STANDING is visible to no role, and written by Desk (lending, returning) and by Office (admission)',
    ],
  });
  const seen = edited(
    ['a:reads :Titles, :Limit ;', 'a:reads :Titles, :Limit, :Standing ;'],
    ['a:writes :Limit, :Standing ;', 'a:writes :Standing ;'],
  );
  expect(seen.writeSkew.holds).toBe(false);
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
  expect(writeSkew.witness).toEqual([
    'GOOD_STANDING is visible only to watching, and written by Desk (lending, returning) and by Office (admission)',
  ]);
});

test('write skew: reports that a rule seen per key by one role may compare two', () => {
  const alone = LIBRARY.split('\n\n')
    .filter((part) => !/^:(WITHIN_LIMIT|IN_THE_CATALOGUE|GOOD_STANDING|WITHIN_FUNDS|LONG_LOANS) /.test(part))
    .join('\n\n')
    .replace(' a:precondition :IN_THE_CATALOGUE ;', '');
  const { writeSkew } = fingerprint(parse(alone));
  expect(writeSkew).toEqual({
    holds: false,
    witness: [
      'footprints show no write skew: every rule is visible to the roles that write its components',
      'LENT_ONCE is visible to Desk for one {member} at a time: run the domain to see whether it compares two of them',
    ],
  });
});

test('write skew: one role, for two that it is confined to', () => {
  expect(shipped('budget').writeSkew).toEqual({
    holds: true,
    witness: ['BUDGET_CAP is visible to no role, and written by spender (spend) for each {agent}'],
  });
});

test('a pipeline orders every two processes, also by preconditions', () => {
  expect(edited().pipeline).toEqual({ holds: false, witness: ['the order of buying and admission is not declared'] });
  const chain = edited(['a:writes :Limit, :Standing ;', 'a:writes :Limit, :Standing ; a:after :Buy ;']);
  expect(chain.pipeline).toEqual({ holds: true, witness: ['buying → admission → lending → returning'] });
  const onlyWaits = edited(
    ['a:after :Admit ; a:precondition', 'a:precondition'],
    ['a:writes :Limit, :Standing ;', 'a:writes :Limit, :Standing ; a:after :GiveBack ;'],
  );
  expect(onlyWaits.pipeline.witness).toEqual(['buying → lending → returning → admission']);
  expect(shipped('budget').pipeline).toEqual({
    holds: false,
    witness: ['spend is the only process, and its occurrences have no order'],
  });
});

test('auditability is where every process has to be reported', () => {
  expect(edited().auditability.holds).toBe(true);
  expect(
    edited(['obo:IAO_0000136 :Buy, :Admit, :Lend, :GiveBack', 'obo:IAO_0000136 :Buy, :Lend']).auditability,
  ).toMatchObject({
    holds: false,
    witness: [expect.stringContaining(':KEEP_RECORD'), 'no directive requires admission, returning'],
  });
  expect(shipped('airline').auditability).toEqual({
    holds: false,
    witness: ['no directive requires a report'],
  });
});

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

test('a time that only the waiting process sets is no timed governance', () => {
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
    const each = (line: (i: number) => string): string => Array.from({ length: count }, (_, i) => line(i)).join('\n');
    return [
      LIBRARY.slice(0, LIBRARY.indexOf(':Member a')),
      `:M a a:PrimaryContinuant ; rdfs:subClassOf obo:BFO_0000040 ; ${described}`,
      each((i) => `:C${i} rdfs:subClassOf obo:BFO_0000019 ; obo:RO_0000052 :M ; a:path "/c${i}/{m}" ; ${described}`),
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
