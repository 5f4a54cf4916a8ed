import { isInstance, toError } from '#base';
import { type Claim, EffectError, type Tool } from '#effects';
import { callInput, type Domain } from '#kernel';
import { badIntent, parseIntent } from '../../records/intent.ts';
import { admit, admitLater, checkStillAllowed, useOf, whyNotAdopted } from './admission.ts';
import type { Attempt } from './attempt.ts';
import { Branch, type TransactionIntent, type TransactionIntentOf } from './branch.ts';
import { callStrategyFor } from './call-strategies.ts';
import type { Scoped } from './claims.ts';

/** The outcome of a branch. */
export type BranchResult<T> =
  | { readonly failed: false; readonly value: T }
  | { readonly failed: true; readonly error: unknown };

/** A transaction as its body sees it. Its calls take effect together, or are reverted. */
export class Transaction<D extends Domain = any> {
  readonly #attempt: Attempt;
  readonly #branch: Branch;

  constructor(branch: Branch) {
    this.#attempt = branch.attempt;
    this.#branch = branch;
    Object.freeze(this);
  }

  /**
   * The epoch of the transaction. A late transaction receives it at its gate; it is 0 until then.
   */
  get epoch(): number {
    return this.#attempt.epoch;
  }

  /** The scopes that the transaction may access. */
  get claims(): readonly Claim[] {
    return [...this.#attempt.claims.all];
  }

  /**
   * Sets the action that the transaction commits with, copied now. The last call of `propose`
   * counts.
   *
   * @throws EffectError `transaction_over`; the signal's reason; RuntimeError `bad_intent`;
   * CanonError for args that are not JSON
   */
  propose(intent: TransactionIntentOf<D>): void {
    this.#branch.requireOpen();
    if (typeof intent !== 'object' || intent === null)
      throw badIntent('the proposal of a transaction must be an object');
    // Copies only the known fields. The intent can be a model's answer, and the calls were
    // authorised under the options.
    this.#branch.intent = parseIntent(intent as TransactionIntent, this.#attempt.context.domain);
  }

  /**
   * Uses a tool, given itself with a typed input, or by name. A read returns its value. A call that
   * executes immediately returns its result. A call that is buffered until the commit returns the
   * result that its tool predicts; irreversible calls are buffered where possible. A call that can
   * be neither compensated nor buffered (the pivot) runs after approval of the proposal, after all
   * other effects. A transaction has at most one pivot.
   *
   * The body must await the call before it returns. Otherwise the body is refused (`not_awaited`)
   * and aborted, also if the call itself was refused and the body has not seen the refusal. If the
   * call was admitted and failed before the body returned, its promise is an ordinary rejection,
   * reported nowhere else.
   *
   * @throws EffectError `unknown_tool`, `bad_input`, `bad_resolver`, `not_authorised`,
   * `scope_exceeded`, `resource_in_doubt`, `tool_failed`, `outcome_unknown`, `key_collision`,
   * `no_counselor`, `second_pivot`, `too_much`, `branch_conflict`, `transaction_over`
   */
  call<Input>(tool: Tool<Input>, input: Input): Promise<any>;
  call(name: string, input: unknown): Promise<any>;
  call(tool: Tool | string, given: unknown): Promise<any> {
    const name = typeof tool === 'string' ? tool : String(tool?.name);
    try {
      return this.#admitted(name, given);
    } catch (error) {
      return this.#branch.unawaited.trackRejectable(name, () => Promise.reject(error));
    }
  }

  /** Detects an invalid call before any wait, where possible. */
  #admitted(name: string, given: unknown): Promise<unknown> {
    const branch = this.#branch;
    const attempt = this.#attempt;
    branch.requireOpen();
    const { names, ports } = attempt.engine;
    const tool = ports.tools.get(name);
    if (tool === undefined) throw unknownTool(name, ports.tools);
    // Numbered before any wait or refusal: keys must not depend on either.
    const ordinal = branch.nextCall();
    const parsed = tool.parse(given);
    // A read may ask for a name in the form that another system uses.
    const input =
      tool.class === undefined ? parsed : callInput(parsed, attempt.context.domain.texts);
    // Taken before the tool is asked for its scopes: that is host code, which can call the
    // transaction again.
    const turn =
      tool.class === undefined && tool.spec.readsStaged === undefined
        ? undefined
        : attempt.enqueue();
    // Not while claims are changing: the call is then checked after the calls before it.
    const isCertain =
      turn?.before === undefined && !names.hasResolvers && !attempt.claims.areChanging;
    let certain: readonly Claim[] | undefined;
    try {
      if (isCertain) certain = admit(branch, tool, input, tool.claims(input));
    } catch (error) {
      turn?.over();
      throw error;
    }
    const judgement = certain === undefined ? attempt.claims.deferAdmission() : undefined;
    // Checked before its turn, because the calls before it can run long and later claim changes
    // wait for this check. Names are resolved in turn, because the calls before it can change the
    // targets.
    const isEarly = judgement !== undefined && turn !== undefined && !names.hasResolvers;
    const early = isEarly ? admitLater(branch, tool, input, judgement) : undefined;
    // The rejection is handled when the call's turn comes.
    early?.catch(() => undefined);
    const way = callStrategyFor(tool);
    const make = async (): Promise<unknown> => {
      // Admitted calls also take a turn of the queue. A body that does not await the call has
      // returned by then, and the call is reported as not awaited.
      const claims = await (certain ?? early ?? admitLater(branch, tool, input, judgement!));
      if (isEarly) checkStillAllowed(branch, tool, input, claims);
      branch.uses.push(useOf(tool, input, claims));
      return await way(branch, tool, input, claims, ordinal);
    };
    const begin = turn === undefined ? make : () => attempt.runInOrder(make, turn);
    return isCertain
      ? this.#branch.unawaited.track(name, begin)
      : this.#branch.unawaited.trackRejectable(name, begin);
  }

  /**
   * Claims more scopes for later calls, also for calls in the same tick. They wait for this claim.
   * The claim waits for earlier calls that are not yet checked; if names are resolved, until their
   * turn. A tool or resolver that awaits the claim there deadlocks until the deadline.
   * @throws EffectError `stale` if a younger transaction has already acted there,
   * `resource_in_doubt`, `bad_resolver`
   */
  expand(more: Scoped): Promise<void> {
    return this.#branch.unawaited.trackRejectable('expand', () =>
      this.#attempt.claims.expand(more, () => this.#branch.requireOpen()),
    );
  }

  /**
   * Releases claims before the transaction ends, so that waiting transactions continue. Later calls
   * may not access these scopes. Earlier calls keep them: `release` waits for reads in flight, so
   * their values precede any later write. A tool that awaits the release of its own read deadlocks
   * until the deadline. Scopes of effects, and of optimistic reads that the gate validates, are
   * kept until the end.
   *
   * @throws EffectError `scope_exceeded` if a scope is not claimed literally, or is still needed;
   * then no scope is released
   */
  release(less: Scoped): Promise<void> {
    return this.#branch.unawaited.trackRejectable('release', () =>
      this.#attempt.claims.release(less, () => this.#branch.requireOpen()),
    );
  }

  /**
   * Runs a part that can fail alone. If its body throws, its effects are compensated, its planned
   * calls are dropped, and the error is rethrown. The transaction then continues without the part.
   * `retries`: number of restarts after a tool reported that a call did nothing. The part has the
   * epoch of the transaction (docs/decisions/015-effect-order.md).
   *
   * @throws the errors of the body and of the compensation; RuntimeError `bad_intent` for an
   * unknown option
   */
  nested<T>(
    body: (tx: Transaction<D>) => Promise<T> | T,
    options: { retries?: number } = {},
  ): Promise<T> {
    return this.#branch.unawaited.trackRejectable('nested', async () =>
      this.#nested(body, retriesOf(options)),
    );
  }

  async #nested<T>(body: (tx: Transaction<D>) => Promise<T> | T, retries: number): Promise<T> {
    this.#branch.requireOpen();
    // One ordinal for all attempts: calls in the part and after it keep their keys.
    const family = this.#branch.nextCall();
    for (let tries = 0; ; tries++) {
      let failed: { readonly error: unknown } | undefined;
      const first = ([tried]: readonly BranchResult<T>[]): number | undefined => {
        if (tried?.failed === true) failed = tried;
        return failed === undefined ? 0 : undefined;
      };
      try {
        return await this.#speculate([body], first, family);
      } catch (error) {
        const isUndone = isInstance(error, EffectError) && error.code === 'no_branch';
        if (failed === undefined || !isUndone) throw error;
        const { error: why } = failed;
        if (
          tries >= retries ||
          !(why instanceof EffectError && why.code === 'tool_failed' && why.retryable)
        )
          throw why;
      }
    }
  }

  /**
   * Runs several alternatives in parallel and continues with one. The others did nothing, or are
   * compensated before this returns. Alternatives are branches of one transaction and share its
   * epoch. Branches do not see each other's effects, and their parent sees none before the choice
   * (`branch_conflict`), except through tools that support parallel use. `choose` receives a frozen
   * list of the outcomes. It returns the index of a successful branch, or undefined to choose no
   * branch. Branches can branch again.
   *
   * @throws EffectError `no_branch` if no branch or a failed branch was chosen; `second_pivot` if
   * both the chosen branch and its parent call a pivot; the errors of `choose`; RuntimeError
   * `bad_intent`
   */
  speculate<T>(
    branches: readonly ((tx: Transaction<D>) => Promise<T> | T)[],
    choose: (tried: readonly BranchResult<T>[]) => Promise<number | undefined> | number | undefined,
  ): Promise<T> {
    return this.#branch.unawaited.trackRejectable('speculate', () =>
      this.#speculate(branches, choose),
    );
  }

  async #speculate<T>(
    branches: readonly ((tx: Transaction) => Promise<T> | T)[],
    choose: (tried: readonly BranchResult<T>[]) => Promise<number | undefined> | number | undefined,
    ofNested?: number,
  ): Promise<T> {
    this.#branch.requireOpen();
    // Checked before any work starts.
    checkFunctions(branches, choose);
    const family = ofNested ?? this.#branch.nextCall();
    const attempt = this.#attempt;
    const parent = this.#branch;
    const children = branches.map(
      (_, i) => new Branch(attempt, parent, `${parent.place}${family}.${i}/`),
    );
    const tried = Object.freeze(
      await Promise.all(branches.map((body, i) => branchResults(children[i]!, body))),
    );
    // Also ends the branches that failed.
    for (const child of children) child.end();
    let chosen: number | undefined;
    let refused: EffectError | undefined;
    try {
      chosen = placeIn(await choose(tried));
    } finally {
      await attempt.runInOrder(async () => {
        // If the call was not awaited, an ended parent also compensates all branches.
        parent.requireOpen();
        const winner =
          chosen !== undefined && tried[chosen]?.failed === false ? children[chosen] : undefined;
        refused = winner && whyNotAdopted(parent, winner);
        const adopted = refused === undefined ? winner : undefined;
        const losers = children.filter((child) => child !== adopted);
        await this.#discard(losers, adopted === undefined ? parent : adopted);
        if (adopted !== undefined) parent.adopt(adopted);
        for (const child of children) child.decided();
        if (!attempt.stagedWrites.isEmpty) await attempt.replayStaged(parent);
      });
    }
    if (refused !== undefined) throw refused;
    const winner = chosen === undefined ? undefined : tried[chosen];
    if (winner === undefined || winner.failed) throw noBranch(tried.length, chosen, winner);
    return winner.value;
  }

  /** Compensates the effects of the branches; `left` continues. */
  async #discard(losers: readonly Branch[], left: Branch): Promise<void> {
    const { run, claims, stagedWrites } = this.#attempt;
    const others = losers.flatMap(({ allStarted }) => allStarted);
    if (run !== undefined)
      await this.#attempt.pauseIdleTimer(async () => {
        // Staged writes of the branches can block their compensation.
        if (others.length > 0) await stagedWrites.rollbackTo((at) => left.stagedAt(at));
        await run.discard(others.sort((a, b) => a - b));
      });
    for (const { place } of losers)
      claims.discard(place, ({ n }) => n !== undefined && !run!.isGone(n));
  }
}

/**
 * Runs the body of a branch. Calls after its end are refused.
 * @throws the errors of the body; EffectError `not_awaited` if a call is still in flight, or was
 * refused and not awaited
 */
export async function runBody<T>(
  branch: Branch,
  body: (tx: Transaction) => Promise<T> | T,
): Promise<T> {
  let value: T;
  try {
    value = await body(new Transaction(branch));
  } finally {
    branch.end();
    branch.unawaited.bodyReturned();
  }
  branch.unawaited.requireAwaited();
  return value;
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): EffectError {
  const known = [...tools.keys()].join(', ') || 'none';
  return new EffectError(
    'unknown_tool',
    `The runtime has no tool ${JSON.stringify(name)}. Use one of its tools: ${known}.`,
  );
}

function retriesOf(options: { readonly retries?: number }): number {
  if (typeof options !== 'object' || options === null)
    throw badIntent('the options of nested must be an object');
  for (const option in options)
    if (option !== 'retries') throw badIntent(`nested has no option ${option}`);
  const { retries = 0 } = options;
  if (Number.isSafeInteger(retries) && retries >= 0) return retries;
  throw badIntent('retries must be a whole number from 0');
}

/** Only numbers count: a string could be read as an index too. @throws RuntimeError `bad_intent` */
function placeIn(chosen: unknown): number | undefined {
  if (chosen === undefined || Number.isSafeInteger(chosen)) return chosen as number | undefined;
  throw badIntent('choose must return the index of a branch, or undefined');
}

/** @throws RuntimeError `bad_intent` */
function checkFunctions(branches: unknown, choose: unknown): void {
  const isFunction = (given: unknown): boolean => typeof given === 'function';
  if (!Array.isArray(branches) || !Array.from(branches).every(isFunction))
    throw badIntent('the branches must be a list of functions');
  if (!isFunction(choose)) throw badIntent('choose must be a function');
}

/** Frozen, because `choose` receives it. */
async function branchResults<T>(
  branch: Branch,
  body: (tx: Transaction) => Promise<T> | T,
): Promise<BranchResult<T>> {
  try {
    return Object.freeze({ failed: false as const, value: await runBody(branch, body) });
  } catch (error) {
    return Object.freeze({ failed: true as const, error: toError(error) });
  }
}

function noBranch(
  branches: number,
  chosen: number | undefined,
  winner: BranchResult<unknown> | undefined,
): EffectError {
  const what =
    chosen === undefined
      ? `none of the ${branches} branches was chosen`
      : winner === undefined
        ? `branch ${chosen} does not exist; the branches are 0 to ${branches - 1}`
        : `the chosen branch, ${chosen}, has failed`;
  return new EffectError('no_branch', `The transaction has no branch to continue with: ${what}.`, {
    cause: winner?.failed ? winner.error : undefined,
  });
}
