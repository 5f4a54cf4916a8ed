/**
 * Vulnerability disclosure: a database of advisories as one portfolio, and one proposal in
 * portfolios of growing size.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys, openStore } from 'assize';
import { addMicros, contentHash } from '#canon';
import {
  commitmentOf,
  type DisclosureState,
  disclosure,
  disclosureInitial,
} from '#domains/disclosure';
import { type Authority, adjudicate, type Domain, initialState, World } from '#kernel';
import { adjudicateDisclosure, advisory } from '../examples/domains/disclosure/adjudicate.ts';
import { type BenchResult, formatTable, median, percentile } from './measure.ts';

const SMALL = 1_000;
const LARGE = 100_000;
const ROUNDS = 9;
const PER_ROUND = 4_096;
const PORTFOLIO_ROUNDS = 3;
const ADVISORIES = join(
  process.env['ASSIZE_DATA'] ?? join(import.meta.dirname, '../../shared/data'),
  'go-vulndb/advisories.jsonl',
);

export async function disclosureBench(): Promise<BenchResult[]> {
  return [...(existsSync(ADVISORIES) ? await portfolio() : []), ...oneProposal()];
}

/** From the records to the verified ledger on disk. */
async function portfolio(): Promise<BenchResult[]> {
  const lines = readFileSync(ADVISORIES, 'utf8').trim().split('\n');
  const advisories = lines.map((line) => advisory.parse(JSON.parse(line)));
  const seconds: number[] = [];
  for (let round = 0; round < PORTFOLIO_ROUNDS; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
    try {
      const store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
      const report = await adjudicateDisclosure({ store, advisories, keys: generateKeys() });
      await store.close();
      if (!report.verified) throw new Error('the ledger does not verify');
      seconds.push(report.seconds);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const name = `a portfolio of ${advisories.length} advisories, adjudicated and verified, durable`;
  return [{ name, value: median(seconds), unit: 's', goal: { max: 5 } }];
}

/**
 * Both worlds in alternation, so that disturbances affect both. The large one is used all over,
 * beyond the processor's caches, and also within the small one's range, to show the cost of size
 * alone.
 */
function oneProposal(): BenchResult[] {
  const large = worldOf(LARGE);
  const worlds = [
    {
      name: `${counted(SMALL)} vulnerabilities`,
      among: SMALL,
      world: worldOf(SMALL),
      micros: [] as number[],
    },
    {
      name: `${counted(LARGE)}, ${counted(SMALL)} worked on`,
      among: SMALL,
      world: large,
      micros: [],
    },
    { name: `${counted(LARGE)}, all worked on`, among: LARGE, world: large, micros: [] },
  ];
  let i = 0;
  for (let round = -2; round < ROUNDS; round++) {
    for (const { among, world, micros } of worlds) {
      for (let n = 0; n < PER_ROUND; n++, i++) {
        const intent = intentOf(i, among);
        const start = performance.now();
        const ruling = adjudicate(world, intent as never, ANYONE, { at: NOW, observations: [] });
        if (ruling.verdict !== 'approved') throw new Error(`unexpected: ${JSON.stringify(ruling)}`);
        ruling.undo();
        if (round >= 0) micros.push((performance.now() - start) * 1_000);
      }
    }
  }
  const [first, ...others] = worlds.map(({ name, micros }) => ({
    name: `one proposal among ${name}, p50`,
    value: percentile(micros, 50),
    unit: 'µs',
  })) as [BenchResult, ...BenchResult[]];
  return [
    first,
    ...others.flatMap((result) => [
      result,
      {
        name: `${result.name}, against 1,000`,
        value: result.value / first.value,
        unit: 'x',
        goal: { max: 2 },
      },
    ]),
  ];
}

function counted(n: number): string {
  return n.toLocaleString('en-US');
}

const ANYONE: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/**
 * Alternates between intents that are unique over the portfolio and intents that are counted by
 * maintainer.
 */
function intentOf(i: number, size: number): object {
  const n = (i * 7919) % size;
  const vulnerability = `v${n}`;
  const place = placeOf(n);
  if (n % 10 === 0) {
    return {
      action: 'submit_report',
      role: { name: 'ReporterCoordination', params: { ...place, vulnerability } },
      args: { digest: DIGEST },
    };
  }
  const agent = (kind: string) => ({ agent: `${kind}@${place.organisation}`, vulnerability });
  return n % 2 === 0
    ? {
        action: 'publish_commitment',
        role: { name: 'CommitmentManagement', params: agent('keeper') },
        args: { artifact: 'poc', hash: contentHash(i) },
      }
    : {
        action: 'observe_cve',
        role: { name: 'PatchTracking', params: agent('tracker') },
        args: { cve: `CVE-2027-${10_000_000 + i}`, source: 'assigned' },
      };
}

const NOW = '2090-01-01T00:00:00.000000Z';
const START = '2026-01-01T00:00:00.000000Z';
const DIGEST = contentHash('a report');
const PER_MAINTAINER = 50;
const HOUR = 3_600_000_000;

function placeOf(n: number): { organisation: string; maintainer: string } {
  const maintainer = Math.floor(n / PER_MAINTAINER);
  return { organisation: `org-${Math.floor(maintainer / 4)}`, maintainer: `m${maintainer}` };
}

function worldOf(size: number): World {
  const state = disclosureInitial();
  for (let n = 0; n < size; n++) addVulnerability(state, n);
  const domain = disclosure as unknown as Domain;
  const world = new World(domain, initialState(domain, state));
  if (world.failing.length > 0)
    throw new Error(`the world is broken: ${JSON.stringify(world.failing[0])}`);
  return world;
}

/**
 * Under embargo, with a patch, an identifier and a commitment; each tenth has only been discovered.
 */
function addVulnerability(state: DisclosureState, n: number): void {
  const v = `v${n}`;
  const { organisation, maintainer } = placeOf(n);
  state.vulnerabilities[v] = { organisation, maintainer, component: 'parser' };
  state.severities[v] = { initial: 'high', current: 'high', revisions: [] };
  const queue = member(member(state.queue, organisation, {}), maintainer, {});
  const reports = member(member(state.reports, organisation, {}), maintainer, []);
  for (const [kind, role] of [
    ['tracker', 'PatchTracking'],
    ['keeper', 'CommitmentManagement'],
  ] as const) {
    const empty = { organisation, vulnerabilities: {} };
    member(state.assignments, `${kind}@${organisation}`, empty).vulnerabilities[v] = {
      role,
      since: START,
    };
  }
  if (n % 10 === 0) {
    queue[v] = { phase: 'DISCOVERED', registered_at: START };
    state.cves[v] = { assigned: {} };
    return;
  }
  const at = addMicros(START, (n % PER_MAINTAINER) * 40 * HOUR);
  const deadline = addMicros(at, 90 * 24 * HOUR);
  queue[v] = {
    phase: 'EMBARGOED',
    registered_at: START,
    submitted: { at, n: reports.length, digest: DIGEST },
    receipt: { at, reference: 'ticket' },
    embargo: { regime: 'standard', days: 90, deadline, at, extensions: [] },
  };
  reports.push({ vulnerability: v, at, limit: 5 });
  state.cves[v] = { assigned: { [`CVE-2026-${10_000_000 + n}`]: { source: 'assigned', at } } };
  state.signals[v] = [{ kind: 'commit', reference: 'https://fix', at }];
  state.patches[v] = [
    { developed: { signal: 0, at }, review: { robust: true, note: 'closes it', at } },
  ];
  const opening = { vulnerability: v, artifact: 'report', salt: 'salt', digest: DIGEST } as const;
  state.commitments[v] = { [commitmentOf(opening)]: { artifact: 'report', at } };
}

function member<Row>(rows: Record<string, Row>, key: string, empty: NoInfer<Row>): Row {
  rows[key] ??= empty;
  return rows[key];
}

if (import.meta.main) console.log(formatTable(await disclosureBench()));
