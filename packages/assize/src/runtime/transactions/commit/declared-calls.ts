import { plainText } from '#canon';
import { type Claim, EffectError } from '#effects';
import type { ProposedCall } from '#kernel';
import type { GatheredProposal } from '../../records/intent.ts';
import type { Ruling } from '../../records/ruling.ts';
import { randomHex } from '../../records/salts.ts';
import type { CommitPlan } from '../../records/tool-authority.ts';
import type { Writer } from '../../writer/writer.ts';
import { notHeldError } from '../body/abort-reasons.ts';
import { openTransaction, startTransaction } from '../body/opened-transaction.ts';
import { DEADLINE_MS } from '../body/transaction-options.ts';
import { type TransactionEngines, throwAfterTurn } from '../engine/engines.ts';
import { TimeLimit } from '../limits/time-limit.ts';
import { resolvedCalls } from './commit-plan.ts';
import { requireTools } from './run-transaction.ts';
import { failedToPropose, type PlannedTransaction, RunningTransaction } from './stages.ts';

/** The parts of a proposal that its calls need. */
export interface CallingProposal extends Pick<GatheredProposal, 'writ' | 'principal' | 'intent'> {
  /** Whether its effects are found by their ids, as those of a key or of an approval. */
  readonly isRepeated: boolean;
  /**
   * Whether a failed transaction waits for the ruling. The proposal then cannot wait for that
   * transaction, and its calls are made when the failed transaction has ended.
   */
  readonly isForFailure?: boolean;
}

/** A transaction of planned calls that is not ruled on. */
interface OpenCalls {
  readonly text: string;
  readonly running: RunningTransaction;
  readonly planned: PlannedTransaction<undefined>;
  readonly commitPlan: CommitPlan;
}

/**
 * The calls that a proposed action declares: a transaction without a body. No call is made before
 * the commit, so a transaction that does not commit leaves nothing to compensate. After the commit
 * each call is made according to the class of its tool, also after a crash.
 *
 * A proposal has one such object for all its attempts, with one time limit. The transaction stays
 * open from one attempt to the next, and another one replaces it if the action declares other calls
 * by then. One of `finish` and `abort` must follow.
 */
export class DeclaredCalls {
  readonly #writer: Writer;
  readonly #engines: TransactionEngines | undefined;
  readonly #proposal: CallingProposal;
  #limit: TimeLimit | undefined;
  #over: (() => void) | undefined;
  #open: OpenCalls | undefined;

  constructor(writer: Writer, engines: TransactionEngines | undefined, proposal: CallingProposal) {
    this.#writer = writer;
    this.#engines = engines;
    this.#proposal = proposal;
  }

  /** The effects of the proposal. Undefined without calls. */
  get commitPlan(): CommitPlan | undefined {
    return this.#open?.commitPlan;
  }

  /**
   * Opens the transaction of these calls, unless it is open.
   *
   * @throws RuntimeError `bad_argument`, `closed`; EffectError `unknown_tool`, `bad_input`,
   * `no_counselor`, `second_pivot`, `resource_in_doubt`, `stale`, `deadline`
   */
  async open(calls: readonly ProposedCall[]): Promise<void> {
    const text = plainText(calls.map(({ tool, input }) => ({ input, tool })) as never);
    if (this.#open?.text === text) return;
    if (this.#open !== undefined) await this.#drop(outdated());
    if (calls.length === 0) return;
    const effects = requireTools(this.#engines);
    try {
      const turn = effects.inFlight.waitTurn();
      if (turn !== undefined) await turn;
      this.#limit ??= this.#tracked(effects);
      this.#open = await this.#opened(effects, this.#limit, text, calls);
    } catch (error) {
      await throwAfterTurn(error);
    }
  }

  /** The ruling with the outcomes of its calls. */
  async finish(ruling: Ruling): Promise<Ruling> {
    try {
      if (this.#open === undefined) return ruling;
      const ruled = this.#open.planned.ruled(ruling);
      this.#limit?.end();
      const { ruling: last, effects, calls, failure } = await ruled.finish();
      if (last.ruling !== 'committed' || calls === undefined) return last;
      return { ...last, effects, calls, ...(failure === undefined ? {} : { failure }) };
    } finally {
      this.#over?.();
    }
  }

  /** The proposal was not recorded. Returns the error for its caller. */
  async abort(thrown: unknown): Promise<unknown> {
    try {
      return this.#open === undefined ? thrown : await this.#drop(failedToPropose(thrown));
    } finally {
      this.#over?.();
    }
  }

  async #drop(error: unknown): Promise<unknown> {
    const { running } = this.#open!;
    this.#open = undefined;
    return running.abort(requireTools(this.#engines), error);
  }

  /** Closing stops the limit, and waits until the proposal is finished or aborted. */
  #tracked(effects: TransactionEngines): TimeLimit {
    const limit = new TimeLimit(DEADLINE_MS, undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    void effects.track(limit, () => promise);
    this.#over = resolve;
    return limit;
  }

  async #opened(
    effects: TransactionEngines,
    limit: TimeLimit,
    text: string,
    calls: readonly ProposedCall[],
  ): Promise<OpenCalls> {
    const { writ, principal, intent, isRepeated, isForFailure = false } = this.#proposal;
    const engine = await limit.run(() => effects.engine(limit, limit.signal), notHeldError);
    const resolved = await resolvedCalls(engine, calls, limit.signal);
    const opened = openTransaction(
      this.#writer,
      engine,
      { writ, principal },
      {
        claims: distinct(resolved.flatMap(({ claims }) => claims)),
        named: undefined,
        // The commit and the calls are one write, so an attempt without a commit has used no key.
        name: randomHex(this.#writer.context.random, 16),
        isRepeated,
        checksDuplicates: false,
        isOptimistic: false,
        claimed: [],
        limit,
      },
    );
    const started = await startTransaction(opened, opened.claims);
    const running = new RunningTransaction(opened, started);
    try {
      const ended = running.planDeclared(resolved, intent);
      const { domain } = this.#writer.parts;
      const planned = isForFailure
        ? ended.planUngated(started, domain)
        : await ended.plan(started, domain);
      return { text, running, planned, commitPlan: { ...planned.commitPlan, isProposed: true } };
    } catch (error) {
      throw await running.abort(effects, error);
    }
  }
}

function distinct(claims: readonly Claim[]): Claim[] {
  return [
    ...new Map(claims.map((claim) => [`${claim.access} ${claim.scope.text}`, claim])).values(),
  ];
}

/** The reason of the transaction that another one replaces. */
function outdated(): EffectError {
  return new EffectError('stale', 'The action declares other calls by now.', { retryable: true });
}
