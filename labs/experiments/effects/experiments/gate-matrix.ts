import { setTimeout as pass } from 'node:timers/promises';
import type { Delivery, Sink } from 'assize/internal/effects';
import type { Transaction, TransactionOutcome } from 'assize/internal/runtime';
import type { Table } from '../../tables/index.ts';
import { directCaller } from '../callers.ts';
import type { Running } from '../experiment.ts';
import { LostResponse } from '../faulty.ts';
import { FORBIDDEN, GATED_OPERATOR_WRIT, type GatedStage, openGated } from '../gated-stage.ts';
import { Metrics, SIX_COLUMNS } from '../metrics.ts';
import { MODES, type Mode } from '../modes.ts';
import { runConcurrently } from '../run-concurrently.ts';
import type { TaskResult } from '../run-task.ts';
import { POST_FAULTS, PostBox, type PostFault } from '../sinks/post-box.ts';
import { RETRIES } from '../stage.ts';

/** Why it comes to nothing. Where its branch loses, all but one of them do. */
const CAUSES = [
  'its body throws',
  'an invariant rejects it',
  'it is stale',
  'it takes too long',
  'it is told to stop',
  'its branch loses',
] as const;
type Cause = (typeof CAUSES)[number];
const BRANCHES = [2, 4, 8, 16];
const SINKS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
const DELIVERIES: readonly Delivery[] = ['buffered', 'externalised'];
/** Milliseconds that a call may take. */
const CALL_MS = 100;
const DEADLINE_MS = 200;
/** The number of concurrent cells. */
const AT_ONCE = 100;

export interface Setting {
  readonly mode: Mode;
  readonly cause: Cause;
  readonly branches: number;
  readonly fault: PostFault;
  readonly sink: Sink;
  /** Whether a message can be held. If not, it is submitted for approval. */
  readonly delivery: Delivery;
}

/** The outcome of the messages of one setting, by the log of the box. */
export interface Posted {
  /**
   * Messages of aborted transactions. If a message cannot be held: every one that the sink took
   * before or without its approval.
   */
  readonly leaked: number;
  /** The messages of committed transactions. */
  readonly valid: number;
  /** Those of them that were taken, and that were taken more than once. */
  readonly there: number;
  readonly wrong: number;
  /** Valid messages that the sink accepted once and that are not in doubt. */
  readonly once: number;
  readonly inDoubt: number;
  /** Messages beyond the first of each. */
  readonly twice: number;
  /** Failures that were reported: by an error, or as an unresolved effect. */
  readonly told: number;
}

/**
 * Every cause of an abort, number of branches, fault and sort of sink. Each setting has an aborted
 * transaction and a committed one, and each of their branches sends one message.
 */
export async function gateMatrix(running: Running): Promise<Table[]> {
  const cells = MODES.flatMap((mode) =>
    CAUSES.flatMap((cause) =>
      BRANCHES.flatMap((branches) =>
        POST_FAULTS.flatMap((fault) =>
          SINKS.map((sink) => ({ mode, cause, branches, fault, sink })),
        ),
      ),
    ),
  );
  const settings = DELIVERIES.flatMap((delivery) =>
    // Without a runtime, no effect is buffered and no approver is asked.
    cells.flatMap((cell): Setting[] =>
      delivery === 'buffered' || cell.mode.transactional ? [{ ...cell, delivery }] : [],
    ),
  );
  const posted = await awake(() => runConcurrently(running, settings, AT_ONCE, postedIn));
  const of = (delivery: Delivery): Cells => {
    const cells = settings.flatMap((setting, i) =>
      setting.delivery === delivery ? [{ setting, posted: posted[i]! }] : [],
    );
    return (isOf) => cells.filter(({ setting }) => isOf(setting)).map((cell) => cell.posted);
  };
  const [held, approved] = [of('buffered'), of('externalised')];
  return [
    bySink(held, 'buffered'),
    leakedBy(held, 'cause', CAUSES),
    leakedBy(held, 'branches', BRANCHES),
    leakedBy(held, 'fault', POST_FAULTS),
    sixOf(held, running),
    bySink(approved, 'externalised'),
  ];
}

/** Where every call hangs, nothing else keeps the process alive: limits of time do not. */
async function awake<T>(make: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 1_000);
  try {
    return await make();
  } finally {
    clearInterval(timer);
  }
}

/** The executed cells of those settings, one of each. */
type Cells = (isOf: (setting: Setting) => boolean) => readonly Posted[];

function sumOf(cells: readonly Posted[], name: keyof Posted): number {
  return cells.reduce((sum, posted) => sum + posted[name], 0);
}

const CROSSED = `${CAUSES.length} causes of an abort × ${BRANCHES.length} numbers of branches × ${POST_FAULTS.length} faults × ${SINKS.length} sorts of sinks`;
const NAMED = `Causes: ${CAUSES.join(', ')}. Branches: ${BRANCHES.join(', ')}. Faults: ${POST_FAULTS.join(', ')}. Sinks: ${SINKS.join(', ')}.`;
const HELD =
  'Each branch reserves a place directly, and sends a message. What is undone meets the faults too. Without a runtime the cause stops nothing, as all has been sent by then.';

function bySink(cells: Cells, delivery: Delivery): Table {
  const isHeld = delivery === 'buffered';
  const of = isHeld
    ? 'messages that can’t be undone'
    : 'messages that can be neither undone nor held';
  return {
    source: 'Gate',
    title: `${of}, over all causes, branches and faults`,
    keys: ['mode', 'sink'],
    columns: ['cells', 'leaked', 'valid', 'delivered once', 'in doubt', 'sent twice'],
    rows: MODES.filter(({ transactional }) => isHeld || transactional).flatMap((mode) =>
      SINKS.map((sink) => {
        const all = cells((one) => one.mode === mode && one.sink === sink);
        const sums = (['leaked', 'valid', 'once', 'inDoubt', 'twice'] as const).map((name) =>
          sumOf(all, name),
        );
        return {
          keys: [mode.name, sink],
          cells: [all.length, ...sums].map((measured) => ({ measured })),
        };
      }),
    ),
    notes: [
      `${cells(() => true).length} cells, each executed once in full: ${CROSSED}, in ${isHeld ? 'all' : 'the transactional'} modes. The paper has no such table.`,
      NAMED,
      isHeld
        ? HELD
        : 'Each branch sends a message. That of the branch that is chosen is submitted for approval, and the experiment’s own counselor approves it immediately. Leaked: what the sink took before or without that approval. Without a runtime nobody is asked.',
      'Of the messages of what was committed, each is delivered once, or a person is asked. What is refused for good is tried again by a person, once it is taken.',
    ],
  };
}

/** The leaked messages, summed by one of the crossed factors. */
function leakedBy<By extends 'cause' | 'branches' | 'fault'>(
  cells: Cells,
  by: By,
  values: readonly Setting[By][],
): Table {
  const of = {
    cause: 'the cause of the abort',
    branches: 'the number of branches',
    fault: 'the fault',
  }[by as string]!;
  return {
    source: 'Gate',
    title: `messages that leaked, by ${of}`,
    keys: [by],
    columns: MODES.map(({ name }) => name),
    rows: values.map((value) => ({
      keys: [value],
      cells: MODES.map((mode) => ({
        measured: sumOf(
          cells((one) => one.mode === mode && one[by] === value),
          'leaked',
        ),
      })),
    })),
    notes: [
      `Each row is of ${cells((one) => one[by] === values[0]).length / MODES.length} cells a mode, all others of ${CROSSED}. ${HELD}`,
    ],
    plot: { sort: by === 'branches' ? 'line' : 'bar', x: by, y: 'messages that leaked' },
  };
}

function sixOf(cells: Cells, { seed }: Running): Table {
  return {
    source: 'Gate',
    title:
      'all six metrics, in per cent but for errors, over all causes, branches, faults and sinks',
    digits: 1,
    keys: ['mode'],
    columns: SIX_COLUMNS,
    rows: MODES.map((mode) => {
      const metrics = new Metrics(seed);
      for (const posted of cells((one) => one.mode === mode)) metrics.add(resultOf(posted));
      return { keys: [mode.name], cells: metrics.six() };
    }),
    notes: [
      `A cell is a run, and ${cells((one) => one.mode === MODES[0]).length} of them a row: ${CROSSED}. Its steps are the messages of what is committed. A message that is made to come to nothing does not count as an error; told is what a call came to without a runtime, or what was left to a person, who has what was refused taken then. What is not there in a transactional mode was lost on the way to a blind sink, and is in doubt. Contaminated: a message was taken of what came to nothing.`,
      'Errors told of what takes too long depend on how far it had come by then, and so on time: with the same seed they come out a little otherwise each time.',
    ],
  };
}

function resultOf({ leaked, valid, there, wrong, twice, told }: Posted): TaskResult {
  return {
    steps: valid,
    success: told === 0,
    faults: 0,
    retries: 0,
    recovered: 0,
    propagated: told,
    waiting: 0,
    judged: {
      correct: leaked === 0 && twice === 0 && there === valid,
      expected: valid,
      present: there,
      wrong,
      contaminated: leaked > 0,
    },
  };
}

/** Executes one setting, and reads the log of its box. */
export async function postedIn(setting: Setting): Promise<Posted> {
  const { mode, sink, fault, delivery } = setting;
  const box = new PostBox(sink, fault, delivery);
  const meant = mode.transactional ? await transactional(setting, box) : await direct(setting, box);
  const { valid, inDoubt, told } = meant;
  const isValid = new Set(valid);
  const messages = [...new Set(box.taken)];
  return {
    leaked: (delivery === 'buffered'
      ? box.taken.filter((message) => !isValid.has(message))
      : box.unapproved
    ).length,
    valid: valid.length,
    there: valid.filter((message) => box.timesTaken(message) > 0).length,
    wrong: valid.filter((message) => box.timesTaken(message) > 1).length,
    told,
    once: valid.filter((message) => box.timesTaken(message) === 1 && !inDoubt.includes(message))
      .length,
    inDoubt: inDoubt.length,
    twice: box.taken.length - messages.length,
  };
}

/** The messages that must be delivered, and the messages in doubt among them. */
interface Meant {
  readonly valid: readonly string[];
  readonly inDoubt: readonly string[];
  readonly told: number;
}

type Call = (tool: string, input: unknown) => Promise<unknown>;

function branchesOf(
  name: string,
  count: number,
  delivery: Delivery,
): ((call: Call) => Promise<void>)[] {
  return Array.from({ length: count }, (_, branch) => async (call) => {
    // An immediate effect cannot wait for an approval.
    if (delivery === 'buffered') await call('post.reserve', { place: `${name}-${branch}` });
    await call('post.send', { message: messageOf(name, branch) });
  });
}

function messageOf(name: string, branch: number): string {
  return `${name}-${branch}`;
}

/** The branch that is chosen is the last one, as those before it are more. */
async function transactional(
  { mode, cause, branches, delivery }: Setting,
  box: PostBox,
): Promise<Meant> {
  const stage = await openGated({ mode, tools: box.tools, callTimeoutMs: CALL_MS });
  try {
    const winner = branches - 1;
    const speculated = (tx: Transaction, name: string): Promise<void> =>
      tx.speculate(
        branchesOf(name, branches, delivery).map(
          (branch) => (one: Transaction) => branch((tool, input) => one.call(tool, input)),
        ),
        () => winner,
      );
    const valid: string[] = [];
    const ruled = async (
      name: string,
      outcome: TransactionOutcome<void> | undefined,
    ): Promise<void> => {
      let ruling = outcome?.ruling;
      if (ruling?.ruling === 'escalated') {
        box.approve(messageOf(name, winner));
        ruling = await stage.trajectory.approvals.approve(ruling.pending, {
          principal: 'operator',
          method: 'experiment',
        });
      }
      if (ruling?.ruling === 'committed') valid.push(messageOf(name, winner));
    };
    await ruled('first', await came(stage, cause, branches, (tx) => speculated(tx, 'first')));
    // It claims nothing that the one before may have left for a person.
    const { trajectory, writ, intent } = stage;
    const options = { writ, writes: claimsOf('second', branches), retries: 0 };
    const second = await trajectory.transaction(options, async (tx) => {
      await speculated(tx, 'second');
      tx.propose(intent('second', false));
    });
    await ruled('second', second);
    return { valid, ...(await leftIn(stage, box)) };
  } finally {
    await stage.close();
  }
}

function claimsOf(name: string, branches: number): string[] {
  return Array.from({ length: branches }, (_, branch) => [
    `post:places:${name}-${branch}`,
    `post:messages:${messageOf(name, branch)}`,
  ]).flat();
}

/** Does it, and has it come to nothing for that cause. Without a frontier nothing is stale. */
async function came(
  { trajectory, writ, intent }: GatedStage,
  cause: Cause,
  branches: number,
  speculated: (tx: Transaction) => Promise<void>,
): Promise<TransactionOutcome<void> | undefined> {
  const stop = new AbortController();
  const limit = {
    ...(cause === 'it is told to stop' ? { signal: stop.signal } : {}),
    ...(cause === 'it takes too long' ? { deadlineMs: DEADLINE_MS } : {}),
  };
  const body = async (tx: Transaction): Promise<void> => {
    await speculated(tx);
    tx.propose(intent(cause === 'an invariant rejects it' ? FORBIDDEN : 'first', false));
    switch (cause) {
      case 'its body throws':
        throw new Error('as planned');
      case 'it is stale':
        await trajectory.transaction({ writ, writes: ['post:places:late'] }, async (younger) => {
          await younger.call('post.reserve', { place: 'late' });
          younger.propose(intent('younger', false));
        });
        return tx.expand({ writes: ['post:places:late'] });
      case 'it is told to stop':
        stop.abort(new Error('as planned'));
        return new Promise<never>(() => undefined);
      case 'it takes too long':
        return new Promise<never>(() => undefined);
    }
  };
  const options = { writ, writes: claimsOf('first', branches), retries: 0, ...limit };
  return trajectory.transaction(options, body).catch(() => undefined);
}

/**
 * The unresolved effects, and the messages in doubt. An operator retries each refused effect, and
 * the sink then accepts it.
 */
async function leftIn(
  { assize }: GatedStage,
  box: PostBox,
): Promise<Pick<Meant, 'inDoubt' | 'told'>> {
  box.mend();
  const inDoubt: string[] = [];
  const left = await assize.recoverEffects();
  for (const { epoch, n, key, phase } of left) {
    const message = box.messageOf(key);
    if (phase === 'in_doubt') {
      if (message !== undefined) inDoubt.push(message);
      continue;
    }
    await assize.resolveEffect({
      epoch,
      n,
      as: 'retry',
      by: 'operator',
      writ: GATED_OPERATOR_WRIT,
      evidence: 'it is taken again',
    });
  }
  return { inDoubt, told: left.length };
}

/** Every branch executes immediately, and no effect is compensated, even after an abort. */
async function direct({ mode, cause, branches, delivery }: Setting, box: PostBox): Promise<Meant> {
  const call = directCaller(box.tools);
  const tries = mode.retry ? RETRIES + 1 : 1;
  const tried: Call = async (tool, input) => {
    for (let left = tries - 1; ; left--) {
      try {
        return await Promise.race([call({ tool, input }), late()]);
      } catch (error) {
        if (left === 0) throw error;
      }
    }
  };
  const failedOf = async (name: string): Promise<number> => {
    const ended = await Promise.allSettled(
      branchesOf(name, branches, delivery).map((branch) => branch(tried)),
    );
    return ended.filter(({ status }) => status === 'rejected').length;
  };
  const told = (await failedOf('first')) + (await failedOf('second'));
  const winner = branches - 1;
  const first = cause === 'its branch loses' ? [messageOf('first', winner)] : [];
  return { valid: [...first, messageOf('second', winner)], inDoubt: [], told };
}

async function late(): Promise<never> {
  await pass(CALL_MS, undefined, { ref: false });
  throw new LostResponse('it did not answer in time');
}
