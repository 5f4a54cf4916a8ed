/**
 * The story of Agentic Redux §3.1 on a real ledger: David, a relapse, and a claim that looks
 * covered to a reader without that knowledge. All output except the headings of the days comes from
 * the rulings and the ledger.
 */
import { existsSync } from 'node:fs';
import { issueWrit, type Writ, writId } from '#authority';
import { isAssizeError, withoutPassword } from '#base';
import { addMicros, generateKeys } from '#canon';
import { type UdtActions, type UdtState, udt } from '#domains/udt';
import type { LedgerReader } from '#ledger';
import { type LedgerStore, Replayer, readRow, type VerifyReport, verifyTrajectory } from '#ledger';
import { Assize, type Ruling, type Trajectory } from '#runtime';
import { openStore } from '#stores';
import { CliError } from '../errors.ts';
import { anchorsPath, readAnchors, writeAnchors } from '../store/anchors.ts';
import { shortId } from '../store/entries.ts';
import { bold, green, type Printable, red, yellow } from '../terminal/printable.ts';
import { visible, visibleJson } from '../terminal/visible.ts';

/** Default path of the demo's ledger. */
export const DEMO_STORE = 'sqlite:./assize-demo.db';

export interface DemoOptions {
  /**
   * A store's URL. A store of an earlier demo gets a further trajectory, and its content is
   * unchanged.
   */
  readonly store: string;
  /** Whether to print one JSON document instead of the story. */
  readonly json: boolean;
  readonly out: (line: string) => void;
}

/** One proposal, or the doctor's approval, with its outcome. */
export interface DemoStep {
  readonly seq: number;
  readonly entry_id: string;
  readonly at: string;
  readonly principal: string;
  readonly role: string;
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly ruling: Ruling['ruling'];
  readonly invariant_id?: string;
  readonly detail?: string;
  /** The seq of the pending entry that the approval resolves. */
  readonly resolves?: number;
  /** Whether the ruling matches the story. */
  readonly as_told: boolean;
}

export interface DemoReport {
  /** Whether every ruling matches the story, the ledger verifies, and its changed copy does not. */
  readonly ok: boolean;
  readonly store: string;
  readonly trajectory_id: string;
  readonly domain: { readonly name: string; readonly version: string; readonly hash: string };
  readonly anchor: string;
  readonly agents: readonly { readonly principal: string; readonly role: string; readonly writ_id: string }[];
  readonly steps: readonly DemoStep[];
  readonly verification: VerifyReport;
  /** The verification result of a copy in which one entry was changed. */
  readonly changed_copy: VerifyReport;
  readonly commands: readonly string[];
}

/**
 * Runs the story. The store is opened, and always closed.
 *
 * @throws StoreError, CliError for a store or an anchors file that is unusable, or does not belong
 * to the demo; nothing was printed or changed then
 */
export async function runDemo({ store: url, json, out }: DemoOptions): Promise<DemoReport> {
  await requireDemosOwn(url);
  const store = await openStore(url);
  try {
    const tell = json ? () => {} : out;
    const cast = await begin(store, url);
    tellBeginning(tell, cast, url);
    const steps = await play(cast, tell);
    const verification = await verifyTrajectory(new Replayer(store), cast.trajectory.id);
    const refused = steps.find(({ invariant_id }) => invariant_id === 'CLAIM_TIER_CURRENT');
    const changed_copy = await verifyChanged(store, cast.trajectory.id, refused?.seq ?? 0);
    const report: DemoReport = {
      ok: steps.every(({ as_told }) => as_told) && verification.valid && !changed_copy.valid,
      store: withoutPassword(url),
      trajectory_id: cast.trajectory.id,
      domain: { name: udt.name, version: udt.version, hash: udt.hash },
      anchor: cast.anchor,
      agents: ROLES.map((role) => ({ principal: PRINCIPALS[role], role, writ_id: writId(cast.writs[role]) })),
      steps,
      verification,
      changed_copy,
      commands: commandsFor(url, cast.trajectory.id, refused?.entry_id ?? cast.trajectory.head),
    };
    if (json) out(visibleJson(report));
    else tellEnd(tell, report, withoutPassword(url) !== url);
    return report;
  } finally {
    await store.close();
  }
}

// ── where it is told ──

/**
 * Checks that the demo created the store, because the key of its story would count in a production
 * store. Runs before a store is opened for writing, or created next to an anchors file.
 *
 * @throws StoreError, CliError
 */
async function requireDemosOwn(url: string): Promise<void> {
  const anchors = readAnchors(url);
  const told = await toldIn(url);
  if (told.other !== undefined)
    throw new CliError(
      'usage',
      `The store ${withoutPassword(url)} has the trajectory ${told.other}, which the demo did not create. Pass another --store, or omit it.`,
    );
  const path = anchorsPath(url);
  if (path !== undefined && existsSync(path) && !(told.keys.size > 0 && anchors.every((key) => told.keys.has(key))))
    throw new CliError(
      'usage',
      `The file ${path} has root keys that the demo did not create. Pass another --store, or omit it.`,
    );
}

/** The keys of the stories in a store, and a trajectory that is not a story. */
async function toldIn(url: string): Promise<{ readonly keys: ReadonlySet<string>; readonly other?: string }> {
  const keys = new Set<string>();
  if (url === 'memory:') return { keys };
  const store = await openStore(url, { mode: 'readonly' }).catch((error: unknown) => {
    if (isAssizeError(error, 'store_not_found')) return undefined;
    throw error;
  });
  if (store === undefined) return { keys };
  try {
    for (const { trajectory_id } of await store.trajectories()) {
      const [root] = await store.entries(trajectory_id, { limit: 1 });
      const payload = root && readRow(root).payload;
      if (payload?.kind !== 'root' || payload.note !== NOTE) return { keys, other: trajectory_id };
      for (const writ of payload.writs) keys.add(String((writ as { readonly issuer?: unknown }).issuer));
    }
    return { keys };
  } finally {
    await store.close();
  }
}

// ── the participants ──

const ROLES = ['LabOrder', 'Billing', 'Clinical'] as const;
type Role = (typeof ROLES)[number];

const PRINCIPALS: Readonly<Record<Role, string>> = {
  LabOrder: 'agent:lab',
  Billing: 'agent:billing',
  Clinical: 'agent:clinical',
};
const SEES: Readonly<Record<Role, string>> = {
  LabOrder: 'the orders and their reasons',
  Billing: 'the claims; no test, no tier',
  Clinical: 'tests, results, the abstinence tier',
};
/** Marks a trajectory as a story of the demo. */
const NOTE = 'seed 000 §3.1';
const DOCTOR = 'md:okafor';
const PATIENT = 'david';

interface Cast {
  readonly trajectory: Trajectory;
  readonly anchor: string;
  readonly writs: Readonly<Record<Role, Writ>>;
  /**
   * The story's own clock: nine o'clock in Arizona on the current day of the story, plus a minute
   * for each step.
   */
  readonly clock: { at: string };
}

async function begin(store: LedgerStore, url: string): Promise<Cast> {
  // The private key is used here and never stored, so it signs only these writs.
  const { publicKey: anchor, privateKey } = generateKeys();
  const writOf = (role: Role): Writ =>
    issueWrit(
      {
        issuer: anchor,
        subject: PRINCIPALS[role],
        actions: actionsOf(role),
        scopes: [`role:${role}:${PATIENT}`],
        not_before: nineOClock(ENROLLED),
        expires: nineOClock('2027-01-01'),
        max_depth: 0,
        nonce: role,
      },
      privateKey,
    );
  const writs = { LabOrder: writOf('LabOrder'), Billing: writOf('Billing'), Clinical: writOf('Clinical') };
  const clock = { at: nineOClock(ENROLLED) };
  const assize = new Assize({
    store,
    domains: [udt],
    anchors: [anchor],
    ports: { clock: { now: () => clock.at } },
    maxClockAheadMs: 'unlimited',
  });
  const trajectoryId = await freeName(store);
  const trajectory = await assize.create(udt, { trajectoryId, writs: Object.values(writs), note: NOTE });
  // Appended last: a further run recognises the demo's file by this trajectory.
  writeAnchors(url, [anchor]);
  return { trajectory, anchor, writs, clock };
}

/** A short trajectory name: `david-1`, or the next number after earlier runs. */
async function freeName(store: LedgerStore): Promise<string> {
  const taken = new Set((await store.trajectories()).map(({ trajectory_id }) => trajectory_id));
  let n = 1;
  while (taken.has(`${PATIENT}-${n}`)) n++;
  return `${PATIENT}-${n}`;
}

function actionsOf(role: Role): string[] {
  const processes = udt.roles[role]?.processes ?? [];
  return Object.entries(udt.actions).flatMap(([name, { process }]) => (processes.includes(process) ? [name] : []));
}

// ── what happens ──

type Proposal = {
  readonly [Name in keyof UdtActions]: {
    readonly role: Role;
    readonly action: Name;
    readonly args: UdtActions[Name];
    /** The ruling, or the deciding invariant. */
    readonly becomes: string;
    /** Printed before the proposal. */
    readonly note?: (trajectory: Trajectory) => string;
  };
}[keyof UdtActions];

interface Scene {
  readonly day: string;
  readonly heading: string;
  readonly steps: readonly (Proposal | 'approval')[];
}

const ENROLLED = '2025-12-01';
const COMMITTED = 'committed';

const SCENES: readonly Scene[] = [
  {
    day: ENROLLED,
    heading: 'David enrolls. Until there is a positive test, his days of abstinence count from here.',
    steps: [
      {
        role: 'Clinical',
        action: 'enroll',
        args: { program_phase: 'maintenance', enrolled_at: ENROLLED },
        becomes: COMMITTED,
      },
    ],
  },
  {
    day: '2026-03-23',
    heading: 'Day 112, tier 90+: 3 definitive tests in 90 days are covered.',
    steps: [
      ...sampleOf('d1', 'definitive', 'monitoring', '2026-03-23'),
      { role: 'Clinical', action: 'record_result', args: { test: 'd1', result: 'negative' }, becomes: COMMITTED },
      claimOf('c1', 'd1', '2026-03-23', '90+', COMMITTED),
    ],
  },
  {
    day: '2026-03-26',
    heading: 'A presumptive test detects opioids: tier 0-30, 1 definitive test in 7 days is covered.',
    steps: [
      ...sampleOf('p1', 'presumptive', 'monitoring', '2026-03-26'),
      { role: 'Clinical', action: 'record_result', args: { test: 'p1', result: 'positive' }, becomes: COMMITTED },
      {
        role: 'Clinical',
        action: 'respond_to_relapse',
        args: { relapse: 'r1', test: 'p1', response: 'counselling twice a week' },
        becomes: 'RELAPSE_RESPONSE_IS_HUMAN',
      },
      {
        role: 'LabOrder',
        action: 'order_test',
        args: { order: 'd2', type: 'definitive', rationale: 'confirm p1', confirms: 'p1' },
        becomes: COMMITTED,
        note: () => 'A proposal that does not overlap the pending one is adjudicated immediately:',
      },
      'approval',
      {
        role: 'Clinical',
        action: 'collect_sample',
        args: { test: 'd2', collected_at: '2026-03-26' },
        becomes: COMMITTED,
      },
      { ...claimOf('c2', 'd2', '2026-03-26', '90+', 'CLAIM_TIER_CURRENT'), note: seenByBilling },
      claimOf('c2', 'd2', '2026-03-26', '0-30', 'DEFINITIVE_WINDOW'),
    ],
  },
  {
    day: '2026-03-29',
    heading: 'Six days after the covered test: still refused.',
    steps: [
      ...sampleOf('d3', 'definitive', 'still unconfirmed', '2026-03-29'),
      claimOf('c2', 'd3', '2026-03-29', '0-30', 'DEFINITIVE_WINDOW'),
    ],
  },
  {
    day: '2026-03-30',
    heading: 'Seven days after it: covered.',
    steps: [
      ...sampleOf('d4', 'definitive', 'still unconfirmed', '2026-03-30'),
      claimOf('c2', 'd4', '2026-03-30', '0-30', COMMITTED),
    ],
  },
];

function sampleOf(test: string, type: 'presumptive' | 'definitive', rationale: string, day: string): Proposal[] {
  return [
    { role: 'LabOrder', action: 'order_test', args: { order: test, type, rationale }, becomes: COMMITTED },
    { role: 'Clinical', action: 'collect_sample', args: { test, collected_at: day }, becomes: COMMITTED },
  ];
}

function claimOf(
  claim: string,
  test: string,
  date: string,
  tier: UdtActions['submit_claim']['tier'],
  becomes: string,
): Proposal {
  return { role: 'Billing', action: 'submit_claim', args: { claim, test, date, tier }, becomes };
}

function seenByBilling(trajectory: Trajectory): string {
  const { claims } = trajectory.slice('Billing', { patient: PATIENT }) as Pick<UdtState, 'claims'>;
  const seen = Object.entries(claims[PATIENT] ?? {}).map(([id, { test, tier }]) => `${id} for ${test} in tier ${tier}`);
  return `Billing sees only ${seen.join(', ')}, so that d2 looks like the second test of 3:`;
}

async function play(cast: Cast, tell: (line: string) => void): Promise<DemoStep[]> {
  const steps: DemoStep[] = [];
  for (const { day, heading, steps: todo } of SCENES) {
    cast.clock.at = nineOClock(day);
    tell('');
    tell(bold(`${day}  ${heading}`).text);
    for (const next of todo) {
      cast.clock.at = addMicros(cast.clock.at, 60_000_000);
      if (next !== 'approval' && next.note !== undefined) tell(`     ${next.note(cast.trajectory)}`);
      const step = next === 'approval' ? await approve(cast) : await propose(cast, next);
      steps.push(step);
      tellStep(tell, step);
    }
  }
  return steps;
}

async function propose({ trajectory, writs, clock }: Cast, proposal: Proposal): Promise<DemoStep> {
  const { role, action, args, becomes } = proposal;
  const ruling = await trajectory.propose({
    action,
    role: { name: role, params: { patient: PATIENT } },
    args,
    writ: writs[role],
  });
  return { ...stepOf(ruling, becomes, clock.at), principal: PRINCIPALS[role], role, action, args: { ...args } };
}

/** The doctor sees the pending proposal, and approves exactly that proposal. */
async function approve({ trajectory, clock }: Cast): Promise<DemoStep> {
  const [pending] = trajectory.approvals.pending();
  if (pending === undefined) throw new Error('The story has an approval, but no proposal is pending.');
  const { digest, seq, channel } = pending.payload;
  const ruling = await trajectory.approvals.approve(pending.id, { principal: DOCTOR, method: 'demo', digest });
  const step = stepOf(ruling, COMMITTED, clock.at);
  return { ...step, principal: DOCTOR, role: channel, action: 'approve', args: { digest }, resolves: seq };
}

function stepOf(ruling: Ruling, becomes: string, at: string) {
  if (ruling.ruling === 'frozen') throw new Error(`The story cannot continue: ${ruling.detail}`);
  const { id: entry_id, seq } = ruling.entry;
  const found = { seq, entry_id, at, ruling: ruling.ruling };
  if (ruling.ruling === 'committed') return { ...found, as_told: becomes === COMMITTED };
  const { detail, invariantId } = ruling;
  const decided = invariantId === undefined ? {} : { invariant_id: invariantId };
  return { ...found, ...decided, detail, as_told: becomes === invariantId };
}

/**
 * The verification result of a copy of the ledger in which one refusal was changed into a commit.
 */
function verifyChanged(store: LedgerStore, trajectoryId: string, seq: number): Promise<VerifyReport> {
  const copy: LedgerReader = {
    entries: async (...asked) =>
      (await store.entries(...asked)).map((row) =>
        row.seq === seq ? { ...row, payload: row.payload.replace('"kind":"rejection"', '"kind":"commit"') } : row,
      ),
    resolve: (id) => store.resolve(id),
    blob: (hash) => store.blob(hash),
    erasedBy: (hash) => store.erasedBy(hash),
  };
  return verifyTrajectory(new Replayer(copy), trajectoryId);
}

function nineOClock(day: string): string {
  // Arizona is seven hours behind UTC, all year.
  return `${day}T16:00:00.000000Z`;
}

// ── how it is told ──

function tellBeginning(tell: (line: string) => void, { trajectory }: Cast, url: string): void {
  tell(bold("Is David's second drug test covered?").text);
  tell(
    'The case is from section 3.1 of the paper that Assize is built on: A. Sterling, Provably Auditable and Safe LLM',
  );
  tell('Agents from Human-Authored Ontologies (2026). The ledger calls it seed 000.');
  tell('Three agents propose, and each sees a part of his record. A kernel adjudicates every proposal on the whole');
  tell('record, by fixed rules in a fixed order. Every ruling becomes an entry of a hash-chained ledger. A committed');
  tell(`claim is covered. Store ${visible(withoutPassword(url))}, trajectory ${trajectory.id}.`);
  for (const role of ROLES) tell(`  ${PRINCIPALS[role].padEnd(15)}${role.padEnd(10)}sees ${SEES[role]}`);
}

const PAINT: Readonly<Record<Ruling['ruling'], (text: string) => Printable>> = {
  committed: green,
  rejected: red,
  escalated: yellow,
  frozen: yellow,
};

function tellStep(tell: (line: string) => void, step: DemoStep): void {
  const { seq, principal, role, action, args, ruling, invariant_id, detail, resolves, as_told } = step;
  const what = resolves === undefined ? `${action} ${short(args)}` : `approves #${resolves}, which commits it`;
  const number = `#${seq}`.padStart(4);
  tell(`${number} ${PAINT[ruling](ruling.padEnd(10)).text} ${principal.padEnd(15)}${role.padEnd(9)} ${what}`);
  if (detail !== undefined) tell(`     ${bold(invariant_id ?? ruling).text} ${detail}`);
  if (!as_told) tell(red('     The story expects another ruling.').text);
}

/** Short arguments: `test=d2 tier=90+`, quoted if a value contains a space. */
function short(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}=${String(value).includes(' ') ? JSON.stringify(value) : value}`)
    .join(' ');
}

function tellEnd(
  tell: (line: string) => void,
  { ok, verification, changed_copy, commands }: DemoReport,
  needsPassword: boolean,
): void {
  const { entries, head, valid, fault } = verification;
  tell('');
  tell(bold('The ledger').text);
  tell(
    valid
      ? `${green('verified').text}: ${entries} entries replayed from the first; all ids, all links and the state are valid.`
      : `${red('does not verify').text}: seq ${fault?.seq}: ${fault?.detail}`,
  );
  tell("An entry's id is the SHA-256 of its content and of the id before it. The last id,");
  tell(`${head},`);
  tell('reveals every change, removal or reordering of earlier entries. In a copy in which the first refusal was');
  tell(`changed into a commit, verify finds: seq ${changed_copy.fault?.seq}: ${changed_copy.fault?.detail}.`);
  tell('No model took part in a ruling, and the verification needs no model.');
  tell('');
  tell(bold('Look closer').text);
  if (commands.length === 0)
    tell('  This store was in memory and is discarded. Pass --store sqlite:./file.db to keep it.');
  for (const command of commands) tell(`  ${command}`);
  if (needsPassword) tell('  The commands read the password of the store from PGPASSWORD.');
  if (!ok) tell(red('A ruling differs from the story; see above.').text);
}

function commandsFor(url: string, trajectoryId: string, entryId: string): string[] {
  if (url === 'memory:') return [];
  const shown = withoutPassword(url);
  const store = `--store ${/^[\w:./@-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`}`;
  return [
    `npx assize log ${trajectoryId} ${store}`,
    `npx assize show ${shortId(entryId)} ${store}`,
    `npx assize state ${trajectoryId} ${store}`,
    `npx assize verify ${store}`,
    `npx assize pending ${store}`,
  ];
}
