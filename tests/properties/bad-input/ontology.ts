import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { budget } from '#domains/budget';
import { createOracle, fixedClock } from '#oracle';
import * as ontology from '../../../labs/ontology/index.ts';
import { START } from '../../support/ledger/runtime.ts';
import { domainFolder } from '../../support/process/domain-folders.ts';
import { LIBRARY } from '../../support/process/guide-files.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, PORT, takes } from './table.ts';

/** Small, because each member of it is tried: one of everything. */
const { components, processes, rules, ...library } = ontology.parse(LIBRARY);
const named = (terms: readonly string[], term: string): boolean => terms.includes(term);
const SMALL: ontology.Ontology = {
  ...library,
  components: components.filter(({ term }) => named([':Funds', ':Titles'], term)),
  processes: processes.filter(({ term }) => named([':Buy'], term)),
  roles: library.roles.filter(({ term }) => named([':BuyerRole'], term)),
  rules: rules.filter(({ term }) => named([':WITHIN_FUNDS'], term)),
  audits: library.audits.map((one) => ({ ...one, about: [':Buy'] })),
};
const small = (): ontology.Ontology => structuredClone(SMALL);

const options = { threshold: 0.5 };
const BUDGET = readFileSync(join(domainFolder('budget'), 'ontology.ttl'), 'utf8');
const SPEND = {
  action: 'spend',
  role: { name: 'spender', params: { agent: 'a' } },
  args: { amount: 1 },
};
const path = (): ontology.HappyPath => ontology.happyPath(small());

export const ONTOLOGY: Readonly<Record<string, Case | Exempt>> = {
  parse: takes(ontology.parse, [LIBRARY]),
  check: takes(ontology.check as never, () => [small()]),
  compare: takes(ontology.compare as never, () => [small(), budget, options]),
  concluded: takes(ontology.concluded as never, [
    { writeSkew: true, auditability: true, pipeline: false },
  ]),
  deriveInvariants: takes(ontology.deriveInvariants as never, () => [small(), options]),
  deriveRoles: takes(ontology.deriveRoles as never, () => [small(), options]),
  draftOntology: takes(
    ontology.draftOntology as never,
    () => [
      'A library.',
      {
        oracle: createOracle({
          store: new MemoryStore(),
          clock: fixedClock(START),
          mode: 'record',
        }),
        model: () => LIBRARY,
        modelVersion: '1',
        context: 'A role is a property.',
      },
    ],
    { '1.oracle': PORT, '1.model': PORT },
  ),
  draftModule: takes(
    ontology.draftModule as never,
    () => [
      small(),
      {
        oracle: createOracle({
          store: new MemoryStore(),
          clock: fixedClock(START),
          mode: 'record',
        }),
        ...{
          model: () => 'no',
          modelVersion: '1',
          rounds: 1,
          reference: 'BFO',
          timeLimitSeconds: 1,
        },
        onRound: () => undefined,
      },
    ],
    { '1.oracle': PORT, '1.model': PORT, '1.onRound': PORT },
  ),
  recordDraft: exempt(
    'draftModule with a store: openStore refuses its URL, and draftModule refuses the other options',
  ),
  submittedDraft: exempt('it opens a store, the store refuses its URL, and it finds a text or not'),
  acceptDraft: exempt('it opens a store, the store refuses its URL, and it finds a text or not'),
  draw: takes(ontology.draw as never, () => [small(), options]),
  drawContinuant: takes(ontology.drawContinuant as never, () => [small()]),
  happyPath: takes(ontology.happyPath as never, () => [
    ontology.parse(BUDGET),
    budget,
    {
      ...{ threshold: 0.5, depth: 1, width: 1, tries: 1 },
      walk: {
        ...{
          domain: 'budget',
          at: START,
          initial: budget.initial,
          counselors: { nobody: ['nobody:here'] },
        },
        ...{ proposals: [SPEND], exceptions: [SPEND] },
      },
    },
  ]),
  alignPaths: takes(ontology.alignPaths as never, () => [path(), path()]),
  isomorphism: takes(ontology.isomorphism as never, () => [
    small(),
    small(),
    { level: 'wiring', without: [], threshold: 0.5, stepsMax: 100 },
  ]),
  drawComparison: takes(ontology.drawComparison as never, () => [
    path(),
    path(),
    ontology.isomorphism(small(), small()),
  ]),
  findWriteSkew: takes(ontology.findWriteSkew as never, () => [
    budget,
    {
      seed: 1,
      depth: 1,
      width: 1,
      tries: 1,
      states: [budget.initial],
      proposals: [SPEND],
      at: START,
    },
  ]),
  fingerprint: takes(ontology.fingerprint as never, () => [small(), options]),
  withSearch: takes(ontology.withSearch as never, () => [
    ontology.fingerprint(small()),
    ontology.findWriteSkew(budget, { depth: 0 }),
    small(),
  ]),
  scaffold: takes(ontology.scaffold as never, () => [small(), options]),
};
