/**
 * The story of Agentic Redux §3.1 on a real ledger: David, a relapse, and a claim that looks
 * covered to a reader without that knowledge. Then the covered claims are paid. All output except
 * the headings of the days comes from the rulings and the ledger.
 */

import { existsSync } from 'node:fs';
import {
  anchorsPath,
  bold,
  CliError,
  green,
  note,
  readAnchors,
  red,
  visible,
  visibleJson,
  whenEffectsFree,
  writeAnchors,
} from '@assize/command';
import { issueWrit, type Writ, writId } from 'assize/internal/authority';
import { isAssizeError, withoutPassword } from 'assize/internal/base';
import { addMicros, generateKeys } from 'assize/internal/canon';
import {
  type LedgerReader,
  type LedgerStore,
  Replayer,
  readRow,
  type VerifyReport,
  verifyTrajectory,
} from 'assize/internal/ledger';
import { Assize, type Trajectory, verifyStore } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { counted, shortId } from 'assize/internal/views';
import { type UdtState, udt } from '../domains/udt/index.ts';
import {
  beginPayments,
  comparePayments,
  PAYER,
  PAYMENTS_NOTE,
  type PaymentStage,
  type PaymentStep,
  type PaymentTotals,
  payClaims,
  tellTotals,
} from './demo-pay-claims.ts';
import { Bank, bankPay, demoPayments } from './demo-payments.ts';
import {
  actionsOf,
  DOCTOR,
  ENROLLED,
  PATIENT,
  PRINCIPALS,
  type Proposal,
  ROLES,
  type Role,
  SCENES,
} from './demo-scenes.ts';
import { COMMITTED, type DemoStep, nineOClock, stepOf, tellStep } from './demo-steps.ts';

/** Default path of the demo's ledger. */
export const DEMO_STORE = 'sqlite:./assize-demo.db';

export interface DemoOptions {
  /**
   * A store's URL. A store of an earlier demo gets further trajectories, and its content is
   * unchanged.
   */
  readonly store: string;
  /** Whether to print one JSON document instead of the story. */
  readonly json: boolean;
  readonly out: (line: string) => void;
  /** Stops the wait for another process that runs the effects of the store. */
  readonly interruption: AbortSignal;
}

/** One trajectory of the demo. */
interface ActReport {
  readonly trajectory_id: string;
  readonly domain: { readonly name: string; readonly version: string; readonly hash: string };
  readonly agents: readonly {
    readonly principal: string;
    readonly role: string;
    readonly writ_id: string;
  }[];
  readonly verification: VerifyReport;
}

export interface DemoReport extends ActReport {
  /**
   * Whether every ruling matches the story, the bank has paid what the ledger records, the ledger
   * verifies, and its changed copy does not.
   */
  readonly ok: boolean;
  readonly store: string;
  readonly anchor: string;
  readonly steps: readonly DemoStep[];
  /** The second act: the covered claims are paid. */
  readonly payments: ActReport & {
    readonly steps: readonly PaymentStep[];
    readonly totals: PaymentTotals;
  };
  /** The verification result of a copy in which one entry was changed. */
  readonly changed_copy: VerifyReport;
  readonly commands: readonly string[];
}

/**
 * Runs the story. The store is opened, and always closed.
 *
 * @throws StoreError, CliError for a store or an anchors file that is unusable, or does not belong
 * to the demo, or for a store whose effects another process runs; nothing was printed or changed
 * then. The reason of `interruption`
 */
export async function runDemo({
  store: url,
  json,
  out,
  interruption,
}: DemoOptions): Promise<DemoReport> {
  await requireDemosOwn(url);
  const store = await openStore(url);
  try {
    const stage = stageOver(store);
    try {
      // Makes the payments of a demo that was killed. They do not count in this demo.
      await whenEffectsFree(interruption, EFFECTS_WAIT_S, (signal) =>
        stage.assize.recoverEffects(signal),
      );
      stage.bank.forget();
      return await tellStory(stage, url, json, out);
    } finally {
      await stage.assize.close();
    }
  } finally {
    await store.close();
  }
}

async function tellStory(
  stage: Stage,
  url: string,
  json: boolean,
  out: DemoOptions['out'],
): Promise<DemoReport> {
  const { store } = stage;
  const tell = json ? () => {} : out;
  const n = await freeNumber(store);
  const cast = await begin(stage, n, url);
  tellBeginning(tell, cast, url);
  const steps = await play(cast, tell);
  const { claims } = cast.trajectory.state() as unknown as UdtState;
  const payers = await beginPayments(stage, `payments-${n}`, claims[PATIENT] ?? {});
  const paid = await payClaims(payers, tell);
  const totals = await comparePayments(payers);
  tellTotals(tell, totals);
  const verification = await verify(store, cast.trajectory.id);
  const verifiedPayments = await verify(store, payers.trajectory.id);
  const refused = steps.find(({ invariant_id }) => invariant_id === 'CLAIM_TIER_CURRENT');
  const changed_copy = await verifyChanged(store, cast.trajectory.id, refused?.seq ?? 0);
  const isAsTold = [...steps, ...paid].every(({ as_told }) => as_told);
  const isValid = verification.valid && verifiedPayments.valid;
  const report: DemoReport = {
    ok: isAsTold && totals.equal && isValid && !changed_copy.valid,
    store: withoutPassword(url),
    trajectory_id: cast.trajectory.id,
    domain: refOf(udt),
    anchor: stage.anchor,
    agents: ROLES.map((role) => ({
      principal: PRINCIPALS[role],
      role,
      writ_id: writId(cast.writs[role]),
    })),
    steps,
    verification,
    payments: {
      trajectory_id: payers.trajectory.id,
      domain: refOf(demoPayments),
      agents: [{ ...PAYER, writ_id: writId(payers.writ) }],
      steps: paid,
      totals,
      verification: verifiedPayments,
    },
    changed_copy,
    commands: commandsFor(
      url,
      cast.trajectory.id,
      refused?.entry_id ?? cast.trajectory.head,
      payers.trajectory.id,
    ),
  };
  if (json) out(visibleJson(report));
  else tellEnd(tell, report, withoutPassword(url) !== url);
  return report;
}

/** Entries, state and effect log of a trajectory. */
async function verify(store: LedgerStore, trajectoryId: string): Promise<VerifyReport> {
  const [report] = await verifyStore(store, { trajectoryIds: [trajectoryId] });
  return report!;
}

function refOf({ name, version, hash }: ActReport['domain']): ActReport['domain'] {
  return { name, version, hash };
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
  if (
    path !== undefined &&
    existsSync(path) &&
    !(told.keys.size > 0 && anchors.every((key) => told.keys.has(key)))
  )
    throw new CliError(
      'usage',
      `The file ${path} has root keys that the demo did not create. Pass another --store, or omit it.`,
    );
}

/** The keys of the stories in a store, and a trajectory that is not a story. */
async function toldIn(
  url: string,
): Promise<{ readonly keys: ReadonlySet<string>; readonly other?: string }> {
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
      if (payload?.kind !== 'root' || !NOTES.has(payload.note ?? ''))
        return { keys, other: trajectory_id };
      for (const writ of payload.writs)
        keys.add(String((writ as { readonly issuer?: unknown }).issuer));
    }
    return { keys };
  } finally {
    await store.close();
  }
}

// ── the participants ──

const SEES: Readonly<Record<Role, string>> = {
  LabOrder: 'the orders and their reasons',
  Billing: 'the claims; no test, no tier',
  Clinical: 'tests, results, the abstinence tier',
};
/** Marks a trajectory as the first act of the demo. */
const NOTE = 'seed 000 §3.1';
const NOTES: ReadonlySet<string> = new Set([NOTE, PAYMENTS_NOTE]);
/** Seconds to wait for another process that runs the effects of the store. */
const EFFECTS_WAIT_S = 10;

/**
 * The parts that both acts share. The clock is the story's own: nine o'clock in Arizona on the
 * current day of the story, plus a minute for each step.
 */
interface Stage extends PaymentStage {
  /** The root key of the writs. The private key is never stored, so it signs only these writs. */
  readonly anchor: string;
}

interface Cast extends Pick<Stage, 'clock'> {
  readonly trajectory: Trajectory;
  readonly writs: Readonly<Record<Role, Writ>>;
}

function stageOver(store: LedgerStore): Stage {
  const { publicKey: anchor, privateKey } = generateKeys();
  const clock = { at: nineOClock(ENROLLED) };
  const bank = new Bank();
  const assize = new Assize({
    store,
    domains: [udt, demoPayments],
    anchors: [anchor],
    tools: [bankPay(bank)],
    ports: { clock: { now: () => clock.at } },
    maxClockAheadMs: 'unlimited',
    // The key ends with the story: the next demo reports and makes a payment of a killed one.
    effects: { onRecoveryFailed: ({ message }) => note(message) },
  });
  const period = { not_before: nineOClock(ENROLLED), expires: nineOClock('2027-01-01') };
  const issue: Stage['issue'] = (terms) =>
    issueWrit({ issuer: anchor, ...terms, ...period, max_depth: 0 }, privateKey);
  return { store, assize, bank, anchor, issue, clock };
}

async function begin(
  { assize, anchor, issue, clock }: Stage,
  n: number,
  url: string,
): Promise<Cast> {
  const writOf = (role: Role): Writ =>
    issue({
      subject: PRINCIPALS[role],
      actions: actionsOf(role),
      scopes: [`role:${role}:${PATIENT}`],
      nonce: role,
    });
  const writs = {
    LabOrder: writOf('LabOrder'),
    Billing: writOf('Billing'),
    Clinical: writOf('Clinical'),
  };
  const trajectoryId = `${PATIENT}-${n}`;
  const trajectory = await assize.create(udt, {
    trajectoryId,
    writs: Object.values(writs),
    note: NOTE,
  });
  // Appended last: a further run recognises the demo's file by this trajectory.
  writeAnchors(url, [anchor]);
  return { trajectory, writs, clock };
}

/** For short trajectory names: 1, or the next number after earlier runs. */
async function freeNumber(store: LedgerStore): Promise<number> {
  const taken = new Set((await store.trajectories()).map(({ trajectory_id }) => trajectory_id));
  let n = 1;
  while (taken.has(`${PATIENT}-${n}`) || taken.has(`payments-${n}`)) n++;
  return n;
}

// ── what happens ──

async function play(cast: Cast, tell: (line: string) => void): Promise<DemoStep[]> {
  const steps: DemoStep[] = [];
  for (const { day, heading, steps: todo } of SCENES) {
    cast.clock.at = nineOClock(day);
    tell('');
    tell(bold(`${day}  ${heading}`).text);
    for (const next of todo) {
      cast.clock.at = addMicros(cast.clock.at, 60_000_000);
      if (next !== 'approval' && next.note !== undefined)
        tell(`     ${next.note(cast.trajectory)}`);
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
  return {
    ...stepOf(ruling, becomes, clock.at),
    principal: PRINCIPALS[role],
    role,
    action,
    args: { ...args },
  };
}

/** The doctor sees the pending proposal, and approves exactly that proposal. */
async function approve({ trajectory, clock }: Cast): Promise<DemoStep> {
  const [pending] = trajectory.approvals.pending();
  if (pending === undefined)
    throw new Error('The story has an approval, but no proposal is pending.');
  const { digest, seq, channel } = pending.payload;
  const ruling = await trajectory.approvals.approve(pending.id, {
    principal: DOCTOR,
    method: 'demo',
    digest,
  });
  const step = stepOf(ruling, COMMITTED, clock.at);
  return {
    ...step,
    principal: DOCTOR,
    role: channel,
    action: 'approve',
    args: { digest },
    resolves: seq,
  };
}

/**
 * The verification result of a copy of the ledger in which one refusal was changed into a commit.
 */
function verifyChanged(
  store: LedgerStore,
  trajectoryId: string,
  seq: number,
): Promise<VerifyReport> {
  const copy: LedgerReader = {
    entries: async (...asked) =>
      (await store.entries(...asked)).map((row) =>
        row.seq === seq
          ? { ...row, payload: row.payload.replace('"kind":"rejection"', '"kind":"commit"') }
          : row,
      ),
    resolve: (id) => store.resolve(id),
    blob: (hash) => store.blob(hash),
    erasedBy: (hash) => store.erasedBy(hash),
  };
  return verifyTrajectory(new Replayer(copy), trajectoryId);
}

// ── how it is told ──

function tellBeginning(tell: (line: string) => void, { trajectory }: Cast, url: string): void {
  tell(bold("Is David's second drug test covered?").text);
  tell(
    'The case is from section 3.1 of the paper that Assize is built on: A. Sterling, Provably Auditable and Safe LLM',
  );
  tell('Agents from Human-Authored Ontologies (2026). The ledger calls it seed 000.');
  tell(
    'Three agents propose, and each sees a part of his record. A kernel adjudicates every proposal on the whole',
  );
  tell(
    'record, by fixed rules in a fixed order. Every ruling becomes an entry of a hash-chained ledger. A committed',
  );
  tell(`claim is covered. Store ${visible(withoutPassword(url))}, trajectory ${trajectory.id}.`);
  for (const role of ROLES)
    tell(`  ${PRINCIPALS[role].padEnd(15)}${role.padEnd(10)}sees ${SEES[role]}`);
}

function tellEnd(
  tell: (line: string) => void,
  { ok, verification, payments, changed_copy, commands }: DemoReport,
  needsPassword: boolean,
): void {
  const acts = [verification, payments.verification];
  const fault = acts.find(({ valid }) => !valid)?.fault;
  tell('');
  tell(bold('The ledger').text);
  tell(
    fault === undefined
      ? `${green('verified').text}: ${acts.map(lengthOf).join(' and ')} replayed; all ids, all links and the states are valid.`
      : `${red('does not verify').text}: ${fault.trajectory_id} seq ${fault.seq}: ${fault.detail}`,
  );
  tell("An entry's id is the SHA-256 of its content and of the id before it. The last ids,");
  for (const { head, trajectory_id } of acts) tell(`${head} of ${trajectory_id},`);
  tell(
    'reveal every change, removal or reordering of earlier entries. In a copy in which the first refusal was',
  );
  tell(
    `changed into a commit, verify finds: seq ${changed_copy.fault?.seq}: ${changed_copy.fault?.detail}.`,
  );
  tell('No model took part in a ruling, and the verification needs no model.');
  tell('');
  tell(bold('Look closer').text);
  if (commands.length === 0)
    tell('  This store was in memory and is discarded. Pass --store sqlite:./file.db to keep it.');
  for (const command of commands) tell(`  ${command}`);
  if (needsPassword) tell('  The commands read the password of the store from PGPASSWORD.');
  if (!ok) tell(red('An outcome differs from the story; see above.').text);
}

function lengthOf({ trajectory_id, entries }: VerifyReport): string {
  return `${counted(entries, 'entry')} of ${trajectory_id}`;
}

function commandsFor(
  url: string,
  trajectoryId: string,
  entryId: string,
  paymentsId: string,
): string[] {
  if (url === 'memory:') return [];
  const shown = withoutPassword(url);
  const store = `--store ${/^[\w:./@-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`}`;
  return [
    `npx assize log ${trajectoryId} ${store}`,
    `npx assize show ${shortId(entryId)} ${store}`,
    `npx assize state ${trajectoryId} ${store}`,
    `npx assize log ${paymentsId} ${store}`,
    `npx assize effects list ${paymentsId} --all ${store}`,
    `npx assize verify ${store}`,
    `npx assize pending ${store}`,
  ];
}
