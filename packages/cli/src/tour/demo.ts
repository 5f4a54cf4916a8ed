/**
 * `assize demo`: David's record and the payment of his covered claims, on a real ledger. All output
 * except the headings comes from the rulings, the ledger and the log of the bank.
 */
import { isDeepStrictEqual } from 'node:util';
import { CliError, note, readAnchors, whenEffectsFree, writeAnchors } from '@assize/command';
import { isAssizeError, withoutPassword } from 'assize/internal/base';
import { canonicalize, generateKeys } from 'assize/internal/canon';
import {
  type EntryRow,
  type LedgerReader,
  type LedgerStore,
  Replayer,
  readRow,
  type VerifyReport,
  verifyTrajectory,
} from 'assize/internal/ledger';
import { Assize, type Ruling, verifyStore } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { shortId, toolCalls } from 'assize/internal/views';
import { type UdtState, udt } from '../domains/udt/index.ts';
import { Bank, type BankLine } from './bank.ts';
import {
  type ActReport,
  type DemoReport,
  type DemoStep,
  type DemoTotals,
  type RecordedCall,
  tellAct,
  tellEnd,
  tellScene,
  tellStep,
  tellTotals,
} from './demo-text.ts';
import { bankTransfer, expenses, type Transfer } from './expenses.ts';
import { type Move, nineOClock, playScenes, roleWrit, type Scene, type Stage } from './play.ts';
import { AGENTS, COMMITTED, DOCTOR, ENROLLED, PATIENT, SCENES, writsOf } from './scenes.ts';

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

/** Mark a trajectory as the demo's. */
const NOTES = { david: 'seed 000 §3.1', payments: 'seed 000 payments' } as const;
/** Seconds to wait for another process that runs the effects of the store. */
const EFFECTS_WAIT_S = 10;

const PAYER = { principal: 'agent:payer', role: 'Clerk' } as const;
const MANAGER = 'manager:reyes';
/** The bills of the covered claims, in cents. */
const BILLED = { c1: 11_443, c2: 61_692 } as const;

/** `cents`: by default what was billed. */
function payment(
  claim: keyof typeof BILLED,
  key: string,
  more: object = {},
  cents: number = BILLED[claim],
): Move {
  return {
    ...{ role: PAYER.role, params: { receipt: claim }, action: 'pay', args: { to: 'lab', cents } },
    ...{ becomes: COMMITTED, key },
    ...more,
  };
}

const PAYMENTS: readonly Scene[] = [
  {
    day: '2026-03-31',
    heading:
      'The covered claims are paid by a tool. Rules judge each call before the bank gets it.',
    moves: [
      payment('c1', 'pay c1'),
      payment('c1', 'pay c1'),
      payment('c2', 'pay c2', { becomes: 'RECEIPT_IS_PAID_ONCE' }, 10 * BILLED.c2),
      payment('c2', 'pay c2, corrected', { becomes: 'MANAGER_APPROVES' }),
      'approval',
    ],
  },
];

/**
 * Runs the story. The store is opened, and always closed.
 *
 * @throws StoreError, CliError for a store or an anchors file that is unusable, or does not belong
 * to the demo, or for a store whose effects another process runs; nothing was printed or changed
 * then. The reason of `interruption`
 */
export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const { store: url, interruption } = options;
  // An unusable file is refused before the store is created.
  readAnchors(url);
  await requireDemosOwn(url);
  const store = await openStore(url);
  try {
    const lines: BankLine[] = [];
    // The key ends with the story: it signs only these writs.
    const root = generateKeys();
    const clock = { at: nineOClock(ENROLLED) };
    const assize = new Assize({
      ...{ store, domains: [udt, expenses], anchors: [root.publicKey] },
      tools: [bankTransfer(new Bank((line) => lines.push(line)))],
      ports: { clock: { now: () => clock.at } },
      maxClockAheadMs: 'unlimited',
      effects: { onRecoveryFailed: ({ message }) => note(message) },
    });
    try {
      // Makes the payments of a demo that was killed. They do not count in this demo.
      await whenEffectsFree(interruption, EFFECTS_WAIT_S, (signal) =>
        assize.recoverEffects(signal),
      );
      lines.length = 0;
      return await tellStory({ store, assize, lines, root, clock }, options);
    } finally {
      await assize.close();
    }
  } finally {
    await store.close();
  }
}

/** The parts that both acts share. */
interface Parts extends Pick<Stage, 'clock'> {
  readonly store: LedgerStore;
  readonly assize: Assize;
  /** The log of the bank. */
  readonly lines: readonly BankLine[];
  readonly root: ReturnType<typeof generateKeys>;
}

async function tellStory(
  parts: Parts,
  { store: url, json, out }: DemoOptions,
): Promise<DemoReport> {
  const { store, assize, root, clock } = parts;
  const tell = json ? (): void => {} : out;
  const n = await freeNumber(store);
  const writs = writsOf(root, `${PATIENT}-${n}`);
  const trajectory = await assize.create(udt, {
    ...{ trajectoryId: `${PATIENT}-${n}`, writs: [...writs.values()], note: NOTES.david },
  });
  // Appended last: a further run recognises the demo's file by this trajectory.
  writeAnchors(url, [root.publicKey]);
  tellAct(tell, withoutPassword(url), trajectory.id);
  const steps = await playAct(parts, SCENES, { trajectory, writs, clock, person: DOCTOR }, tell);
  const { claims } = trajectory.state() as unknown as UdtState;
  const stage = await payingStage(parts, `payments-${n}`, claims[PATIENT] ?? {});
  const paid = await playAct(parts, PAYMENTS, stage, tell);
  const totals = await totalsOf(parts, stage.trajectory.id);
  tellTotals(tell, totals);
  const [david, payments] = [
    await verify(store, trajectory.id),
    await verify(store, stage.trajectory.id),
  ];
  const refused = steps.find(({ invariant_id }) => invariant_id === 'CLAIM_TIER_CURRENT');
  const changed = await verifyChanged(store, trajectory.id, refused?.seq ?? 0);
  const isAsTold = [...steps, ...paid].every(({ as_told }) => as_told);
  const report: DemoReport = {
    ok: isAsTold && totals.equal && david.valid && payments.valid && !changed.valid,
    ...{ store: withoutPassword(url), anchor: root.publicKey },
    ...{ trajectory_id: trajectory.id, domain: refOf(udt), steps, verification: david },
    payments: {
      ...{ trajectory_id: stage.trajectory.id, domain: refOf(expenses), steps: paid, totals },
      verification: payments,
    },
    changed_copy: changed,
    commands: commandsFor(url, [trajectory.id, stage.trajectory.id], refused?.entry_id),
  };
  tellEnd(out, report, { json, needsPassword: withoutPassword(url) !== url });
  return report;
}

function refOf({ name, version, hash }: ActReport['domain']): ActReport['domain'] {
  return { name, version, hash };
}

/** The trajectory of the payments. Each covered claim is a receipt of the laboratory. */
async function payingStage(
  { assize, root, clock }: Parts,
  trajectoryId: string,
  claims: UdtState['claims'][string],
): Promise<Stage> {
  clock.at = nineOClock(PAYMENTS[0]?.day as string);
  const receipts = Object.entries(claims).map(([claim, { test }]) => [
    claim,
    { from: 'lab', cents: BILLED[claim as keyof typeof BILLED], text: `${claim} for ${test}` },
  ]);
  const writ = roleWrit(root, {
    ...{ subject: PAYER.principal, trajectory: trajectoryId, actions: ['pay', 'bank.transfer'] },
    scopes: [`role:${PAYER.role}:**`, 'bank:lab'],
  });
  const initial = {
    payees: { lab: { team: 'tests' } },
    receipts: Object.fromEntries(receipts),
    paid: {},
  };
  const beginning = { trajectoryId, writs: [writ], note: NOTES.payments, initial };
  return {
    ...{ trajectory: await assize.create(expenses, beginning), clock, person: MANAGER },
    writs: new Map([[PAYER.role, writ]]),
  };
}

/** For short trajectory names: 1, or the next number after earlier runs. */
async function freeNumber(store: LedgerStore): Promise<number> {
  const taken = new Set((await store.trajectories()).map(({ trajectory_id }) => trajectory_id));
  let n = 1;
  while (taken.has(`${PATIENT}-${n}`) || taken.has(`payments-${n}`)) n++;
  return n;
}

async function playAct(
  parts: Parts,
  scenes: readonly Scene[],
  stage: Stage,
  tell: (line: string) => void,
): Promise<DemoStep[]> {
  const steps: DemoStep[] = [];
  await playScenes(scenes, stage, {
    scene: (scene) => tellScene(tell, scene),
    move: async (move, rule) => {
      if (move !== 'approval' && move.note !== undefined)
        tell(`     ${move.note(stage.trajectory)}`);
      const step = await stepOf(parts, stage, move, rule, steps);
      steps.push(step);
      tellStep(tell, step);
    },
  });
  return steps;
}

/** Makes a move. Meanwhile the bank gets its requests. */
async function stepOf(
  { store, assize, lines }: Parts,
  { trajectory, clock, person }: Stage,
  move: Move | 'approval',
  rule: () => Promise<Ruling | undefined>,
  before: readonly DemoStep[],
): Promise<DemoStep> {
  const [asked] = move === 'approval' ? trajectory.approvals.pending() : [];
  const earlier = lines.length;
  const ruling = await rule();
  if (ruling === undefined || ruling.ruling === 'frozen')
    throw new Error(`The story cannot continue: ${ruling?.detail ?? 'nothing is pending'}.`);
  const { id: entry_id, seq } = ruling.entry;
  const { detail, invariantId: invariant_id } =
    ruling.ruling === 'committed' ? { detail: undefined, invariantId: undefined } : ruling;
  const outcomes = ruling.ruling === 'committed' ? await assize.awaitEffects(entry_id) : [];
  const calls = (await recordedCalls(store, ruling.entry)).map((call) => {
    const { phase, answer } = outcomes.find(({ id }) => id === call.id) ?? {};
    return { ...call, ...(phase && { phase }), ...(answer !== undefined && { answer }) };
  });
  const repeats = before.find((step) => step.entry_id === entry_id)?.seq;
  const requests = lines.length - earlier;
  const due = ruling.ruling === 'committed' && repeats === undefined ? calls.length : 0;
  const becomes = move === 'approval' ? COMMITTED : move.becomes;
  return {
    ...{ seq, entry_id, at: clock.at },
    ...(move === 'approval'
      ? {
          ...{ principal: person, role: asked?.payload.channel ?? '', action: 'approve' },
          ...{ args: { digest: asked?.payload.digest ?? '' }, resolves: asked?.payload.seq ?? 0 },
        }
      : {
          principal:
            move.role === PAYER.role ? PAYER.principal : AGENTS[move.role as keyof typeof AGENTS],
          ...{ role: move.role, action: move.action, args: move.args },
        }),
    ruling: ruling.ruling,
    ...(invariant_id !== undefined && { invariant_id }),
    ...(detail !== undefined && { detail }),
    ...(repeats !== undefined && { repeats }),
    ...{ calls, requests },
    as_told: becomes === (invariant_id ?? ruling.ruling) && requests === due,
  };
}

/** The calls of a commit or of a pending proposal. */
async function recordedCalls(store: LedgerStore, row: EntryRow): Promise<RecordedCall[]> {
  const { payload } = readRow(row);
  const delta =
    payload.kind === 'pending_approval'
      ? payload.proposal.delta
      : 'delta' in payload && payload.delta;
  const calls = delta ? await toolCalls(store, delta) : [];
  return calls.flatMap((call) =>
    'input' in call ? [{ id: call.id, tool: call.tool, input: call.input }] : [],
  );
}

/** Compares the payments of the bank with the calls that the commits of the trajectory record. */
async function totalsOf({ store, lines }: Parts, trajectoryId: string): Promise<DemoTotals> {
  const commits = (await store.entries(trajectoryId)).filter(({ kind }) => kind === 'commit');
  const calls = (await Promise.all(commits.map((row) => recordedCalls(store, row)))).flat();
  const recorded = calls.map(({ id, input }) => ({ key: id, ...(input as unknown as Transfer) }));
  const paid = lines.flatMap((line) => (line.does === 'pays' ? [line] : []));
  const made = paid.map(({ key, to, receipt, cents }) => ({ key, to, receipt, cents }));
  const requests = lines.filter(({ does }) => does !== 'refunds').length;
  return {
    bank: { requests, payments: made.length, cents: sumOf(made) },
    ledger: { calls: recorded.length, cents: sumOf(recorded) },
    equal: requests === made.length && isDeepStrictEqual(sorted(recorded), sorted(made)),
  };
}

function sumOf(payments: readonly Transfer[]): number {
  return payments.reduce((sum, { cents }) => sum + cents, 0);
}

function sorted(payments: readonly (Transfer & { readonly key: string })[]): string[] {
  return payments.map((each) => canonicalize({ ...each })).sort();
}

/** Entries, state and effect log of a trajectory. */
async function verify(store: LedgerStore, trajectoryId: string): Promise<VerifyReport> {
  const [report] = await verifyStore(store, { trajectoryIds: [trajectoryId] });
  return report as VerifyReport;
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

/**
 * Checks that the demo created the store, because the writs of its story would count in a
 * production store. Runs before a store is opened for writing.
 *
 * @throws StoreError, CliError `usage`
 */
async function requireDemosOwn(url: string): Promise<void> {
  if (url === 'memory:') return;
  const store = await openStore(url, { mode: 'readonly' }).catch((error: unknown) => {
    if (isAssizeError(error, 'store_not_found')) return undefined;
    throw error;
  });
  try {
    for (const { trajectory_id } of (await store?.trajectories()) ?? []) {
      const [root] = (await store?.entries(trajectory_id, { limit: 1 })) ?? [];
      const payload = root && readRow(root).payload;
      const told: readonly (string | undefined)[] = Object.values(NOTES);
      if (payload?.kind !== 'root' || !told.includes(payload.note))
        throw new CliError(
          'usage',
          `The store ${withoutPassword(url)} has the trajectory ${trajectory_id}, and the demo did not create it. Pass another --store, or omit it.`,
        );
    }
  } finally {
    await store?.close();
  }
}

function commandsFor(
  url: string,
  [david, payments]: readonly [string, string],
  entryId: string | undefined,
): string[] {
  if (url === 'memory:') return [];
  const shown = withoutPassword(url);
  const store = `--store ${/^[\w:./@-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`}`;
  return [
    `npx assize log ${david} ${store}`,
    `npx assize show ${shortId(entryId ?? '')} ${store}`,
    `npx assize state ${david} ${store}`,
    `npx assize log ${payments} ${store}`,
    `npx assize effects list ${payments} --all ${store}`,
    `npx assize verify ${store}`,
    `npx assize pending ${store}`,
  ];
}
