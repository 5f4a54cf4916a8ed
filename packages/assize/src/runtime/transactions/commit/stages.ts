import { isInstance, type Json, toError } from '#base';
import { CanonError, plainText } from '#canon';
import { EffectError, type Tool } from '#effects';
import type { Domain, Intent, ProposedCall } from '#kernel';
import { badIntent, type ProposalInput } from '../../records/intent.ts';
import type { Proposer } from '../../records/proposer.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { CommitPlan, Pivot } from '../../records/tool-authority.ts';
import { causeOf, isDecidedByLog, stoppedError } from '../body/abort-reasons.ts';
import { Attempt } from '../body/attempt.ts';
import { Branch } from '../body/branch.ts';
import { callsToRepeat, planDeclared } from '../body/call-strategies.ts';
import type { OpenedTransaction } from '../body/opened-transaction.ts';
import { runBody, type Transaction } from '../body/transaction.ts';
import type { StartedTransaction } from '../engine/engine.ts';
import type { TransactionEngines } from '../engine/engines.ts';
import type { AdvanceResult, PlannedRun, TransactionRun } from '../log/advance.ts';
import { hasOnFailure } from '../settle/on-failure.ts';
import { commitPlanOf, pendingPlanOf, type ResolvedCall } from './commit-plan.ts';
import {
  abortedEffects,
  committedEffects,
  outcomesOf,
  type TransactionOutcome,
} from './transaction-outcome.ts';

// The stages of an opened transaction: running, ended, planned, ruled. Each class has only the
// methods that are legal in its stage, and a method returns the next stage.

/** The body may make calls. A late transaction has no epoch yet. */
export class RunningTransaction {
  readonly #branch: Branch;

  constructor(opened: OpenedTransaction, started: StartedTransaction | undefined) {
    this.#branch = new Branch(new Attempt(opened, started));
  }

  /**
   * Runs the body and waits for the end of its last call.
   * @throws the errors of the body; EffectError `not_awaited`, `deadline`, `resource_in_doubt`
   */
  async run<T>(
    body: (tx: Transaction) => Promise<T> | T,
    idleTimeoutMs: number,
  ): Promise<EndedTransaction<T>> {
    const { attempt } = this.#branch;
    const { limit, claims } = attempt.context;
    attempt.engine.requireNoDoubts(claims);
    limit.watchIdle(idleTimeoutMs);
    const value = await limit.run(() => runBody(this.#branch, body), stoppedError);
    const { last } = attempt;
    if (last !== undefined) await last;
    return new EndedTransaction(this.#branch, value);
  }

  /** The only step of a proposal without a body: plans the calls that its action declares. */
  planDeclared(calls: readonly ResolvedCall[], intent: Intent): EndedTransaction<undefined> {
    const { attempt } = this.#branch;
    attempt.engine.requireNoDoubts(attempt.context.claims);
    for (const { tool, input, claims } of calls) planDeclared(this.#branch, tool, input, claims);
    this.#branch.intent = intent;
    return new EndedTransaction(this.#branch, undefined);
  }

  /**
   * Aborts the transaction, in any stage before its ruling. Compensates its effects, unless the log
   * decides its outcome. Returns the error.
   */
  async abort(effects: TransactionEngines, thrown: unknown): Promise<unknown> {
    const error = toError(thrown);
    const { attempt } = this.#branch;
    await attempt.stagedWrites.rollback();
    this.#branch.end();
    await attempt.last;
    const { engine, started } = attempt;
    if (isDecidedByLog(error)) await effects.restart(engine, error);
    else if (started !== undefined) await engine.abort(started, causeOf(error));
    return error;
  }
}

/** The body has ended, and its calls are over. */
export class EndedTransaction<T> {
  readonly #branch: Branch;
  readonly #value: T;

  constructor(branch: Branch, value: T) {
    this.#branch = branch;
    this.#value = value;
  }

  /** The epoch and the log. Undefined for a late transaction before `start`. */
  get started(): StartedTransaction | undefined {
    return this.#branch.attempt.started;
  }

  /**
   * The calls that the action of the body declares, without those that the body has made.
   * `declared`: the calls that a proposal declares.
   */
  missing(
    declared: (
      input: Pick<ProposalInput, 'action' | 'role' | 'args' | 'observations'>,
    ) => readonly ProposedCall[],
  ) {
    const { intent, observations, calls } = this.#branch;
    if (intent === undefined) return [];
    const made = calls.map(textOf);
    return declared({ ...intent, observations }).filter((call) => {
      const at = made.indexOf(textOf(call));
      if (at !== -1) made.splice(at, 1);
      return at === -1;
    });
  }

  /** Plans calls that the action declares. */
  planDeclared(calls: readonly ResolvedCall[]): void {
    for (const { tool, input, claims } of calls) planDeclared(this.#branch, tool, input, claims);
  }

  /** Starts a late transaction. */
  start(): Promise<StartedTransaction> {
    return this.#branch.attempt.start();
  }

  /**
   * Plans the commit without the gate, because the proposal cannot wait for older transactions.
   * Nothing was called, and the effects pass the gate after the commit.
   */
  planUngated(started: StartedTransaction, domain: Domain): PlannedTransaction<T> {
    return this.#planned(started, domain, false);
  }

  /**
   * Passes the gate and plans the commit.
   * @throws the errors of the gate; RuntimeError `bad_intent` if the body has not proposed
   */
  async plan(started: StartedTransaction, domain: Domain): Promise<PlannedTransaction<T>> {
    const { limit } = this.#branch.attempt.context;
    const entering = limit.run(() => this.#acquire(), stoppedError);
    if (entering !== undefined) await entering;
    limit.stopWatchingIdle();
    return this.#planned(started, domain, true);
  }

  #planned(started: StartedTransaction, domain: Domain, isGated: boolean): PlannedTransaction<T> {
    const { attempt, planned, intent } = this.#branch;
    if (intent === undefined)
      throw badIntent(
        'the body of the transaction returned without a call of `propose`, so its effects are compensated',
      );
    const run = started.run.plan(
      planned,
      hasOnFailure(domain, intent.action),
      attempt.stagedWrites,
    );
    return new PlannedTransaction(this.#branch, this.#value, { intent, started, run, isGated });
  }

  /**
   * Resolves when all claims are granted and buffered calls still have their planned scopes.
   * Returns undefined if that holds immediately.
   * @throws EffectError `stale`, `resource_in_doubt`, `bad_resolver`, `key_collision`; the signal's
   * reason
   */
  #acquire(): Promise<void> | undefined {
    const { attempt, claimedCalls, optimisticReads } = this.#branch;
    // Includes calls that were planned earlier.
    for (const { tool, claims } of claimedCalls)
      attempt.claims.requireNothingUnresolved(tool, claims);
    const entered = attempt.claims.acquire(async () => {
      for (const { tool, input, claims } of claimedCalls)
        await attempt.checkNames(tool, input, claims);
    });
    const isChecked =
      optimisticReads.all.length > 0 || this.#mayHaveBeenSubmitted || !attempt.stagedWrites.isEmpty;
    return isChecked ? this.#checked(entered) : entered;
  }

  async #checked(entered: Promise<void> | undefined): Promise<void> {
    const { attempt, optimisticReads, planned } = this.#branch;
    await entered;
    for (const guess of optimisticReads.all) await optimisticReads.validate(guess);
    // Redoes staged writes that yielded to an effect. Fails if they could not be repeated, or the
    // body ignored their changed answers.
    if (!attempt.stagedWrites.isEmpty) await attempt.replayStaged(this.#branch);
    // An approved call runs under the keys of its submission, so no earlier attempt may have used
    // them.
    if (this.#mayHaveBeenSubmitted) await attempt.keys.checkUnused(planned);
  }

  /**
   * Whether the transaction can become pending under keys that an earlier attempt used. Mostly no
   * earlier attempt was checked for.
   */
  get #mayHaveBeenSubmitted(): boolean {
    const { isRepeated, checksDuplicates, domain } = this.#branch.attempt.context;
    return isRepeated && !checksDuplicates && Object.keys(domain.counselors).length > 0;
  }
}

/** The commit is planned, mostly after the gate. */
export class PlannedTransaction<T> {
  readonly #branch: Branch;
  readonly #value: T;
  readonly #intent: Intent;
  readonly #started: StartedTransaction;
  readonly #run: PlannedRun;
  readonly #isGated: boolean;

  constructor(
    branch: Branch,
    value: T,
    {
      intent,
      started,
      run,
      isGated,
    }: {
      readonly intent: Intent;
      readonly started: StartedTransaction;
      readonly run: PlannedRun;
      readonly isGated: boolean;
    },
  ) {
    this.#isGated = isGated;
    this.#branch = branch;
    this.#value = value;
    this.#intent = intent;
    this.#started = started;
    this.#run = run;
  }

  /**
   * Proposes the action of the body with its effects, and waits for the durable ruling.
   * @throws EffectError `too_much`; the errors of the proposal
   */
  async propose(
    proposals: Proposer,
    given: Pick<ProposalInput, 'writ' | 'principal' | 'idempotencyKey'>,
  ): Promise<RuledTransaction<T>> {
    const input = { ...given, ...this.#intent, observations: this.#branch.observations };
    try {
      return this.ruled(await proposals.propose(input, this.commitPlan));
    } catch (error) {
      throw failedToPropose(error);
    }
  }

  /** The next stage, after the durable ruling on the proposal with this commit plan. */
  ruled(ruling: Ruling): RuledTransaction<T> {
    if (ruling.ruling === 'committed' && this.#run.committed(ruling.entry.id))
      return { finish: () => this.#runBuffered(ruling) };
    if (ruling.ruling === 'rejected' || ruling.ruling === 'escalated')
      this.#run.aborted(ruling.entry.id, ruling.ruling);
    return { finish: () => this.#compensate(ruling) };
  }

  /** The effects, for the proposal. */
  get commitPlan(): CommitPlan {
    const { uses, cost, pivot, calls } = this.#branch;
    const plan = commitPlanOf(this.#run, { uses, cost, calls, pivot: pivot && pivotOf(pivot) });
    if (this.#run.surviving().length === 0) return plan;
    return {
      ...plan,
      pendingEffects: () => pendingPlanOf(plan, callsToRepeat(this.#branch), this.#run.planned),
    };
  }

  async #runBuffered(ruling: Ruling): Promise<TransactionOutcome<T>> {
    const { run, work } = this.#started;
    const { engine, stagedWrites } = this.#branch.attempt;
    if (!this.#isGated) {
      // Not awaited: an older transaction may wait for this ruling. The engine retries after an
      // error.
      engine.finishInTurn(this.#started).catch(() => undefined);
      return { value: this.#value, ruling, epoch: work.epoch, effects: 'waiting' };
    }
    const finished = engine.finish(run);
    const end = await durableEnd(
      run,
      await (stagedWrites.isEmpty ? finished : stagedWrites.ended(finished)),
    );
    const { ruledOnFailure: failure } = run;
    const calls = outcomesOf(run);
    const outcome = {
      value: this.#value,
      ruling,
      epoch: work.epoch,
      effects: committedEffects(run, end),
      calls,
    };
    return failure === undefined ? outcome : { ...outcome, failure };
  }

  async #compensate(ruling: Ruling): Promise<TransactionOutcome<T>> {
    const { attempt, planned, executed } = this.#branch;
    await attempt.stagedWrites.rollback();
    const { run } = this.#started;
    const end = await durableEnd(run, await attempt.engine.abort(this.#started, ruling.ruling));
    const effects = abortedEffects(end);
    // Another process has adopted the transaction, and its ruling exists already.
    if (ruling.ruling === 'committed')
      return { value: undefined, ruling, epoch: undefined, effects };
    const waits = ruling.ruling === 'escalated' && planned.length + executed.length > 0;
    const { epoch } = this.#started.work;
    return {
      value: this.#value,
      ruling,
      epoch,
      effects: waits && end === 'ended' ? 'waiting' : effects,
    };
  }
}

/** The ruling is durable: the buffered calls run, or the executed effects are compensated. */
export interface RuledTransaction<T> {
  finish(): Promise<TransactionOutcome<T>>;
}

/**
 * Waits until the outcomes of an ended transaction are durable. If their write failed, the runtime
 * or the next owner of the log repeats it.
 */
async function durableEnd(run: TransactionRun, end: AdvanceResult): Promise<AdvanceResult> {
  return end === 'ended' && (await run.isDurable) === false ? 'retry_later' : end;
}

function textOf({ tool, input }: ProposedCall): string {
  return plainText({ input: input as Json, tool });
}

/** The call that a human must approve before it runs. */
export function pivotOf({ name, spec: { channel } }: Tool): Pivot {
  return channel === undefined ? { tool: name } : { tool: name, channel };
}

/** The error; `too_much` for a size limit that the caller of tools does not know. */
export function failedToPropose(error: unknown): unknown {
  if (!isInstance(error, CanonError) || error.code !== 'too_large') return error;
  return new EffectError(
    'too_much',
    'The entry of the transaction (proposal, calls, and up to 16 KiB of each answer) would exceed 1 MiB, so its effects are compensated. Use several transactions.',
    { cause: error },
  );
}
