import { thrownOf } from '#base';
import { type Claim, EffectError, type Tool, type Work } from '#effects';
import { badIntent, type ObservationInput, type ReadIntent, readIntent } from '../../records/intent.ts';
import type { Pivot, ToolUse } from '../../records/tool-authority.ts';
import type { Run } from '../log/advance.ts';
import type { Prepared } from '../log/call-record.ts';
import type { Holdings } from '../log/staged-writes.ts';
import { allowed, checkStillAllowed, judged, useOf, whyNotAdopted } from './admission.ts';
import type { Attempt } from './attempt.ts';
import { Branch, type TransactionIntent } from './branch.ts';
import { again, wayOf } from './call-strategies.ts';
import type { Scoped } from './claims.ts';
import { UnderWay } from './unawaited.ts';

/** What came of a branch. */
export type Tried<T> =
  | { readonly failed: false; readonly value: T }
  | { readonly failed: true; readonly error: unknown };

/** A transaction as its body has it: what it calls here takes effect together, or is undone. */
export class Transaction {
  readonly #attempt: Attempt;
  readonly #branch: Branch;
  readonly #begun: UnderWay;

  constructor(attempt: Attempt, branch = new Branch(attempt)) {
    this.#attempt = attempt;
    this.#branch = branch;
    this.#begun = new UnderWay(attempt.asking.limit);
  }

  /** Of one that gets it at its gate, 0 until then. */
  get epoch(): number {
    return this.#attempt.epoch;
  }

  /** Its epoch was taken, and its claims are registered. */
  attach(run: Run, work: Work): void {
    this.#attempt.attach(run, work);
  }

  /** What it may touch. */
  get claims(): readonly Claim[] {
    return this.#attempt.claims.all;
  }

  /** What is held for the whole transaction where nobody else sees it. */
  get holdings(): Holdings {
    return this.#attempt.holdings;
  }

  get planned(): readonly Prepared[] {
    return this.#branch.planned;
  }

  /** Calls that acted at once and are to stay. */
  get acted(): number {
    return this.#branch.acted.length;
  }

  /** What acted at once and is to stay, as it would be called again, in the order of the calls. */
  again(): Prepared[] {
    return again(this.#branch);
  }

  get uses(): readonly ToolUse[] {
    return this.#branch.uses;
  }

  get observations(): readonly ObservationInput[] {
    return this.#branch.observations;
  }

  get cost(): { readonly [unit: string]: number } {
    return this.#branch.cost;
  }

  get intent(): ReadIntent | undefined {
    return this.#branch.intent;
  }

  /** What of it a person has to approve before it is called. */
  get pivot(): Pivot | undefined {
    const { pivot } = this.#branch;
    if (pivot === undefined) return undefined;
    const { name, spec } = pivot;
    return { tool: name, ...(spec.channel === undefined ? {} : { channel: spec.channel }) };
  }

  /**
   * The state's part: the action that it is committed with, as it is now. The last one that is said counts.
   *
   * @throws EffectError `transaction_over`; the signal's reason; RuntimeError `bad_intent`; CanonError for args that are not JSON
   */
  propose(intent: TransactionIntent): void {
    this.#branch.checkGoesOn();
    if (typeof intent !== 'object' || intent === null) throw badIntent('what a transaction proposes is an object');
    // Nothing else that may come with it: it may be what a model has said, and its calls were authorised as the options say.
    this.#branch.intent = readIntent(intent);
  }

  /**
   * Uses a tool. What only reads is answered with what it read; what acts at once, with its result; what is held until the
   * commit, as all is that can't be undone, with what its tool says that it will be. What can be neither undone nor held is called
   * once a person has approved the proposal, after all else; there is one such call in a transaction.
   *
   * It is to be awaited before the body returns: else the body is refused (`not_awaited`), and comes to nothing, also where the call
   * itself was refused, and nobody has seen that. Where it was let begin, and then failed before the body returned, that is a rejection
   * like any other: nobody else is told of it.
   *
   * @throws EffectError `unknown_tool`, `bad_input`, `bad_resolver`, `not_authorised`, `scope_exceeded`, `resource_in_doubt`,
   * `tool_failed`, `outcome_unknown`, `key_collision`, `no_counselor`, `second_pivot`, `too_much`, `branch_conflict`,
   * `transaction_over`
   */
  call(name: string, given: unknown): Promise<any> {
    try {
      return this.#admitted(name, given);
    } catch (error) {
      return this.#begun.asked(name, () => Promise.reject(error));
    }
  }

  /** What is wrong with a call is found out before anything is waited for, as far as it can be. */
  #admitted(name: string, given: unknown): Promise<unknown> {
    const branch = this.#branch;
    const attempt = this.#attempt;
    branch.checkGoesOn();
    const { names, ports } = attempt.held;
    const tool = ports.tools.get(name);
    if (tool === undefined) throw unknownTool(name, ports.tools);
    // Before anything is waited for or refused: keys must not depend on either.
    const ordinal = branch.nextCall();
    const input = tool.parse(given);
    // Before it is asked for: what says what the call touches is code of the host, which may call here again.
    const turn = tool.class === undefined && tool.spec.sees === undefined ? undefined : attempt.turn();
    // Not while claims are about to come or go: it is judged after what was called before it.
    const isCertain = turn?.before === undefined && !names.areAsked && !attempt.claims.areChanging;
    let certain: readonly Claim[] | undefined;
    try {
      if (isCertain) certain = allowed(branch, tool, input, tool.claims(input));
    } catch (error) {
      turn?.over();
      throw error;
    }
    const judgement = certain === undefined ? attempt.claims.judgement() : undefined;
    // Not in its turn, for which those before it may go on for long: what comes or goes after this call waits for it to be judged. Names
    // are asked for then, since those before it may change what they lead to.
    const isEarly = judgement !== undefined && turn !== undefined && !names.areAsked;
    const early = isEarly ? judged(branch, tool, input, judgement) : undefined;
    // It is heard of when its turn comes.
    early?.catch(() => undefined);
    const way = wayOf(tool);
    const make = async (): Promise<unknown> => {
      // Also what is certain takes a turn of the queue: a body that does not wait for it has returned by then, and is told.
      const claims = await (certain ?? early ?? judged(branch, tool, input, judgement!));
      if (isEarly) checkStillAllowed(branch, tool, input, claims);
      branch.uses.push(useOf(tool, input, claims));
      return await way(branch, tool, input, claims, ordinal);
    };
    const begin = turn === undefined ? make : () => attempt.inTurn(make, turn);
    return isCertain ? this.#begun.certain(name, begin) : this.#begun.asked(name, begin);
  }

  /**
   * Claims more, for what is called from then on: also in the same tick, where it waits for this. It waits itself for calls before it that
   * are not judged yet, which where names are asked for is when their turn has come: a tool or a resolver that waits for it waits for
   * itself there, until the deadline.
   * @throws EffectError `stale` where somebody younger has acted there already, `resource_in_doubt`, `bad_resolver`
   */
  expand(more: Scoped): Promise<void> {
    return this.#begun.asked('expand', () => this.#attempt.claims.expand(more, () => this.#branch.checkGoesOn()));
  }

  /**
   * Gives up what it has claimed before it ends: whoever waits there may go on. Nothing that is called from then on may touch it, and what
   * was called before keeps it: a read until it is over, which this waits for, so that what was read there was read before whatever comes
   * now. So a tool that reads and waits for the release of what it reads waits for itself, until the deadline. What an effect touches, and
   * what was read without waiting and is read again at the gate, is needed until the end.
   *
   * @throws EffectError `scope_exceeded` for what it has not claimed, word for word, or needs; nothing is given up then
   */
  release(less: Scoped): Promise<void> {
    return this.#begun.asked('release', () => this.#attempt.claims.release(less, () => this.#branch.checkGoesOn()));
  }

  /**
   * A part that comes to nothing by itself: where its body throws, what it did is undone and what it planned is dropped, this throws the
   * same, and the transaction goes on as if that had not been. `retries`: it is begun anew so often where a tool said that it did
   * nothing. It is of the same epoch as all else here (decisions §5.5).
   *
   * @throws what the body throws; what the undoing throws; RuntimeError `bad_intent` for another option
   */
  nested<T>(body: (tx: Transaction) => Promise<T> | T, options: { retries?: number } = {}): Promise<T> {
    return this.#begun.asked('nested', async () => this.#nested(body, retriesOf(options)));
  }

  async #nested<T>(body: (tx: Transaction) => Promise<T> | T, retries: number): Promise<T> {
    this.#branch.checkGoesOn();
    // One for all tries: what is called in it and after it has the keys that it would have without them.
    const family = this.#branch.nextCall();
    for (let tries = 0; ; tries++) {
      let failed: { readonly error: unknown } | undefined;
      const first = ([tried]: readonly Tried<T>[]): number | undefined => {
        if (tried?.failed === true) failed = tried;
        return failed === undefined ? 0 : undefined;
      };
      try {
        return await this.#speculate([body], first, family);
      } catch (error) {
        const isUndone = error instanceof EffectError && error.code === 'no_branch';
        if (failed === undefined || !isUndone) throw error;
        const { error: why } = failed;
        if (tries >= retries || !(why instanceof EffectError && why.code === 'tool_failed' && why.retryable)) throw why;
      }
    }
  }

  /**
   * Tries several ways at once, and goes on with one: the others have done nothing, or it is undone before this returns. They are
   * branches of one transaction, of its epoch; none sees what another does, nor does what they are branches of before one is chosen
   * (`branch_conflict`), but by a tool that can be used in parallel. `choose` is told what came of each, in a list that it can't
   * change, and answers with the place of one that did not fail, or with nothing, where none is wanted. Branches may branch.
   *
   * @throws EffectError `no_branch`, where none was chosen or one that failed; `second_pivot`, where the one that was chosen calls what
   * can be neither undone nor held, and so does what it is a branch of by now; what `choose` throws; RuntimeError `bad_intent`
   */
  speculate<T>(
    branches: readonly ((tx: Transaction) => Promise<T> | T)[],
    choose: (tried: readonly Tried<T>[]) => Promise<number | undefined> | number | undefined,
  ): Promise<T> {
    return this.#begun.asked('speculate', () => this.#speculate(branches, choose));
  }

  async #speculate<T>(
    branches: readonly ((tx: Transaction) => Promise<T> | T)[],
    choose: (tried: readonly Tried<T>[]) => Promise<number | undefined> | number | undefined,
    ofNested?: number,
  ): Promise<T> {
    this.#branch.checkGoesOn();
    // Before anything is tried that would be for nothing.
    checkFunctions(branches, choose);
    const family = ofNested ?? this.#branch.nextCall();
    const attempt = this.#attempt;
    const parent = this.#branch;
    const children = branches.map(
      (_, i) => new Transaction(attempt, new Branch(attempt, parent, `${parent.place}${family}.${i}/`)),
    );
    const tried = Object.freeze(await Promise.all(branches.map((body, i) => triedOut(children[i]!, body))));
    // Also of those that have failed.
    for (const child of children) child.#branch.end();
    let chosen: number | undefined;
    let refused: EffectError | undefined;
    try {
      chosen = placeIn(await choose(tried));
    } finally {
      await attempt.inTurn(async () => {
        // Where nobody waited for it, whoever has given up what it is a branch of has all of it undone as well.
        parent.checkGoesOn();
        const winner = chosen !== undefined && tried[chosen]?.failed === false ? children[chosen] : undefined;
        refused = winner && whyNotAdopted(parent, winner.#branch);
        const adopted = refused === undefined ? winner : undefined;
        const losers = children.filter((child) => child !== adopted);
        await this.#discard(losers, adopted === undefined ? parent : adopted.#branch);
        if (adopted !== undefined) parent.adopt(adopted.#branch);
        for (const child of children) child.#branch.decided();
        if (!attempt.holdings.areNone) await attempt.heldAgain(parent);
      });
    }
    if (refused !== undefined) throw refused;
    const winner = chosen === undefined ? undefined : tried[chosen];
    if (winner === undefined || winner.failed) throw noBranch(tried.length, chosen, winner);
    return winner.value;
  }

  /** Undoes what they have done; `left` goes on. */
  async #discard(losers: readonly Transaction[], left: Branch): Promise<void> {
    const { run, claims, holdings } = this.#attempt;
    const others = losers.flatMap((loser) => loser.#branch.allBegun);
    if (run !== undefined)
      await this.#attempt.whileActing(async () => {
        // What they hold may be in the way of what undoes it.
        if (others.length > 0) await holdings.back((at) => left.heldAt(at));
        await run.discard(others.sort((a, b) => a - b));
      });
    for (const loser of losers) claims.discard(loser.#branch.place, ({ n }) => n !== undefined && !run!.isGone(n));
  }

  /**
   * Settles when it may act by all that it claims, and what is held for it still touches what it did when it was planned. Undefined where
   * that is so at once.
   * @throws EffectError `stale`, `resource_in_doubt`, `bad_resolver`, `key_collision`; the signal's reason
   */
  enter(): Promise<void> | undefined {
    const attempt = this.#attempt;
    const { touching, guesses } = this.#branch;
    // Also what was planned before.
    for (const { tool, claims } of touching) attempt.claims.checkLeft(tool, claims);
    const entered = attempt.claims.enter(async () => {
      for (const { tool, input, claims } of touching) await attempt.checkNames(tool, input, claims);
    });
    const isChecked = guesses.all.length > 0 || this.#mayHaveBeenPutUp || !attempt.holdings.areNone;
    return isChecked ? this.#checked(entered) : entered;
  }

  async #checked(entered: Promise<void> | undefined): Promise<void> {
    const { guesses, planned } = this.#branch;
    await entered;
    for (const guess of guesses.all) await guesses.check(guess);
    // What was let go for something, and could not be done again then, or whose body has passed over that it answers otherwise.
    if (!this.#attempt.holdings.areNone) await this.#attempt.heldAgain(this.#branch);
    // What a person approves has the keys that it was put up with: none may be of an attempt before.
    if (this.#mayHaveBeenPutUp) await this.#attempt.keys.checkUnused(planned);
  }

  /** Whether it may wait for a person under keys that an attempt before has used: mostly nobody asked whether there are such. */
  get #mayHaveBeenPutUp(): boolean {
    const { isAgain, isCareful, counselors } = this.#attempt.asking;
    return isAgain && !isCareful && counselors.length > 0;
  }

  /**
   * Runs its body, after which nothing is called in it any more.
   * @throws what the body throws; EffectError `not_awaited` where something is still under way that it has begun, or was refused and
   * nobody has asked about it
   */
  async run<T>(body: (tx: Transaction) => Promise<T> | T): Promise<T> {
    let value: T;
    try {
      value = await body(this);
    } finally {
      this.#branch.end();
      this.#begun.returned();
    }
    this.#begun.checkSeen();
    return value;
  }

  /** Its body is done, or is no longer waited for. Answers with what it has begun that is still under way. */
  end(): Promise<void> | undefined {
    this.#branch.end();
    return this.#attempt.last;
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): EffectError {
  const known = [...tools.keys()].join(', ') || 'none';
  return new EffectError('unknown_tool', `There is no tool ${JSON.stringify(name)}; there are ${known}.`);
}

function retriesOf(options: { readonly retries?: number }): number {
  if (typeof options !== 'object' || options === null) throw badIntent('options of nested are an object');
  for (const option in options) if (option !== 'retries') throw badIntent(`nested has no option ${option}`);
  const { retries = 0 } = options;
  if (Number.isSafeInteger(retries) && retries >= 0) return retries;
  throw badIntent('retries are a whole number');
}

/** @throws RuntimeError `bad_intent`: what only reads as a place in a list, as a text may, is none */
function placeIn(chosen: unknown): number | undefined {
  if (chosen === undefined || Number.isSafeInteger(chosen)) return chosen as number | undefined;
  throw badIntent('choose answers with the place of a branch, or undefined');
}

/** @throws RuntimeError `bad_intent` */
function checkFunctions(branches: unknown, choose: unknown): void {
  const isFunction = (given: unknown): boolean => typeof given === 'function';
  if (!Array.isArray(branches) || !Array.from(branches).every(isFunction))
    throw badIntent('what is tried is a function, and of several ways a list of them');
  if (!isFunction(choose)) throw badIntent('which branch is gone on with is chosen by a function');
}

/** Frozen, as which branch is gone on with is seen by it. */
async function triedOut<T>(branch: Transaction, body: (tx: Transaction) => Promise<T> | T): Promise<Tried<T>> {
  try {
    return Object.freeze({ failed: false as const, value: await branch.run(body) });
  } catch (error) {
    return Object.freeze({ failed: true as const, error: thrownOf(error) });
  }
}

function noBranch(branches: number, chosen: number | undefined, winner: Tried<unknown> | undefined): EffectError {
  const what =
    chosen === undefined
      ? `none of ${branches} branches was chosen`
      : winner === undefined
        ? `there is no branch ${chosen}, they are 0 to ${branches - 1}`
        : `the branch that was chosen, ${chosen}, has failed`;
  return new EffectError('no_branch', `There is nothing to go on with: ${what}.`, {
    cause: winner?.failed ? winner.error : undefined,
  });
}
