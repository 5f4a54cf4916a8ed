import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import * as agents from '#agents';
import { budget } from '#domains/budget';
import { commitmentOf, DISCLOSURE_SETTINGS, disclosureInitial } from '#domains/disclosure';
import {
  callDigest,
  callIdOf,
  definitionHash,
  isApprover,
  readCases,
  readRules,
  readTrial,
  rulesIn,
  trialFileOf,
} from '#domains/gateway';
import { isResponder } from '#domains/incident';
import { coverageOn, udtInitial } from '#domains/udt';
import * as cedar from '#integrations/cedar';
import { seededRandom } from '#oracle';
import * as testing from '#testing';
import * as witness from '#witness';
import {
  adjudicateAirline,
  airlineBenchmark,
  runKey,
} from '../../../examples/domains/airline/adjudicate.ts';
import { airlineInitial } from '../../../examples/domains/airline/index.ts';
import { smallWorld } from '../../../examples/domains/airline/testing/small-world.ts';
import { adjudicateDisclosure } from '../../../examples/domains/disclosure/adjudicate.ts';
import { byCause, finished } from '../../../examples/domains/job/index.ts';
import {
  MODERATION_POLICY,
  moderationInitial,
} from '../../../examples/domains/moderation/index.ts';
import { adjudicateRetail } from '../../../examples/domains/retail/adjudicate.ts';
import { retailInitial, retailRecordsOf } from '../../../examples/domains/retail/index.ts';
import { smallWorld as smallShop } from '../../../examples/domains/retail/testing/small-world.ts';
import { adjudicateRecorded, withoutPolicy } from '../../../examples/domains/tau/index.ts';
import { verificationInitial } from '../../../examples/domains/verification/index.ts';
import { deskOf } from '../../support/ledger/desk.ts';
import { LOG, ORIGIN, WITNESSES } from '../../support/ledger/merkle-fixtures.ts';
import { desk as newsdesk, newsroom } from '../../support/ledger/newsroom.ts';
import { keysOf } from '../../support/ledger/rows.ts';
import { operator, START } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { extractionTerms } from './extraction.ts';
import { exempt, MADE, PATH, PORT, takes } from './table.ts';

const none = exempt('no arguments');
const SUITE = 'registers tests with vitest';
const folder = mkdtempSync(join(tmpdir(), 'assize-bad-input-'));
const plain = ({ name, use, id, publicKey }: any): any => ({ name, use, id, publicKey });
const known = { origin: ORIGIN, keys: [plain(LOG)] };

const onDesk = (
  call: (made: Awaited<ReturnType<typeof newsdesk>>, ...args: any[]) => unknown,
  args: (
    made: Awaited<ReturnType<typeof newsdesk>>,
  ) => readonly unknown[] | Promise<readonly unknown[]>,
  trusted: Case['trusted'] = {},
): Case => ({
  trusted,
  make: async () => {
    const made = await newsdesk();
    return {
      args: await args(made),
      call: (...given) => call(made, ...given),
      watch: async () => JSON.stringify([await made.store.trajectories(), made.trajectory.head]),
    };
  },
});

const listOf = ({ agents: staff }: Awaited<ReturnType<typeof newsdesk>>): object[] =>
  staff.map((agent) => ({ ...agent }));

export const AGENTS: Readonly<Record<string, Case | Exempt>> = {
  assertMessages: takes(
    agents.assertMessages as never,
    () => [
      [{ id: 'm', author: 'ida', text: 'No nuts for me.', at: START }],
      { ask: async ({ call }: any) => call() },
      { ...extractionTerms(), space: 'ward' },
    ],
    { 1: PORT, '2.model': PORT },
  ),
  replayRun: onDesk(
    (_made, source, domain, list, options) => agents.replayRun(source, domain, list, options),
    async (made) => {
      await made.run({ maxTurns: 1 });
      return [
        { store: made.store, oracleStore: made.store, trajectoryId: 'desk' },
        newsroom,
        listOf(made),
        { anchors: [operator.publicKey], approvals: { timeoutMs: 1_000 }, signer: undefined },
      ];
    },
  ),
  runAgents: onDesk(
    ({ trajectory }, list, options) => agents.runAgents(trajectory, list, options),
    (made) => [
      listOf(made),
      {
        oracle: made.oracle,
        clock: made.clock,
        random: seededRandom('run'),
        maxTurns: 1,
        concurrent: false,
      },
    ],
  ),
  badSimulation: exempt('makes an error from texts of Assize'),
  configuredVariants: exempt('takes a simulation of a config that was checked'),
  simulationDocument: exempt('takes the result of simulate'),
  simulate: onDesk(
    (_made, source, options) => agents.simulate(source, options),
    async (made) => {
      await made.run({ maxTurns: 1 });
      return [
        { store: made.store, oracleStore: made.store, trajectoryId: 'desk' },
        {
          ...{ domain: newsroom, anchors: [operator.publicKey], at: 0, samples: 1, seed: 0 },
          ...{ limits: { turns: 1, waits: 0 }, simulators: { 'mail.send': { answer: null } } },
          variants: [{ name: 'same', agents: listOf(made), people: 'wait', fresh: false }],
        },
      ];
    },
  ),
  turnKey: takes(agents.turnKey, ['t', 0]),
};

export const CEDAR: Readonly<Record<string, Case | Exempt>> = {
  cedarPolicy: takes(
    (options) => cedar.cedarPolicy(options),
    [
      {
        policies: 'permit(principal, action, resource);',
        schema: `entity Role; entity Principal in [Role]; entity Trajectory;
        action spend appliesTo { principal: [Principal], resource: [Trajectory], context: { role: String } };`,
        id: 'p',
      },
    ],
  ),
};

const READ = 'read by a schema of this folder that refuses what is wrong with it';
const RECORDS = {
  '0.users': READ,
  '0.flights': READ,
  '0.reservations': READ,
  '0.runs': READ,
  '0.expected': READ,
};
const SHOP_RECORDS = {
  '0.users': READ,
  '0.products': READ,
  '0.orders': READ,
  '0.runs': READ,
  '0.expected': READ,
};
const shopRecords = () => retailRecordsOf(smallShop());

/** Its code is that of the caller's domain. */
const BENCHMARK = Object.fromEntries(
  Object.keys(airlineBenchmark).map((name) => [`0.${name}`, PORT]),
);

const job = (): any => ({
  store: new MemoryStore(),
  runs: [recorded()],
  mode: 'policy',
  escalations: 'reject',
  keys: keysOf(1),
  expected: [],
});

const KEPT = 'a part of a state that the schema of its domain keeps sound';

const recorded = (): any => ({ task_id: 1, trial: 0, model: 'm', calls: [], outputs: new Map() });

export const DOMAINS: Readonly<Record<string, Case | Exempt>> = {
  domains: none,
  domainsWithoutInvariants: none,
  airlineInitial: takes(
    airlineInitial as never,
    () => {
      const { users, flights, reservations } = smallWorld();
      return [{ users, flights, reservations }, '2024-05-15T15:00:00'];
    },
    RECORDS,
  ),
  configuration: exempt(MADE),
  canBegin: exempt(MADE),
  coveredCalls: exempt(MADE),
  standingMaximum: exempt(MADE),
  callIdOf: takes(callIdOf as never, () => [
    { server: 'bank', tool: 'pay', args: { cents: 1 } },
    { agent: 'ada', at: '2026-03-01T09:00:00.000000Z' },
  ]),
  rulesInForce: exempt(MADE),
  callDigest: takes(callDigest as never, () => [{ args: { cents: 1 } }]),
  definitionHash: takes(definitionHash as never, () => [
    { name: 'run', inputSchema: { type: 'object' } },
  ]),
  faultText: exempt(MADE),
  gateway: exempt(MADE),
  gatewayUnder: exempt(MADE),
  isApprover: takes(isApprover, ['manager:ann']),
  isConfigured: exempt(MADE),
  isTidyForEver: exempt(MADE),
  isToBegin: exempt(MADE),
  needsTidy: exempt(MADE),
  openCalls: exempt(MADE),
  openRows: exempt(MADE),
  isAlwaysDenied: exempt(MADE),
  isResponder: takes(isResponder, ['human:ida']),
  stepText: exempt(MADE),
  enforcing: exempt(MADE),
  observationOf: exempt(MADE),
  fileText: exempt(MADE),
  ruleLine: exempt(MADE),
  observingText: exempt(MADE),
  pinnedTools: exempt(MADE),
  readCases: takes(readCases as never, ['cases: []', 'assize.cases.yaml']),
  readRules: takes(readRules as never, ['id: a', 'assize.yaml']),
  readTrial: takes(readTrial as never, [
    'id: a\nmode: observe\nuntil: 2030-01-01',
    'assize.trial.yaml',
  ]),
  rulesStatus: exempt(MADE),
  trialFileOf: takes(trialFileOf as never, ['assize.yaml']),
  rulesDigest: exempt(MADE),
  rulesIn: takes(rulesIn as never, ['[a] it asks']),
  rulesPolicy: exempt(MADE),
  undoCallOf: exempt(MADE),
  uncoveredTerms: exempt(MADE),
  waitingCalls: exempt(MADE),
  runCases: exempt(MADE),
  warningsOf: exempt(MADE),
  udtInitial: takes(udtInitial as never, [{}]),
  moderationInitial: takes(moderationInitial as never, [MODERATION_POLICY], {
    '0.ladder': KEPT,
    '0.term_days': KEPT,
  }),
  verificationInitial: takes(verificationInitial as never, [{ ada: 1 }]),
  coverageOn: takes(
    coverageOn,
    () => {
      const dana = {
        program_phase: 'intake',
        enrolled_at: '2026-01-01',
        last_positive: null,
        as_of: '2026-01-01',
      };
      const patients = { dana: { ...dana, consecutive_days: 0, tier: '0-30' } };
      return [
        { ...udtInitial(), patients, events: { dana: 0 } },
        { patient: 'dana', day: '2026-01-02', known: 0 },
      ];
    },
    { '0.coverage': KEPT, '0.events': KEPT, '0.patients': KEPT, '0.tests': KEPT, '0.claims': KEPT },
  ),
  disclosureInitial: takes(disclosureInitial as never, [DISCLOSURE_SETTINGS]),
  commitmentOf: takes(commitmentOf as never, [
    { vulnerability: 'v', artifact: 'report', salt: 's', digest: '0'.repeat(64) },
  ]),
  adjudicateDisclosure: takes(
    adjudicateDisclosure,
    () => [{ store: new MemoryStore(), advisories: [], keys: keysOf(1) }],
    { '0.advisories': READ },
  ),
  adjudicateAirline: takes(
    adjudicateAirline,
    () => {
      const { users, flights, reservations } = smallWorld();
      return [{ users, flights, reservations, ...job() }];
    },
    RECORDS,
  ),
  adjudicateRecorded: takes(
    adjudicateRecorded as never,
    () => {
      const { users, flights, reservations } = smallWorld();
      return [{ ...airlineBenchmark }, { users, flights, reservations }, job()];
    },
    { ...BENCHMARK, 1: READ, '2.runs': READ, '2.expected': READ },
  ),
  adjudicateRetail: takes(
    adjudicateRetail as never,
    () => [{ ...shopRecords(), ...job() }],
    SHOP_RECORDS,
  ),
  retailInitial: takes(retailInitial as never, () => [shopRecords()], SHOP_RECORDS),
  retailRecordsOf: exempt('takes a state of the domain; its schema has refused anything else'),
  withoutPolicy: takes(withoutPolicy as never, () => [airlineBenchmark.domain], { 0: PORT }),
  'new RecordTexts': exempt('of the adjudicator of the benchmark'),
  'RecordTexts.hash': exempt('of the adjudicator of the benchmark'),
  'RecordTexts.changed': exempt('of the adjudicator of the benchmark'),
  byCause: takes(byCause as never, [[{ invariant_id: 'ID' }, { reason: 'conflict' }]]),
  finished: takes(finished as never, () => [{ store: new MemoryStore() }, 0]),
  runKey: takes(runKey as never, [{ task_id: 1, trial: 0 }]),
};

export const WITNESS: Readonly<Record<string, Case | Exempt>> = {
  'new WitnessFile': takes(
    (path) => new witness.WitnessFile(path).close(),
    [join(folder, 'new.db')],
    { 0: PATH },
  ),
  'WitnessFile.recorded': takes((origin) => file().recorded(origin), [ORIGIN]),
  'WitnessFile.record': takes(
    (origin, record, note) => file().record(origin, record, note),
    [ORIGIN, { size: 1n, root: new Uint8Array(32) }, 'note'],
  ),
  'WitnessFile.notes': none,
  'WitnessFile.atomically': exempt(PORT),
  'WitnessFile.close': none,
  witnessServer: takes(
    (options) => witness.witnessServer(options),
    () => [{ logs: [known], signer: { ...WITNESSES[0] }, file: file(), now: () => 1 }],
  ),
};

let lasting: witness.WitnessFile | undefined;
function file(): witness.WitnessFile {
  lasting ??= new witness.WitnessFile(join(folder, 'witness.db'));
  return lasting;
}

const rows = testing.chainOf('t', 2);
const [row] = rows;

export const TESTING: Readonly<Record<string, Case | Exempt>> = {
  batchOf: takes(testing.batchOf, [rows, []]),
  blobOf: takes(testing.blobOf, ['x']),
  chainOf: takes(testing.chainOf, ['t', 2, 'n']),
  checkDomain: takes(testing.checkDomain as never, () => [
    deskOf(),
    {
      seed: 1,
      runs: 1,
      states: [deskOf().initial],
      roles: { filer: [{ box: 'a' }] },
      counselors: { md: 'dr-who' },
      at: START,
    },
  ]),
  walkLifeCycle: takes(
    testing.walkLifeCycle as never,
    () => [
      {
        ...{ domain: budget, initial: { cap: 10, spent: {} }, at: START, depth: 1, statesMax: 2 },
        proposals: () => [],
        allowed: () => undefined,
        counselors: { treasurer: ['treasurer:ada'] },
      },
      (reached: readonly unknown[]) => reached,
    ],
    { '0.proposals': PORT, '0.allowed': PORT, 1: PORT },
  ),
  domainWithout: takes(testing.domainWithout as never, () => [budget, 'BUDGET_CAP']),
  checkHistory: takes(testing.checkHistory, [
    [
      {
        operation: 'append',
        client: 'c',
        invoked: 0,
        returned: 1,
        result: 'committed',
        ids: [row?.id],
      },
    ],
    [row],
  ]),
  entryAfter: takes(testing.entryAfter, [row, 't', 'n']),
  entryAt: takes(testing.entryAt, ['t', 1, row?.id, 'n']),
  effectStoreSuite: exempt(SUITE),
  factStoreSuite: exempt(SUITE),
  faultAt: takes(testing.faultAt, [1, { kind: 'fails' }, 'commit']),
  faultyStore: takes(testing.faultyStore, () => [new MemoryStore(), () => undefined], {
    0: PORT,
    1: PORT,
  }),
  ledgerStoreSuite: exempt(SUITE),
  logStoreSuite: exempt(SUITE),
  oracleStoreSuite: exempt(SUITE),
  sharedEffectStoreSuite: exempt(SUITE),
  sideStoreSuite: exempt(SUITE),
  snapshotStoreSuite: exempt(SUITE),
  seededDelays: takes(testing.seededDelays, [{ seed: 1, turnsMax: 3, overtaking: true }]),
  seededFaults: takes(testing.seededFaults, [
    { seed: 1, perMille: 10, faults: [{ kind: 'fails' }] },
  ]),
};
