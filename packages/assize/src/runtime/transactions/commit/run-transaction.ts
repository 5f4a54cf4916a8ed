import { type EffectError, nameClaim } from '#effects';
import { RuntimeError } from '../../errors.ts';
import type { ProposalInput } from '../../records/intent.ts';
import type { Proposer } from '../../records/proposer.ts';
import { randomHex } from '../../records/salts.ts';
import type { Writer } from '../../writer/writer.ts';
import { isCollision, isRetryable, notHeldError, notStartedError } from '../body/abort-reasons.ts';
import {
  type OpenedTransaction,
  openTransaction,
  startTransaction,
} from '../body/opened-transaction.ts';
import type { Transaction } from '../body/transaction.ts';
import {
  checkedOptions,
  DEADLINE_MS,
  RETRIES,
  type TransactionOptions,
} from '../body/transaction-options.ts';
import { type TransactionEngines, throwAfterTurn } from '../engine/engines.ts';
import { afterMsOf, backoffMs } from '../limits/backoff.ts';
import { isPromise, TimeLimit } from '../limits/time-limit.ts';
import { resolvedCalls } from './commit-plan.ts';
import { keyOf, previousOutcome } from './previous-outcome.ts';
import { recordedContent, requireSameContent } from './repeated-body.ts';
import { type RuledTransaction, RunningTransaction } from './stages.ts';
import type { TransactionOutcome } from './transaction-outcome.ts';

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

  async run<T>(
    given: TransactionOptions,
    body: (tx: Transaction) => Promise<T> | T,
  ): Promise<TransactionOutcome<T>> {
    const effects = requireTools(this.#engines);
    const { options, claims } = checkedOptions(given, body);
    const { retries = RETRIES } = options;
    const { random } = this.#writer.context;
    const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    let checksDuplicates = false;
    let staleTimes = 0;
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
        const isOrdered = staleTimes >= STALE_MAX;
        const attempt = { name, checksDuplicates, claimed, limit, isOrdered };
        return await effects.track(limit, () => this.#attempt(effects, options, attempt, body));
      } catch (error) {
        if (isCollision(error) && !checksDuplicates) checksDuplicates = true;
        else if (isRetryable(error) && tries < retries) {
          tries++;
          if (error.code === 'stale') staleTimes++;
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

  /** One attempt, from stage to stage. A stage has only the methods that are legal in it. */
  async #attempt<T>(
    effects: TransactionEngines,
    options: TransactionOptions,
    terms: RestartTerms,
    body: (tx: Transaction) => Promise<T> | T,
  ): Promise<TransactionOutcome<T>> {
    const { limit } = terms;
    const { signal } = limit;
    const holding = limit.run(() => effects.engine(limit, signal), notHeldError);
    const engine = isPromise(holding) ? await holding : holding;
    const naming = limit.run(() => engine.names.resolve(terms.claimed, signal), notStartedError);
    const resources = isPromise(naming) ? await naming : naming;
    const named =
      options.name === undefined
        ? undefined
        : nameClaim({ trajectory: this.#writer.id, transaction: terms.name });
    const isLate = options.epoch === 'late' && !terms.isOrdered;
    const opened = openTransaction(this.#writer, engine, options, {
      ...terms,
      claims: named === undefined ? resources : [named, ...resources],
      named,
      isRepeated: named !== undefined,
      isOptimistic: !terms.isOrdered && (isLate || options.reading === 'optimistic'),
    });
    const starting = isLate ? undefined : startTransaction(opened, opened.claims);
    const early = isPromise(starting) ? await starting : starting;
    const running = new RunningTransaction(opened, early);
    let ruled: RuledTransaction<T>;
    let before: TransactionOutcome<never> | undefined;
    try {
      const asked = previousOutcome(this.#proposals, opened, early);
      before = asked && (await asked);
      if (before !== undefined) return await this.#repeated(opened, before, body);
      if (this.#writer.parts.chain.halted !== undefined) await this.#refuseIfHalted();
      this.#writer.refuseIfOtherKey();
      const ended = await running.run(body, options.idleTimeoutMs ?? effects.idleTimeoutMs);
      const missing = ended.missing((intent) =>
        this.#proposals.declaredCalls({ ...intent, ...proposer(options) }),
      );
      if (missing.length > 0) ended.planDeclared(await resolvedCalls(engine, missing, signal));
      let { started } = ended;
      if (started === undefined) {
        limit.pause();
        started = await ended.start();
        before = await previousOutcome(this.#proposals, opened, started);
        limit.resume();
        if (before !== undefined) return await this.#repeated(opened, before, body);
      }
      const planned = await ended.plan(started, this.#writer.parts.domain);
      const { writ, principal, name } = options;
      const idempotencyKey = name === undefined ? undefined : keyOf(name);
      ruled = await planned.propose(this.#proposals, { writ, principal, idempotencyKey });
    } catch (thrown) {
      // The earlier transaction stands, and this one has done nothing.
      if (before !== undefined) throw thrown;
      throw await running.abort(effects, thrown);
    } finally {
      limit.end();
    }
    return ruled.finish();
  }

  /** The outcome of the name, for the same content. @throws RuntimeError `idempotency_conflict` */
  async #repeated(
    opened: OpenedTransaction,
    before: TransactionOutcome<never>,
    body: (tx: Transaction) => unknown,
  ): Promise<TransactionOutcome<never>> {
    if (before.ruling.ruling === 'frozen') return before;
    const { store, replayer, oracle } = this.#writer.context;
    const recorded = await recordedContent(before.ruling.entry, store, { replayer, oracle });
    if (recorded !== undefined) await requireSameContent(opened, recorded, body);
    return before;
  }

  /** Also asks the store, because another process may have resumed the trajectory. */
  async #refuseIfHalted(): Promise<void> {
    const writer = this.#writer;
    if (await writer.isBehind()) await writer.ready();
    writer.refuseIfHalted();
  }
}

/** The terms of an attempt that its restarts change. */
interface RestartTerms
  extends Pick<OpenedTransaction, 'name' | 'checksDuplicates' | 'claimed' | 'limit'> {
  /** Whether it waits in turn, as with the default options. */
  readonly isOrdered: boolean;
}

/**
 * Number of stale attempts after which a transaction waits in turn. Others could change its reads
 * before every gate.
 */
const STALE_MAX = 3;

function proposer({
  writ,
  principal,
}: TransactionOptions): Pick<ProposalInput, 'writ' | 'principal'> {
  return { writ, principal };
}

/** @throws RuntimeError `bad_argument` if the runtime has no tools */
export function requireTools(engines: TransactionEngines | undefined): TransactionEngines {
  if (engines !== undefined) return engines;
  throw new RuntimeError(
    'bad_argument',
    'The runtime has no tools. Open it with `tools` and a store with an effect log.',
  );
}
