import { writId } from '#authority';
import { isAssizeError, toError } from '#base';
import { type Claim, claimTexts, EffectError, isUnresolved, nameClaim, type TransactionState } from '#effects';
import { type CommitPayload, readRow } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { badIntent, TRANSACTION_KEY } from '../../records/intent.ts';
import type { Proposer } from '../../records/proposer.ts';
import { randomHex } from '../../records/random-hex.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { Writer } from '../../writer/writer.ts';
import type { StartedTransaction, TransactionEngine } from '../engine/engine.ts';
import { type TransactionEngines, throwAfterTurn } from '../engine/engines.ts';
import { afterMsOf, backoffMs } from '../limits/backoff.ts';
import { isPromise, TimeLimit } from '../limits/time-limit.ts';
import type { AdvanceResult, TransactionRun } from '../log/advance.ts';
import { hasOnFailure, previousOnFailureRuling } from '../settle/on-failure.ts';
import { causeOf, isCollision, isDecidedByLog, isRetryable, notStartedError, stoppedError } from './abort-reasons.ts';
import { Attempt, type AttemptContext } from './attempt.ts';
import { commitPlanOf, pendingPlanOf } from './commit-plan.ts';
import { Transaction } from './transaction.ts';
import { checkedOptions, DEADLINE_MS, RETRIES, type TransactionOptions } from './transaction-options.ts';

/** The outcome of a transaction. */
export interface TransactionOutcome<T> {
  readonly ruling: Ruling;
  /** The return value of the body. Undefined if the transaction already had a ruling. */
  readonly value: T | undefined;
  readonly epoch: number | undefined;
  /**
   * `settled`: all effects are done, or compensated without a commit. `failed`: an effect failed
   * permanently after the commit, and all effects are compensated. `person`: an effect needs a
   * human decision (`effects list`). `waiting`: the transaction waits for another decision or for a
   * process with its tools, or is in progress.
   */
  readonly effects: 'settled' | 'failed' | 'needs_human' | 'waiting';
  /** The ruling on the `onFailure` action, if an effect failed permanently after the commit. */
  readonly failure?: Ruling;
}

/**
 * Tool transactions on one trajectory. The action and the effects of a transaction are one proposal
 * (docs/decisions/001-order-of-a-proposal.md, docs/decisions/016-effect-outcomes.md).
 */
export class TransactionRunner {
  readonly #writer: Writer;
  readonly #proposals: Proposer;
  readonly #engines: TransactionEngines | undefined;

  constructor(writer: Writer, proposals: Proposer, effects: TransactionEngines | undefined) {
    this.#engines = effects;
    this.#writer = writer;
    this.#proposals = proposals;
  }

  async run<T>(given: TransactionOptions, body: (tx: Transaction) => Promise<T> | T): Promise<TransactionOutcome<T>> {
    const effects = this.#effects();
    const { options, claims } = checkedOptions(given, body);
    const { retries = RETRIES } = options;
    const { random } = this.#writer.context;
    const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    let checksDuplicates = false;
    const claimed = [...claims];
    for (let tries = 0; ; ) {
      // A random name identifies the attempt alone: no sink confuses it with another attempt.
      const name = options.name ?? randomHex(random, 16);
      const turn = effects.inFlight.waitTurn();
      if (turn !== undefined) await turn;
      try {
        const limit = new TimeLimit(deadlineMs, options.signal);
        // Includes all scopes claimed so far. Otherwise transactions that claim late could make
        // each other stale forever.
        const attempt = { name, checksDuplicates, claimed, limit };
        return await effects.track(limit, () => this.#attempt(effects, options, attempt, body));
      } catch (error) {
        if (isCollision(error) && !checksDuplicates) checksDuplicates = true;
        else if (isRetryable(error) && tries < retries) {
          tries++;
          await this.#pause(effects, tries, error, deadlineMs, options.signal);
        } else await throwAfterTurn(error);
      }
    }
  }

  /**
   * Waits before a restart after a call that did nothing. By then no effect of the attempt remains,
   * and no other transaction waits for it.
   */
  async #pause(
    effects: TransactionEngines,
    times: number,
    error: EffectError,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    // A stale attempt only needs to read again, without a pause.
    if (error.code !== 'tool_failed') return;
    // A longer pause than the deadline exceeds the caller's patience, and the caller may have an
    // alternative.
    if (afterMsOf(error.cause) > deadlineMs) throw error;
    const wished = backoffMs(times, error.cause);
    const [from, to] = [Math.min(wished, deadlineMs), Math.min(2 * wished, deadlineMs)];
    const { pause } = this.#writer.context;
    const limit = new TimeLimit(deadlineMs, signal);
    // Closing also ends the pause; the transaction then does not restart.
    await effects.track(limit, () => pause(from, to, limit.signal));
  }

  #effects(): TransactionEngines {
    const effects = this.#engines;
    if (effects !== undefined) return effects;
    throw new RuntimeError(
      'bad_option',
      'The runtime has no tools. Open it with `tools` and a store with an effect log.',
    );
  }

  async #attempt<T>(
    effects: TransactionEngines,
    options: TransactionOptions,
    { name, checksDuplicates, claimed, limit }: Pick<AttemptContext, 'name' | 'checksDuplicates' | 'claimed' | 'limit'>,
    body: (tx: Transaction) => Promise<T> | T,
  ): Promise<TransactionOutcome<T>> {
    const { signal } = limit;
    const holding = limit.run(() => effects.engine(signal), notStartedError);
    const held = isPromise(holding) ? await holding : holding;
    const naming = limit.run(() => held.names.resolve(claimed, signal), notStartedError);
    const resources = isPromise(naming) ? await naming : naming;
    const { id, parts } = this.#writer;
    const writ = parts.writs.present(options.writ);
    const principal = options.principal ?? writ.writ.subject;
    const named = options.name === undefined ? undefined : nameClaim({ trajectory: id, transaction: name });
    const claims = named === undefined ? resources : [named, ...resources];
    const isRepeated = named !== undefined;
    const begin = (all: readonly Claim[]) => {
      const body = { claims: claimTexts(all), principal, transaction: name, writ_id: writId(writ.writ) };
      return held.begin(id, all, body, isRepeated);
    };
    const isLate = options.epoch === 'late';
    const isOptimistic = isLate || options.reading === 'optimistic';
    const beginning = isLate ? undefined : beginBeforeDeadline(held, limit, () => begin(claims));
    let begun: StartedTransaction | undefined = isPromise(beginning) ? await beginning : beginning;
    const authority = () => this.#writer.authority(writ, principal, this.#writer.now());
    const asking = {
      trajectoryId: id,
      root: parts.chain.root,
      name,
      isRepeated,
      checksDuplicates,
      isOptimistic,
      claimed,
      authority,
      unstored: () => this.#writer.parts.writs.unstored(writ),
      counselors: Object.keys(parts.domain.counselors),
      signal,
      limit,
    };
    // A late transaction keeps its claims private and has no epoch yet.
    const work = begun?.work ?? { epoch: 0, claims: [...claims] };
    const tx = new Transaction(new Attempt(held, begun?.run, work, asking));
    // Waits for a transaction of the same name, here or in another process. Afterwards the name has
    // a ruling, or its attempt did nothing.
    const ruledBefore = (): Promise<Ruling | undefined> | undefined =>
      named === undefined ? undefined : this.#previousRuling(held, begun, named, { name, principal, signal });
    let done: CompletedBody<T>;
    try {
      const asked = limit.run(ruledBefore, stoppedError);
      let before = isPromise(asked) ? await asked : asked;
      if (before !== undefined) return await this.#previousOutcome(held, begun, before, { named, principal });
      held.requireNoDoubts(claims);
      limit.watchIdle(options.idleTimeoutMs ?? effects.idleTimeoutMs);
      const value = await limit.run(() => tx.run(body), stoppedError);
      const last = tx.end();
      if (last !== undefined) await last;
      if (begun === undefined) {
        limit.pause();
        begun = await beginBeforeDeadline(held, limit, () => begin(tx.claims));
        tx.attach(begun.run, begun.work);
        before = await limit.run(ruledBefore, stoppedError);
        limit.resume();
        if (before !== undefined) return await this.#previousOutcome(held, begun, before, { named, principal });
      }
      const entering = limit.run(() => tx.acquire(), stoppedError);
      if (entering !== undefined) await entering;
      limit.stopWatchingIdle();
      done = { value, ruling: await this.#commit(options, tx, begun.run) };
    } catch (thrown) {
      const error = toError(thrown);
      await tx.stagedWrites.rollback();
      await tx.end();
      if (isDecidedByLog(error)) await effects.restart(held, error);
      else if (begun !== undefined) await this.#undo(held, begun, causeOf(error));
      throw error;
    } finally {
      limit.end();
    }
    return this.#ruled(held, begun, tx, done);
  }

  /** The ruling of the name, once no transaction of that name is active. */
  async #previousRuling(
    held: TransactionEngine,
    begun: StartedTransaction | undefined,
    named: Claim,
    { name, principal, signal }: { readonly name: string; readonly principal: string; readonly signal: AbortSignal },
  ): Promise<Ruling | undefined> {
    if (begun !== undefined) await held.coordination.whenClear(begun.work, [named], signal);
    return this.#proposals.rulingFor(keyOf(name), principal);
  }

  async #commit(options: TransactionOptions, tx: Transaction, run: TransactionRun): Promise<Ruling> {
    const { writ, principal, name } = options;
    const { intent, observations } = tx;
    if (intent === undefined)
      throw badIntent(
        'the body of the transaction returned without a call of `propose`, so its effects are compensated',
      );
    // The log failure counts even if the body caught the error.
    run.check();
    const idempotencyKey = name === undefined ? undefined : keyOf(name);
    const input = { writ, principal, idempotencyKey, ...intent, observations };
    run.hasOnFailure = hasOnFailure(this.#writer.parts.domain, intent.action);
    run.stagedWrites = tx.stagedWrites;
    const acting = commitPlanOf(run, tx.planned, tx);
    const parked = () => pendingPlanOf(acting, tx.callsToRepeat(), tx.planned);
    const proposing = this.#proposals.propose(
      input,
      run.surviving.length === 0 ? acting : { ...acting, pendingEffects: parked },
    );
    const ruling = await proposing.catch(failedToPropose);
    if (ruling.ruling === 'committed' && run.isRuledBy(ruling.entry.id)) run.committed(ruling.entry.id, tx.planned);
    if (ruling.ruling === 'rejected' || ruling.ruling === 'escalated') run.aborted(ruling.entry.id, ruling.ruling);
    return ruling;
  }

  async #ruled<T>(
    held: TransactionEngine,
    { run, work }: StartedTransaction,
    tx: Transaction,
    { value, ruling }: CompletedBody<T>,
  ): Promise<TransactionOutcome<T>> {
    const { epoch } = work;
    if (ruling.ruling === 'committed' && run.isRuledBy(ruling.entry.id)) {
      const finished = held.finish(run);
      const effects = endOf(run, await (tx.stagedWrites.isEmpty ? finished : tx.stagedWrites.ended(finished)));
      const { ruledOnFailure: failure } = run;
      return failure === undefined ? { value, ruling, epoch, effects } : { value, ruling, epoch, effects, failure };
    }
    await tx.stagedWrites.rollback();
    const end = await this.#undo(held, { run, work }, ruling.ruling);
    // Another process has adopted the transaction, and its ruling exists already.
    if (ruling.ruling === 'committed') return { value: undefined, ruling, epoch: undefined, effects: undoneTo(end) };
    const waits = ruling.ruling === 'escalated' && tx.planned.length + tx.executed > 0;
    return { value, ruling, epoch, effects: waits && end === 'ended' ? 'waiting' : undoneTo(end) };
  }

  /** The name already has a ruling: no attempt starts. */
  async #previousOutcome(
    held: TransactionEngine,
    begun: StartedTransaction | undefined,
    ruling: Ruling,
    { named, principal }: { readonly named: Claim | undefined; readonly principal: string },
  ): Promise<TransactionOutcome<never>> {
    const state = await this.#stateBefore(held, ruling);
    const failure = await this.#failureOf(ruling, principal, state);
    const doubt = named === undefined ? undefined : held.coordination.doubtAt(named);
    const effects = doubt === undefined ? endedBefore(ruling, state) : unfinishedState(await held.stateAt(doubt));
    if (begun !== undefined) held.discard(begun.work);
    const before = { ruling, value: undefined, epoch: undefined, effects } as const;
    return failure === undefined ? before : { ...before, failure };
  }

  /**
   * The outcome of the effects, from the log. An approved transaction does not run under the
   * caller's name.
   */
  async #stateBefore(held: TransactionEngine, ruling: Ruling): Promise<TransactionState | undefined> {
    if (ruling.ruling !== 'committed') return undefined;
    const [named] = (readRow(ruling.entry).payload as CommitPayload).delta.effects;
    if (named === undefined) return undefined;
    await held.recorded();
    return held.stateOf(named.id);
  }

  async #failureOf(
    ruling: Ruling,
    principal: string,
    state: TransactionState | undefined,
  ): Promise<Ruling | undefined> {
    if (ruling.ruling !== 'committed' || state?.failing === undefined) return undefined;
    return previousOnFailureRuling(this.#proposals, ruling.entry.id, state.failing.refusals, principal);
  }

  async #undo(held: TransactionEngine, { run, work }: StartedTransaction, cause: string): Promise<AdvanceResult> {
    if (!run.isLogged) {
      held.discard(work);
      return 'ended';
    }
    return held.finish(run, cause);
  }
}

/**
 * If the epoch is assigned after the caller stopped waiting, the epoch and its claims are released
 * immediately.
 */
function beginBeforeDeadline(
  held: TransactionEngine,
  limit: TimeLimit,
  begin: () => Promise<StartedTransaction> | StartedTransaction,
): Promise<StartedTransaction> | StartedTransaction {
  let given: Promise<StartedTransaction> | StartedTransaction | undefined;
  const made = limit.run(() => {
    given = begin();
    return given;
  }, stoppedError);
  if (!isPromise(made)) return made;
  return made.catch((error: unknown) => {
    if (given !== undefined)
      Promise.resolve(given).then(
        ({ work }) => held.discard(work),
        () => undefined,
      );
    throw error;
  });
}

/**
 * Replaces errors about size limits that the caller of tools does not know. @throws EffectError
 * `too_much`; other errors unchanged
 */
function failedToPropose(error: unknown): never {
  if (!isAssizeError(error, 'too_large')) throw error;
  throw new EffectError(
    'too_much',
    'The entry of the transaction (proposal, calls, and up to 16 KiB of each answer) would exceed 1 MiB, so its effects are compensated. Use several transactions.',
    { cause: error },
  );
}

/** The return value of a body, with the ruling on its proposal. */
interface CompletedBody<T> {
  readonly value: T;
  readonly ruling: Ruling;
}

/** The outcome of the effects of a commit. */
function endOf({ state }: TransactionRun, end: AdvanceResult): TransactionOutcome<never>['effects'] {
  if (end !== 'ended') return end === 'needs_human' ? 'needs_human' : 'waiting';
  return state.failing === undefined ? 'settled' : 'failed';
}

/** The outcome of the effects of an earlier ruling without unresolved effects. */
function endedBefore(ruling: Ruling, state: TransactionState | undefined): TransactionOutcome<never>['effects'] {
  if (ruling.ruling === 'escalated') return 'waiting';
  if (state === undefined) return 'settled';
  if (state.phase === 'settled') return state.failing === undefined ? 'settled' : 'failed';
  return unfinishedState(state);
}

/**
 * An unfinished transaction is `person` if one of its effects needs a human decision, and otherwise
 * `waiting`.
 */
function unfinishedState(state: TransactionState | undefined): 'needs_human' | 'waiting' {
  return state?.effects.some(({ phase }) => isUnresolved(phase)) === true ? 'needs_human' : 'waiting';
}

/** The outcome of the effects of an aborted transaction. */
function undoneTo(end: AdvanceResult): 'settled' | 'needs_human' | 'waiting' {
  if (end === 'ended') return 'settled';
  return end === 'needs_human' ? 'needs_human' : 'waiting';
}

function keyOf(name: string): string {
  return TRANSACTION_KEY + name;
}
