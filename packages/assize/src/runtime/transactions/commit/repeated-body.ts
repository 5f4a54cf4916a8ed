import { isAssizeError, type Json } from '#base';
import { copyJson, plainText } from '#canon';
import { type Claim, EffectError, type Tool } from '#effects';
import { callInput, type InputCall, type Intent, type Observed } from '#kernel';
import {
  type EntryRow,
  type Hash,
  isBlobRef,
  type LedgerStore,
  type Observation,
  readRow,
} from '#ledger';
import { RuntimeError } from '../../errors.ts';
import {
  badIntent,
  type GatheredObservation,
  parseIntent,
  proposalIdOf,
} from '../../records/intent.ts';
import { observedValue, type PendingSources } from '../../records/pending-proposal.ts';
import { readCalls, readRefusedCalls } from '../../records/stored-values.ts';
import { inputObservation, toolObservation } from '../../records/tool-authority.ts';
import { stoppedError } from '../body/abort-reasons.ts';
import type { TransactionIntent } from '../body/branch.ts';
import type { OpenedTransaction } from '../body/opened-transaction.ts';
import type { Transaction } from '../body/transaction.ts';
import { isBuffered } from '../log/call-record.ts';
import { keyOf } from './previous-outcome.ts';

/**
 * Compares a transaction with the one that has the ruling of its name. The body runs, and its calls
 * get the recorded answers; no tool is called, and nothing is written. Compared are the writ, each
 * call with its input, and the proposal, in order. The comparison ends without a finding where the
 * entry has no answer for the body: at a branch, after a failed call, or if the body throws.
 *
 * @throws RuntimeError `idempotency_conflict`; the signal's reason
 */
export async function requireSameContent(
  opened: OpenedTransaction,
  recorded: RecordedContent,
  body: (tx: Transaction) => unknown,
): Promise<void> {
  const { name, limit, signal, trajectoryId, writId } = opened;
  // The writs of a branch of the ledger are its own.
  if (recorded.trajectoryId === trajectoryId && recorded.writId !== writId)
    throw otherContent(name, `its writ was ${recorded.writId}, and is now ${writId}`);
  const repeated = new RepeatedTransaction(opened, recorded);
  const ran = async (): Promise<boolean> => {
    try {
      await body(repeated as unknown as Transaction);
      return true;
    } catch {
      return false;
    }
  };
  const hasReturned = await limit.run(ran, stoppedError);
  signal.throwIfAborted();
  repeated.end(hasReturned);
}

/** A transaction as the body sees it, in a comparison. */
class RepeatedTransaction {
  readonly epoch: number;
  readonly claims: readonly Claim[];
  readonly #opened: OpenedTransaction;
  readonly #recorded: RecordedContent;
  /** The recorded calls that the body has not made yet. */
  readonly #left: InputCall[];
  #calls = 0;
  #intent: Intent | undefined;
  #difference: string | undefined;
  /** Whether the entry has an answer for each call so far. */
  #isComparable = true;

  constructor(opened: OpenedTransaction, recorded: RecordedContent) {
    this.#opened = opened;
    this.#recorded = recorded;
    this.#left = [...recorded.calls];
    this.epoch = recorded.epoch;
    this.claims = opened.claims.filter((claim) => claim !== opened.named);
  }

  propose(intent: TransactionIntent): void {
    if (typeof intent !== 'object' || intent === null)
      throw badIntent('the proposal of a transaction must be an object');
    this.#intent = parseIntent(intent, this.#opened.domain);
  }

  call(tool: Tool | string, given: unknown): Promise<unknown> {
    return handled(() => this.#answer(typeof tool === 'string' ? tool : String(tool?.name), given));
  }

  expand(): Promise<void> {
    return handled(() => undefined);
  }

  release(): Promise<void> {
    return handled(() => undefined);
  }

  nested(): Promise<never> {
    return handled(() => this.#stop());
  }

  speculate(): Promise<never> {
    return handled(() => this.#stop());
  }

  /** @throws RuntimeError `idempotency_conflict` */
  end(hasReturned: boolean): void {
    const { name } = this.#opened;
    if (this.#difference !== undefined) throw otherContent(name, this.#difference);
    if (!hasReturned || !this.#isComparable) return;
    const [missing] = this.#left;
    if (missing !== undefined)
      throw otherContent(name, `its call of ${missing.tool} is not made again`);
    if (this.#intent === undefined) throw otherContent(name, 'the body does not propose');
    const { trajectoryId, writId: writ, proposalId } = this.#recorded;
    const { observations } = this.#recorded;
    const id = proposalIdOf(
      { intent: this.#intent, observations },
      { trajectoryId, nonce: keyOf(name), writ },
    );
    if (id !== proposalId)
      throw otherContent(name, 'it proposed another action, role or arguments');
  }

  #answer(name: string, given: unknown): unknown {
    const tool = this.#opened.engine.ports.tools.get(name);
    if (tool === undefined || !this.#isComparable || this.#difference !== undefined)
      return this.#stop();
    const ordinal = this.#calls++;
    const parsed = tool.parse(given);
    if (tool.class === undefined) return this.#readAnswer(name, parsed, ordinal);
    const input = callInput(parsed, this.#opened.domain.texts);
    const call = textOf({ tool: name, input });
    const at = this.#left.findIndex((one) => textOf(one) === call);
    const executes = !isBuffered(tool.class) || tool.spec.batch?.stage !== undefined;
    // A call that failed is not recorded.
    if (at === -1) return !executes || this.#hasActed(ordinal) ? this.#differ(name) : this.#stop();
    this.#left.splice(at, 1);
    if (executes) return this.#recordedAnswer(toolObservation(name, '', ordinal));
    return tool.spec.plan === undefined ? null : this.#stop();
  }

  #readAnswer(name: string, input: Json, ordinal: number): unknown {
    const before = this.#recorded.answers.get(inputObservation(name, '', ordinal));
    if (before === undefined && !this.#hasActed(ordinal)) return this.#stop();
    if (before === undefined || plainText(before) !== plainText(input)) return this.#differ(name);
    return this.#recordedAnswer(toolObservation(name, '', ordinal));
  }

  #recordedAnswer(name: string): unknown {
    const answer = this.#recorded.answers.get(name);
    return answer === undefined ? this.#stop() : copyJson(answer);
  }

  /** Whether the entry has an answer of the call with that number. */
  #hasActed(ordinal: number): boolean {
    return [...this.#recorded.answers.keys()].some((name) => name.endsWith(`#${ordinal}`));
  }

  #differ(tool: string): never {
    this.#difference ??= `its call number ${this.#calls} was another than this one of ${tool}`;
    throw otherContent(this.#opened.name, this.#difference);
  }

  #stop(): never {
    this.#isComparable = false;
    const { name } = this.#opened;
    throw new EffectError(
      'transaction_over',
      `The transaction ${name} has a ruling already, and accepts no calls.`,
    );
  }
}

/** The body need not await a call. */
function handled<T>(make: () => T): Promise<T> {
  const made = new Promise<T>((resolve) => resolve(make()));
  made.catch(() => undefined);
  return made;
}

function textOf({ tool, input }: Pick<InputCall, 'tool' | 'input'>): string {
  return `${tool} ${plainText(input as Json)}`;
}

function otherContent(name: string, what: string): RuntimeError {
  return new RuntimeError(
    'idempotency_conflict',
    `The transaction name ${name} was used for other content: ${what}. Use a new name only for a different request.`,
    { evidence: { name } },
  );
}

/** The content of a transaction that has a ruling, as its entry records it. */
export interface RecordedContent {
  readonly trajectoryId: string;
  readonly epoch: number;
  readonly writId: Hash;
  readonly proposalId: Hash;
  readonly observations: readonly GatheredObservation[];
  /** The values of the observations, by name: answers of tools, and inputs of reads. */
  readonly answers: ReadonlyMap<string, Json>;
  /** The changing calls of the body. */
  readonly calls: readonly InputCall[];
}

/**
 * Reads the content of the transaction that an entry rules on. An entry that resolves a pending
 * proposal may have amended it, so the pending entry is read. Undefined if a value was erased:
 * nothing can then be compared.
 *
 * @throws LedgerFault for a missing blob; RuntimeError `observation_missing`
 */
export async function recordedContent(
  ruled: EntryRow,
  store: Pick<LedgerStore, 'resolve'>,
  sources: PendingSources,
): Promise<RecordedContent | undefined> {
  const { payload: ruling } = readRow(ruled);
  const resolved = 'resolves' in ruling ? ruling.resolves : undefined;
  const row = resolved === undefined ? ruled : await store.resolve(resolved);
  if (row === undefined) return undefined;
  try {
    return await contentOf(row, sources);
  } catch (error) {
    if (isAssizeError(error, 'erased')) return undefined;
    throw error;
  }
}

async function contentOf(
  row: EntryRow,
  sources: PendingSources,
): Promise<RecordedContent | undefined> {
  const { payload } = readRow(row);
  const of = payload.kind === 'pending_approval' ? payload.proposal : payload;
  const at = { trajectory_id: row.trajectory_id, seq: row.seq };
  if (!('proposal_id' in of) || of.writ_id === undefined || of.proposal_id === undefined)
    return undefined;
  const recorded =
    'intent' in of ? of.intent.observations : 'observations' in of ? of.observations : [];
  const read = async (one: Observation): Promise<Observed> => ({
    name: one.name,
    value: await observedValue(one, at, sources),
  });
  const observed = await Promise.all(recorded.map(read));
  const calls =
    'delta' in of
      ? await readCalls(at, of.delta.effects, observed, sources.replayer)
      : await readRefusedCalls(at, 'intent' in of ? of.intent.calls : undefined, sources.replayer);
  return {
    trajectoryId: row.trajectory_id,
    epoch: 'epoch' in of ? (of.epoch ?? 0) : 0,
    writId: of.writ_id,
    proposalId: of.proposal_id,
    observations: recorded.map((one, i) => gathered(one, observed[i]!)),
    answers: new Map(observed.map(({ name, value }) => [name, value as Json])),
    calls: calls.filter(({ isDeclared }) => isDeclared !== true),
  };
}

/** As the proposal's id has it: the value in place of a salted reference. */
function gathered(recorded: Observation, { name, value }: Observed): GatheredObservation {
  const isSalted = isBlobRef(recorded.value) && recorded.value.salted === true;
  return { unsalted: isSalted ? { name, value: value as Json } : recorded, isSalted };
}
