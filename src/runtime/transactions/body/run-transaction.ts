import { writId } from '#authority';
import { isAssizeError, thrownOf } from '#base';
import { type Claim, claimTexts, EffectError, isLeft, nameClaim, type TransactionState } from '#effects';
import { type CommitPayload, readRow } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { badIntent, TRANSACTION_KEY } from '../../records/intent.ts';
import type { Proposer } from '../../records/proposer.ts';
import { randomHex } from '../../records/random-hex.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { Writer } from '../../writer/writer.ts';
import type { Begun, Held } from '../engine/engine.ts';
import { type Effects, inATurn } from '../engine/engines.ts';
import { afterMsOf, wishedPauseMs } from '../limits/backoff.ts';
import { isPromise, TimeLimit } from '../limits/time-limit.ts';
import type { Moved, Run } from '../log/advance.ts';
import { failureBefore, hasOnFailure } from '../settle/on-failure.ts';
import { causeOf, isCollision, isForTheLogToSay, isWorthAnother, notBegun, stopped } from './abort-reasons.ts';
import { type Asking, Attempt } from './attempt.ts';
import { actingOf, parkedOf } from './commit-plan.ts';
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
  readonly effects: 'settled' | 'failed' | 'person' | 'waiting';
  /** The ruling on the `onFailure` action, if an effect failed permanently after the commit. */
  readonly failure?: Ruling;
}

/**
 * Tool transactions on one trajectory. The action and the effects of a transaction are one proposal
 * (docs/decisions/001-order-of-a-proposal.md, docs/decisions/016-effect-outcomes.md).
 */
export class Transactions {
  readonly #writer: Writer;
  readonly #proposals: Proposer;
  readonly #engines: Effects | undefined;

  constructor(writer: Writer, proposals: Proposer, effects: Effects | undefined) {
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
    let isCareful = false;
    const claimed = [...claims];
    for (let tries = 0; ; ) {
      // A random name identifies the attempt alone: no sink confuses it with another attempt.
      const name = options.name ?? randomHex(random, 16);
      const turn = effects.inFlight.turn();
      if (turn !== undefined) await turn;
      try {
        const limit = new TimeLimit(deadlineMs, options.signal);
        // Includes all scopes claimed so far. Otherwise transactions that claim late could make
        // each other stale forever.
        const attempt = { name, isCareful, claimed, limit };
        return await effects.attend(limit, () => this.#attempt(effects, options, attempt, body));
      } catch (error) {
        if (isCollision(error) && !isCareful) isCareful = true;
        else if (isWorthAnother(error) && tries < retries) {
          tries++;
          await this.#pause(effects, tries, error, deadlineMs, options.signal);
        } else await inATurn(error);
      }
    }
  }

  /**
   * Waits before a restart after a call that did nothing. By then no effect of the attempt remains,
   * and no other transaction waits for it.
   */
  async #pause(
    effects: Effects,
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
    const wished = wishedPauseMs(times, error.cause);
    const [from, to] = [Math.min(wished, deadlineMs), Math.min(2 * wished, deadlineMs)];
    const { pause } = this.#writer.context;
    const limit = new TimeLimit(deadlineMs, signal);
    // Closing also ends the pause; the transaction then does not restart.
    await effects.attend(limit, () => pause(from, to, limit.signal));
  }

  #effects(): Effects {
    const effects = this.#engines;
    if (effects !== undefined) return effects;
    throw new RuntimeError(
      'bad_option',
      'There are no tools here; open the runtime with `tools`, over a store that keeps an effect log.',
    );
  }

  async #attempt<T>(
    effects: Effects,
    options: TransactionOptions,
    { name, isCareful, claimed, limit }: Pick<Asking, 'name' | 'isCareful' | 'claimed' | 'limit'>,
    body: (tx: Transaction) => Promise<T> | T,
  ): Promise<TransactionOutcome<T>> {
    const { signal } = limit;
    const holding = limit.bound(() => effects.held(signal), notBegun);
    const held = isPromise(holding) ? await holding : holding;
    const naming = limit.bound(() => held.names.of(claimed, signal), notBegun);
    const resources = isPromise(naming) ? await naming : naming;
    const { id, parts } = this.#writer;
    const writ = parts.writs.present(options.writ);
    const principal = options.principal ?? writ.writ.subject;
    const named = options.name === undefined ? undefined : nameClaim({ trajectory: id, transaction: name });
    const claims = named === undefined ? resources : [named, ...resources];
    const isAgain = named !== undefined;
    const begin = (all: readonly Claim[]) => {
      const body = { claims: claimTexts(all), principal, transaction: name, writ_id: writId(writ.writ) };
      return held.begin(id, all, body, isAgain);
    };
    const isLate = options.epoch === 'late';
    const isOptimistic = isLate || options.reading === 'optimistic';
    const beginning = isLate ? undefined : beginInTime(held, limit, () => begin(claims));
    let begun: Begun | undefined = isPromise(beginning) ? await beginning : beginning;
    const authority = () => this.#writer.authority(writ, principal, this.#writer.now());
    const asking = {
      trajectoryId: id,
      root: parts.chain.root,
      name,
      isAgain,
      isCareful,
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
      named === undefined ? undefined : this.#ruledBefore(held, begun, named, { name, principal, signal });
    let done: Done<T>;
    try {
      const asked = limit.bound(ruledBefore, stopped);
      let before = isPromise(asked) ? await asked : asked;
      if (before !== undefined) return await this.#asBefore(held, begun, before, { named, principal });
      held.checkDoubts(claims);
      limit.attend(options.idleMs ?? effects.idleMs);
      const value = await limit.bound(() => tx.run(body), stopped);
      const last = tx.end();
      if (last !== undefined) await last;
      if (begun === undefined) {
        limit.waits();
        begun = await beginInTime(held, limit, () => begin(tx.claims));
        tx.attach(begun.run, begun.work);
        before = await limit.bound(ruledBefore, stopped);
        limit.goesOn();
        if (before !== undefined) return await this.#asBefore(held, begun, before, { named, principal });
      }
      const entering = limit.bound(() => tx.enter(), stopped);
      if (entering !== undefined) await entering;
      limit.unattend();
      done = { value, ruling: await this.#commit(options, tx, begun.run) };
    } catch (thrown) {
      const error = thrownOf(thrown);
      await tx.holdings.end();
      await tx.end();
      if (isForTheLogToSay(error)) await effects.beginAnew(held, error);
      else if (begun !== undefined) await this.#undo(held, begun, causeOf(error));
      throw error;
    } finally {
      limit.end();
    }
    return this.#ruled(held, begun, tx, done);
  }

  /** The ruling of the name, once no transaction of that name is active. */
  async #ruledBefore(
    held: Held,
    begun: Begun | undefined,
    named: Claim,
    { name, principal, signal }: { readonly name: string; readonly principal: string; readonly signal: AbortSignal },
  ): Promise<Ruling | undefined> {
    if (begun !== undefined) await held.coordination.whenClear(begun.work, [named], signal);
    return this.#proposals.ruledUnder(keyOf(name), principal);
  }

  async #commit(options: TransactionOptions, tx: Transaction, run: Run): Promise<Ruling> {
    const { writ, principal, name } = options;
    const { intent, observations } = tx;
    if (intent === undefined)
      throw badIntent(
        'the body of a transaction says with `propose` what it commits with, and this one returned without; what it did is undone',
      );
    // The log failure counts even if the body caught the error.
    run.check();
    const idempotencyKey = name === undefined ? undefined : keyOf(name);
    const input = { writ, principal, idempotencyKey, ...intent, observations };
    run.hasOnFailure = hasOnFailure(this.#writer.parts.domain, intent.action);
    run.holdings = tx.holdings;
    const acting = actingOf(run, tx.planned, tx);
    const parked = () => parkedOf(acting, tx.again(), tx.planned);
    const proposing = this.#proposals.propose(input, run.standing.length === 0 ? acting : { ...acting, parked });
    const ruling = await proposing.catch(failedToPropose);
    if (ruling.ruling === 'committed' && run.isRuledBy(ruling.entry.id)) run.committed(ruling.entry.id, tx.planned);
    if (ruling.ruling === 'rejected' || ruling.ruling === 'escalated') run.undoneBy(ruling.entry.id, ruling.ruling);
    return ruling;
  }

  async #ruled<T>(
    held: Held,
    { run, work }: Begun,
    tx: Transaction,
    { value, ruling }: Done<T>,
  ): Promise<TransactionOutcome<T>> {
    const { epoch } = work;
    if (ruling.ruling === 'committed' && run.isRuledBy(ruling.entry.id)) {
      const finished = held.finish(run);
      const effects = endOf(run, await (tx.holdings.areNone ? finished : tx.holdings.ended(finished)));
      const { ruledOnFailure: failure } = run;
      return failure === undefined ? { value, ruling, epoch, effects } : { value, ruling, epoch, effects, failure };
    }
    await tx.holdings.end();
    const end = await this.#undo(held, { run, work }, ruling.ruling);
    // Another process has adopted the transaction, and its ruling exists already.
    if (ruling.ruling === 'committed') return { value: undefined, ruling, epoch: undefined, effects: undoneTo(end) };
    const waits = ruling.ruling === 'escalated' && tx.planned.length + tx.acted > 0;
    return { value, ruling, epoch, effects: waits && end === 'ended' ? 'waiting' : undoneTo(end) };
  }

  /** The name already has a ruling: no attempt starts. */
  async #asBefore(
    held: Held,
    begun: Begun | undefined,
    ruling: Ruling,
    { named, principal }: { readonly named: Claim | undefined; readonly principal: string },
  ): Promise<TransactionOutcome<never>> {
    const state = await this.#stateBefore(held, ruling);
    const failure = await this.#failureOf(ruling, principal, state);
    const doubt = named === undefined ? undefined : held.coordination.doubtAt(named);
    const effects = doubt === undefined ? endedBefore(ruling, state) : leftTo(await held.stateAt(doubt));
    if (begun !== undefined) held.drop(begun.work);
    const before = { ruling, value: undefined, epoch: undefined, effects } as const;
    return failure === undefined ? before : { ...before, failure };
  }

  /**
   * The outcome of the effects, from the log. An approved transaction does not run under the
   * caller's name.
   */
  async #stateBefore(held: Held, ruling: Ruling): Promise<TransactionState | undefined> {
    if (ruling.ruling !== 'committed') return undefined;
    const [named] = (readRow(ruling.entry).payload as CommitPayload).delta.effects;
    if (named === undefined) return undefined;
    await held.told();
    return held.stateOf(named.id);
  }

  async #failureOf(
    ruling: Ruling,
    principal: string,
    state: TransactionState | undefined,
  ): Promise<Ruling | undefined> {
    if (ruling.ruling !== 'committed' || state?.failing === undefined) return undefined;
    return failureBefore(this.#proposals, ruling.entry.id, state.failing.refusals, principal);
  }

  async #undo(held: Held, { run, work }: Begun, cause: string): Promise<Moved> {
    if (!run.isLogged) {
      held.drop(work);
      return 'ended';
    }
    return held.finish(run, cause);
  }
}

/**
 * If the epoch is assigned after the caller stopped waiting, the epoch and its claims are released
 * immediately.
 */
function beginInTime(held: Held, limit: TimeLimit, begin: () => Promise<Begun> | Begun): Promise<Begun> | Begun {
  let given: Promise<Begun> | Begun | undefined;
  const made = limit.bound(() => {
    given = begin();
    return given;
  }, stopped);
  if (!isPromise(made)) return made;
  return made.catch((error: unknown) => {
    if (given !== undefined)
      Promise.resolve(given).then(
        ({ work }) => held.drop(work),
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
    'The entry of the transaction would have more than 1 MiB, with what it proposes, its calls, and what each has answered in up to 16 KiB; what it did is undone. Do it in several transactions.',
    { cause: error },
  );
}

/** The return value of a body, with the ruling on its proposal. */
interface Done<T> {
  readonly value: T;
  readonly ruling: Ruling;
}

/** The outcome of the effects of a commit. */
function endOf({ state }: Run, end: Moved): TransactionOutcome<never>['effects'] {
  if (end !== 'ended') return end === 'person' ? 'person' : 'waiting';
  return state.failing === undefined ? 'settled' : 'failed';
}

/** The outcome of the effects of an earlier ruling without unresolved effects. */
function endedBefore(ruling: Ruling, state: TransactionState | undefined): TransactionOutcome<never>['effects'] {
  if (ruling.ruling === 'escalated') return 'waiting';
  if (state === undefined) return 'settled';
  if (state.phase === 'settled') return state.failing === undefined ? 'settled' : 'failed';
  return leftTo(state);
}

/**
 * An unfinished transaction is `person` if one of its effects needs a human decision, and otherwise
 * `waiting`.
 */
function leftTo(state: TransactionState | undefined): 'person' | 'waiting' {
  return state?.effects.some(({ phase }) => isLeft(phase)) === true ? 'person' : 'waiting';
}

/** The outcome of the effects of an aborted transaction. */
function undoneTo(end: Moved): 'settled' | 'person' | 'waiting' {
  if (end === 'ended') return 'settled';
  return end === 'person' ? 'person' : 'waiting';
}

function keyOf(name: string): string {
  return TRANSACTION_KEY + name;
}
