import { copyJson, type Json, plainText } from '#canon';
import {
  type Claim,
  claimTexts,
  conflicts,
  DidNothing,
  type EffectClass,
  EffectError,
  type HeldCall,
  isPivot,
  type LoggedEffect,
  type Planned,
  type Tool,
  type Work,
} from '#effects';
import type { Authority, Cost, Refusal } from '#kernel';
import type { Amounts, BlobRow, Hash } from '#ledger';
import { badIntent, type ObservationInput } from '../intent.ts';
import { Kept, saltsAt } from '../kept.ts';
import { type Pivot, refusalOf, sum, type ToolUse, toolObservation } from './acting.ts';
import { CallKeys } from './call-keys.ts';
import type { Prepared } from './called.ts';
import type { Claims, Judgement, Scoped } from './claims.ts';
import type { Held } from './effects.ts';
import { Holdings } from './holdings.ts';
import { undoCostOf } from './reserved.ts';
import type { Run } from './run.ts';
import { inTime, isPromise, type TimeLimit } from './time-limit.ts';
import { UnderWay } from './under-way.ts';

/** What a transaction commits with: an action of the domain. */
export interface TransactionIntent {
  readonly action: string;
  readonly role: string | { readonly name: string; readonly params: { readonly [param: string]: string } };
  readonly args: unknown;
}

/** Of what acts at once: who is before it, undefined for nobody, and how it tells those after it that it is over. */
interface Turn {
  readonly before: Promise<void> | undefined;
  readonly over: () => void;
}

/** What came of a branch. */
export type Tried<T> =
  | { readonly failed: false; readonly value: T }
  | { readonly failed: true; readonly error: unknown };

/** What is asked about every call. */
export interface Asking {
  readonly trajectoryId: string;
  /** The first entry of that. */
  readonly root: Hash;
  /** The caller's name of the transaction, or one that was made up. */
  readonly name: string;
  /** Whether calls may have been made under that name before: it is the caller's own. */
  readonly isAgain: boolean;
  /** Whether what is held may have been: mostly not, and the commit would say so. */
  readonly isCareful: boolean;
  /** Whether reads do not wait for older writers, and are read again at the gate. */
  readonly isOptimistic: boolean;
  /** All that was claimed on the way, for whoever begins anew. */
  readonly claimed: Claim[];
  readonly authority: () => Authority;
  /** What keeps its writ in the ledger, as far as no entry has brought that yet. */
  readonly unstored: () => readonly BlobRow[];
  /** The kinds of counselors that the domain has. */
  readonly counselors: readonly string[];
  readonly signal: AbortSignal;
  /** Whose signal that is: it is told what is heard of the body. */
  readonly limit: TimeLimit;
}

/** How a call is made when it may be: of which tool, with what, touching what, and as which call of the body. */
type Way = (tool: Tool, input: Json, claims: readonly Claim[], ordinal: number) => Promise<unknown>;

/** A call that acted at once, and the key under which it would be made again. */
interface Acted {
  readonly n: number;
  readonly tool: Tool;
  readonly input: Json;
  readonly claims: readonly Claim[];
  readonly answer: Json;
  readonly next: string;
}

/** Something that was read, and how to read it again. */
interface Guess {
  readonly tool: Tool;
  readonly claims: readonly Claim[];
  readonly read: () => Promise<Json>;
  readonly value: Json;
}

/** A transaction as its body has it: what it calls here takes effect together, or is undone. */
export class Transaction {
  readonly #held: Held;
  #run: Run | undefined;
  /** Of the whole transaction, as its keys are. */
  readonly #claims: Claims;
  readonly #keys: CallKeys;
  readonly #asking: Asking;
  readonly #planned: Prepared[] = [];
  readonly #plans: { tool: string; input: Json }[] = [];
  /** What is planned, with what it touches. */
  readonly #touching: { readonly tool: Tool; readonly input: Json; readonly claims: readonly Claim[] }[] = [];
  readonly #uses: ToolUse[] = [];
  readonly #observations: ObservationInput[] = [];
  #cost: Cost = {};
  #intent: TransactionIntent | undefined;
  /** What was done at places that hold, in the order of the calls, with what it is a branch of. */
  readonly #heldCalls: { readonly at: object; readonly call: HeldCall }[] = [];
  /** How much of `#plans` and `#heldCalls` was there before it began. */
  readonly #inherited: { readonly plans: number; readonly held: number };
  /** Of the whole transaction. */
  readonly holdings: Holdings;
  /** What was called that can be neither undone nor held. */
  #pivot: Tool | undefined;
  /** What was read without waiting for who is older, and is to be read again. */
  #guesses: readonly Guess[] = [];
  /** What acted at once. */
  readonly #acted: Acted[] = [];
  /** What it is a branch of. */
  readonly #parent: Transaction | undefined;
  /** Where it is among the branches of all above it: its calls are named so. */
  readonly #place: string;
  #calls = 0;
  #isOver = false;
  readonly #begun: UnderWay;
  /** What acts at once acts one after the other, and each plan sees those before. Of the whole transaction; undefined with none under way. */
  #last: Promise<void> | undefined;

  /** Without a run it gets that, and its epoch, by `attach`. */
  constructor(held: Held, run: Run | undefined, claims: Claims, asking: Asking, parent?: Transaction, place = '') {
    this.#parent = parent;
    this.#place = place;
    // A branch sees what was planned before it began.
    if (parent !== undefined) this.#plans.push(...parent.#plans);
    if (parent !== undefined) this.#heldCalls.push(...parent.#heldCalls);
    this.#inherited = { plans: this.#plans.length, held: this.#heldCalls.length };
    this.holdings = parent === undefined ? new Holdings() : parent.holdings;
    this.#held = held;
    this.#run = run;
    this.#claims = claims;
    this.#asking = asking;
    this.#begun = new UnderWay(asking.limit);
    this.#keys = parent === undefined ? new CallKeys(held.ports.store, asking) : parent.#keys;
  }

  /** Of one that gets it at its gate, 0 until then. */
  get epoch(): number {
    return this.#run?.epoch ?? 0;
  }

  /** Its epoch was taken, and its claims are registered. */
  attach(run: Run, work: Work): void {
    this.#run = run;
    this.#claims.attach(run, work);
  }

  get #hasEnded(): boolean {
    return this.#isOver || (this.#parent === undefined ? false : this.#parent.#hasEnded);
  }

  /** What it may touch. */
  get claims(): readonly Claim[] {
    return this.#claims.all;
  }

  get planned(): readonly Prepared[] {
    return this.#planned;
  }

  /** Calls that acted at once and are to stay. */
  get acted(): number {
    return this.#acted.length;
  }

  /** What acted at once and is to stay, as it would be called again, in the order of the calls. */
  again(): Prepared[] {
    const acted = this.#acted.toSorted((one, other) => one.n - other.n);
    return acted.map(({ tool, input, claims, answer, next }) => this.#prepared(tool, input, claims, next, { answer }));
  }

  get uses(): readonly ToolUse[] {
    return this.#uses;
  }

  get observations(): readonly ObservationInput[] {
    return this.#observations;
  }

  get cost(): { readonly [unit: string]: number } {
    return this.#cost;
  }

  get intent(): TransactionIntent | undefined {
    return this.#intent;
  }

  /** What of it a person has to approve before it is called. */
  get pivot(): Pivot | undefined {
    if (this.#pivot === undefined) return undefined;
    const { name, spec } = this.#pivot;
    return { tool: name, ...(spec.channel === undefined ? {} : { channel: spec.channel }) };
  }

  /** The state's part: the action that it is committed with. The last one that is said counts. */
  propose(intent: TransactionIntent): void {
    this.#intent = intent;
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
   * `tool_failed`, `outcome_unknown`, `key_collision`, `no_counselor`, `second_pivot`, `transaction_over`
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
    this.#checkGoesOn();
    const tool = this.#held.ports.tools.get(name);
    if (tool === undefined) {
      const known = [...this.#held.ports.tools.keys()].join(', ') || 'none';
      throw new EffectError('unknown_tool', `There is no tool ${JSON.stringify(name)}; there are ${known}.`);
    }
    // Before anything is waited for or refused: keys must not depend on either.
    const ordinal = this.#calls++;
    const input = tool.parse(given);
    // Before it is asked for: what says what the call touches is code of the host, which may call here again.
    const turn = tool.class === undefined && tool.spec.sees === undefined ? undefined : this.#turn();
    // Not while claims are about to come or go: it is judged after what was called before it.
    const isCertain = turn?.before === undefined && !this.#held.names.areAsked && !this.#claims.areChanging;
    let certain: readonly Claim[] | undefined;
    try {
      if (isCertain) certain = this.#allowed(tool, input, tool.claims(input));
    } catch (error) {
      turn?.over();
      throw error;
    }
    const judgement = certain === undefined ? this.#claims.judgement() : undefined;
    // Not in its turn, for which those before it may go on for long: what comes or goes after this call waits for it to be judged. Names
    // are asked for then, since those before it may change what they lead to.
    const isEarly = judgement !== undefined && turn !== undefined && !this.#held.names.areAsked;
    const early = isEarly ? this.#judged(tool, input, judgement) : undefined;
    // It is heard of when its turn comes.
    early?.catch(() => undefined);
    const take = this.#way(tool);
    const make = async (): Promise<unknown> => {
      // Also what is certain takes a turn of the queue: a body that does not wait for it has returned by then, and is told.
      const claims = await (certain ?? early ?? this.#judged(tool, input, judgement!));
      if (isEarly) this.#stillAllowed(tool, input, claims);
      this.#uses.push(useOf(tool, input, claims));
      return await take.call(this, tool, input, claims, ordinal);
    };
    const begin = turn === undefined ? make : () => this.#inTurn(make, turn);
    return isCertain ? this.#begun.certain(name, begin) : this.#begun.asked(name, begin);
  }

  #way({ class: kind, spec }: Tool): Way {
    if (kind === undefined) return spec.sees === undefined ? this.#read : this.#readHeld;
    if (!isHeld(kind)) return this.#act;
    return spec.together?.hold === undefined ? this.#plan : this.#hold;
  }

  /** The same, where that is to be asked or waited for. @throws as `#allowed`; EffectError `bad_resolver` */
  async #judged(tool: Tool, input: Json, { after, over }: Judgement): Promise<readonly Claim[]> {
    try {
      await inTime(this.#asking.signal, () => after);
      this.#checkPivot(tool);
      return this.#allowed(tool, input, await this.#held.names.of(tool.claims(input), this.#asking.signal));
    } finally {
      over();
    }
  }

  /**
   * What a call touches, when it may begin. From then on that is not given up, with no turn in between, or not free before it is read.
   * @throws EffectError `no_counselor`, `second_pivot`, `scope_exceeded`, `not_authorised`
   */
  #allowed(tool: Tool, input: Json, claims: readonly Claim[]): readonly Claim[] {
    this.#checkPivot(tool);
    this.#claims.check(tool, claims);
    this.#authorise(tool, input, claims);
    if (this.#keeps(tool)) this.#claims.touch(claims);
    else this.#claims.read(claims);
    return claims;
  }

  /** Whether what it touches may not be given up after it either: what is read without waiting is read again at the gate. */
  #keeps({ class: kind }: Tool): boolean {
    return kind !== undefined || this.#asking.isOptimistic;
  }

  /** It was let begin, and nothing rests on it any more. */
  #letGo(tool: Tool, claims: readonly Claim[]): void {
    if (this.#keeps(tool)) this.#claims.untouch(claims);
    else this.#claims.readIsOver(claims);
  }

  /** The same when its turn has come, by what was called before it. @throws EffectError `no_counselor`, `second_pivot`, `not_authorised` */
  #stillAllowed(tool: Tool, input: Json, claims: readonly Claim[]): void {
    try {
      this.#checkPivot(tool);
      this.#authorise(tool, input, claims);
    } catch (error) {
      this.#letGo(tool, claims);
      throw error;
    }
  }

  /** Branches may have one each, as one of them is gone on with. */
  #checkPivot({ name, class: kind, spec: { channel } }: Tool): void {
    if (kind === undefined || !isPivot(kind)) return;
    const { counselors } = this.#asking;
    if (channel === undefined ? counselors.length === 0 : !counselors.includes(channel))
      throw noCounselor(name, channel);
    const first = this.#firstPivot;
    if (first !== undefined) throw secondPivot(name, first);
  }

  /** Of this, and of what it is a branch of. */
  get #firstPivot(): Tool | undefined {
    return this.#pivot ?? (this.#parent === undefined ? undefined : this.#parent.#firstPivot);
  }

  /**
   * Claims more, for what is called from then on: also in the same tick, where it waits for this. It waits itself for calls before it that
   * are not judged yet, which where names are asked for is when their turn has come: a tool or a resolver that waits for it waits for
   * itself there, until the deadline.
   * @throws EffectError `stale` where somebody younger has acted there already, `resource_in_doubt`, `bad_resolver`
   */
  expand(more: Scoped): Promise<void> {
    return this.#begun.asked('expand', () => this.#claims.expand(more, () => this.#checkGoesOn()));
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
    return this.#begun.asked('release', () => this.#claims.release(less, () => this.#checkGoesOn()));
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
    this.#checkGoesOn();
    // One for all tries: what is called in it and after it has the keys that it would have without them.
    const family = this.#calls++;
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
   * branches of one transaction, of its epoch; none sees what another does. `choose` is told what came of each, and answers with the
   * place of one that did not fail, or with nothing, where none is wanted. Branches may branch.
   *
   * @throws EffectError `no_branch`, where none was chosen or one that failed; `second_pivot`, where the one that was chosen calls what
   * can be neither undone nor held, and so does what it is a branch of by now; what `choose` throws
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
    this.#checkGoesOn();
    const family = ofNested ?? this.#calls++;
    const children = branches.map(
      (_, i) =>
        new Transaction(this.#held, this.#run, this.#claims, this.#asking, this, `${this.#place}${family}.${i}/`),
    );
    const tried = await Promise.all(branches.map((body, i) => triedOut(children[i]!, body)));
    // Also of those that have failed.
    for (const child of children) child.#isOver = true;
    let chosen: number | undefined;
    let refused: EffectError | undefined;
    try {
      chosen = await choose(tried);
      if (chosen !== undefined && !Number.isSafeInteger(chosen))
        throw badIntent('choose answers with the place of a branch, or undefined');
    } finally {
      await this.#inTurn(async () => {
        const winner = chosen !== undefined && tried[chosen]?.failed === false ? children[chosen] : undefined;
        refused = winner && this.#adoptable(winner);
        const adopted = refused === undefined ? winner : undefined;
        await this.#discard(children.filter((child) => child !== adopted));
        if (adopted !== undefined) this.#adopt(adopted);
      });
    }
    if (refused !== undefined) throw refused;
    const winner = chosen === undefined ? undefined : tried[chosen];
    if (winner === undefined || winner.failed) throw noBranch(tried.length, chosen, winner);
    return winner.value;
  }

  /** Why it can't be gone on with. While it was at work, this may have called what can be neither undone nor held. */
  #adoptable(branch: Transaction): EffectError | undefined {
    const first = this.#firstPivot;
    return branch.#pivot === undefined || first === undefined ? undefined : secondPivot(branch.#pivot.name, first);
  }

  async #discard(losers: readonly Transaction[]): Promise<void> {
    const others = losers.flatMap((loser) => loser.#acted.map(({ n }) => n));
    const run = this.#run;
    if (run !== undefined) await this.#whileActing(() => run.discard(others.sort((a, b) => a - b)));
    this.#claims.discard(losers.map((loser) => loser.#place));
  }

  #adopt(branch: Transaction): void {
    this.#planned.push(...branch.#planned);
    this.#touching.push(...branch.#touching);
    this.#plans.push(...branch.#plans.slice(branch.#inherited.plans));
    this.#heldCalls.push(...branch.#heldCalls.slice(branch.#inherited.held));
    this.#uses.push(...branch.#uses);
    this.#observations.push(...branch.#observations);
    this.#acted.push(...branch.#acted);
    this.#guesses = [...this.#guesses, ...branch.#guesses];
    this.#claims.adopt(branch.#place, this.#place);
    this.#cost = sum(this.#cost, branch.#cost);
    this.#intent = branch.#intent ?? this.#intent;
    this.#pivot = branch.#pivot ?? this.#pivot;
  }

  /**
   * Settles when it may act by all that it claims, and what is held for it still touches what it did when it was planned. Undefined where
   * that is so at once.
   * @throws EffectError `stale`, `resource_in_doubt`, `bad_resolver`, `key_collision`; the signal's reason
   */
  enter(): Promise<void> | undefined {
    const entered = this.#claims.enter(async () => {
      for (const { tool, input, claims } of this.#touching) await this.#checkNames(tool, input, claims);
    });
    return this.#guesses.length > 0 || this.#mayHaveBeenPutUp ? this.#checked(entered) : entered;
  }

  async #checked(entered: Promise<void> | undefined): Promise<void> {
    await entered;
    for (const guess of this.#guesses) await this.#checkGuess(guess);
    // What a person approves has the keys that it was put up with: none may be of an attempt before.
    if (this.#mayHaveBeenPutUp) await this.#keys.checkUnused(this.#planned);
  }

  /** Whether it may wait for a person under keys that an attempt before has used: mostly nobody asked whether there are such. */
  get #mayHaveBeenPutUp(): boolean {
    const { isAgain, isCareful, counselors } = this.#asking;
    return isAgain && !isCareful && counselors.length > 0;
  }

  /**
   * What was read where it now acts itself is read again before that: at the gate it would find its own act. As long as it has the claims
   * of that read, nobody else changes it after who is older there.
   */
  async #checkGuessesAt(claims: readonly Claim[]): Promise<void> {
    const met = this.#guesses.filter((guess) =>
      claims.some((act) => guess.claims.some((read) => conflicts(act, read))),
    );
    for (const guess of met) {
      await this.#claims.enter(async () => undefined, guess.claims);
      await this.#checkGuess(guess);
    }
    if (met.length > 0) this.#guesses = this.#guesses.filter((guess) => !met.includes(guess));
    if (this.#parent !== undefined) await this.#parent.#checkGuessesAt(claims);
  }

  /** Nobody who is older goes on there, and nobody who is younger yet: what is read now is what there is. */
  async #checkGuess({ tool, read, value }: Guess): Promise<void> {
    if (plainText(await read()) === plainText(value)) return;
    throw new EffectError('stale', `What ${tool.name} has read is not so any more; begin anew.`, {
      evidence: { tool: tool.name, epoch: this.epoch },
      retryable: true,
    });
  }

  /** What is read by the tool now; where it does not wait for who is older, it is read again at the gate. */
  async #guessed(tool: Tool, claims: readonly Claim[], read: () => unknown): Promise<Json> {
    const reading = async (): Promise<Json> =>
      copyJson((await inTime(this.#asking.signal, read)) ?? null, { foreign: true });
    const value = await reading();
    if (this.#asking.isOptimistic) this.#guesses = [...this.#guesses, { tool, claims, read: reading, value }];
    return value;
  }

  #checkNames(tool: Tool, input: Json, claims: readonly Claim[]): Promise<void> {
    return this.#held.names.checkStill(tool, input, claims, this.#asking.signal);
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
      this.#isOver = true;
      this.#begun.returned();
    }
    this.#begun.checkSeen();
    return value;
  }

  /** Its body is done, or is no longer waited for. Answers with what it has begun that is still under way. */
  end(): Promise<void> | undefined {
    this.#isOver = true;
    return this.#last;
  }

  #checkGoesOn(): void {
    this.#asking.signal.throwIfAborted();
    if (this.#hasEnded)
      throw new EffectError(
        'transaction_over',
        `Transaction ${this.epoch} has ended; nothing is called in it any more.`,
      );
  }

  #authorise(tool: Tool, input: Json, claims: readonly Claim[]): void {
    const use = useOf(tool, input, claims);
    const refusal = refusalOf(this.#asking.authority(), use, tool.class !== undefined && isHeld(tool.class));
    if (refusal !== undefined) throw notAuthorised(tool, refusal);
  }

  #charge(tool: Tool, input: Json): void {
    if (tool.spec.cost === undefined) return;
    this.#cost = sum(this.#cost, costOf(tool, input));
  }

  async #read(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
    const { isOptimistic, signal } = this.#asking;
    const at = this.#placeOf(ordinal);
    try {
      this.#charge(tool, input);
      if (!isOptimistic) await this.#claims.enter(() => this.#checkNames(tool, input, claims), claims);
      this.#checkGoesOn();
      const plans = [...this.#plans];
      const call = () => ({ key: this.#keys.of(at, 0), signal, epoch: this.epoch });
      const value = await this.#guessed(tool, claims, () => tool.spec.execute(input as never, call(), plans));
      this.#observe(tool, ordinal, value);
      return value;
    } catch (error) {
      if (isOptimistic) this.#claims.untouch(claims);
      throw error;
    } finally {
      if (!isOptimistic) this.#claims.readIsOver(claims);
    }
  }

  async #plan(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<unknown> {
    try {
      this.#charge(tool, input);
      const at = this.#placeOf(ordinal);
      const keys = this.#keys;
      const key = keys.of(at, this.#asking.isCareful ? await keys.freeGeneration(at) : keys.nextGeneration(at));
      const prepared = this.#prepared(tool, input, claims, key);
      // What its plan looks at is a read like any other: what is older comes first.
      const reads = claims.filter(({ access }) => access === 'read');
      const { plan } = tool.spec;
      const plans: Planned = plan === undefined ? [] : [...this.#plans];
      const isGuess = this.#asking.isOptimistic && reads.length > 0;
      if (!isGuess && reads.length > 0) await this.#claims.enter(() => this.#checkNames(tool, input, claims), reads);
      // What never answers holds nobody up: whoever comes next in turn, or waits for the end of it all.
      const planning = (): unknown => plan?.(input as never, plans);
      const planned = isGuess ? this.#guessed(tool, reads, planning) : inTime(this.#asking.signal, planning);
      const answer = isPromise(planned) ? await planned : planned;
      this.#planned.push(prepared);
      if (isPivot(tool.class!)) this.#pivot = tool;
      this.#plans.push({ tool: tool.name, input });
      this.#touching.push({ tool, input, claims });
      return answer ?? null;
    } catch (error) {
      this.#claims.untouch(claims);
      throw error;
    }
  }

  /** Does it where nobody else sees it until the commit. Who is older has acted there before: it is told what will be so then. */
  async #hold(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
    const { signal, isCareful } = this.#asking;
    const together = tool.spec.together!;
    try {
      await this.#enterAtOnce(tool, input, claims);
      this.#charge(tool, input);
      const at = this.#placeOf(ordinal);
      const keys = this.#keys;
      const key = keys.of(at, isCareful ? await keys.freeGeneration(at) : keys.nextGeneration(at));
      const call = { part: together.part, input, call: { key, signal, epoch: this.epoch } };
      const made = () => this.holdings.at(together).execute(this.#heldAt(together.at), call);
      const told = copyJson((await this.#inHolding(tool, made)) ?? null, { foreign: true });
      this.#planned.push(this.#prepared(tool, input, claims, key, { told }));
      this.#plans.push({ tool: tool.name, input });
      this.#touching.push({ tool, input, claims });
      this.#heldCalls.push({ at: together.at, call: { part: together.part, input, key, told } });
      this.#observe(tool, ordinal, told);
      return told;
    } catch (error) {
      this.#claims.untouch(claims);
      throw error;
    }
  }

  /** Reads with what this transaction, or this branch of it, holds there; where it holds nothing, as others do. */
  async #readHeld(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
    const { at, part } = tool.spec.sees!;
    const holding = this.holdings.known(at);
    const { signal } = this.#asking;
    if (holding === undefined) return this.#read(tool, input, claims, ordinal);
    try {
      this.#charge(tool, input);
      await this.#enterAtOnce(tool, input, claims);
      const key = this.#keys.of(this.#placeOf(ordinal), 0);
      const call = { part, input, call: { key, signal, epoch: this.epoch } };
      const read = await this.#inHolding(tool, () => holding.read(this.#heldAt(at), call));
      const value = copyJson(read ?? null, { foreign: true });
      this.#observe(tool, ordinal, value);
      return value;
    } finally {
      this.#letGo(tool, claims);
    }
  }

  /** What was done at a place by now, in the order of the calls. */
  #heldAt(at: object): readonly HeldCall[] {
    return this.#heldCalls.filter((each) => each.at === at).map(({ call }) => call);
  }

  /** Nobody but this transaction has seen anything of what has failed there: so it was not. */
  async #inHolding({ name }: Tool, make: () => Promise<unknown>): Promise<unknown> {
    const { signal } = this.#asking;
    try {
      return await inTime(signal, make);
    } catch (error) {
      if (error instanceof EffectError || signal.aborted) throw error;
      const why = error instanceof Error ? error.message.replace(/\.$/, '') : 'its place refused it';
      const retryable = !(error instanceof DidNothing && error.isFinal);
      throw new EffectError('tool_failed', `${name} was not done: ${why}.`, {
        evidence: { tool: name },
        cause: error,
        retryable,
      });
    }
  }

  async #enterAtOnce(tool: Tool, input: Json, claims: readonly Claim[]): Promise<void> {
    this.#checkGoesOn();
    if (this.#run === undefined) throw noEpoch(tool.name);
    await this.#claims.enter(() => this.#checkNames(tool, input, claims), claims);
    this.#checkGoesOn();
  }

  async #act(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
    const run = this.#run;
    try {
      this.#checkGoesOn();
      if (run === undefined) throw noEpoch(tool.name);
      await this.#claims.enter(() => this.#checkNames(tool, input, claims), claims);
      await this.#checkGuessesAt(claims);
      this.#checkGoesOn();
    } catch (error) {
      this.#claims.untouch(claims);
      throw error;
    }
    for (const claim of claims) this.#claims.actAt(tool, claim, this.#place);
    const at = this.#placeOf(ordinal);
    const generation = await this.#keys.takeGeneration(at);
    const prepared = this.#prepared(tool, input, claims, this.#keys.of(at, generation));
    const writBlobs = this.#checkAffords(tool, input, claims, prepared);
    this.#charge(tool, input);
    const { n, result } = await this.#whileActing(() =>
      run.call({ ...prepared, blobs: [...prepared.blobs, ...writBlobs] }),
    );
    this.#acted.push({ n, tool, input, claims, answer: result, next: this.#keys.of(at, generation + 1) });
    this.#observe(tool, ordinal, result);
    return result;
  }

  /** How long that may take is its own limit (`Patience`), and not the silence of the body. */
  async #whileActing<T>(act: () => Promise<T>): Promise<T> {
    const { limit } = this.#asking;
    limit.waits();
    try {
      return await act();
    } finally {
      limit.goesOn();
    }
  }

  /**
   * What can be undone at a cost is called where the budget has both, what the transaction costs so far and what undoing it all
   * would, beside all else that is at work (decisions §5.7). From here to the intent nothing awaits. Answers with what keeps its
   * writ in the ledger: undoing may be booked under it where nothing else is.
   *
   * @throws EffectError `not_authorised`
   */
  #checkAffords(tool: Tool, input: Json, claims: readonly Claim[], { effect }: Prepared): readonly BlobRow[] {
    if (effect.class.reversibility !== 'with_cost') return [];
    const { undo_cost: undoCost = {} } = effect;
    const authority = this.#asking.authority();
    // What was read anew meanwhile may not know its writ any more, or know that it was revoked.
    const refusal = refusalOf(authority, useOf(tool, input, claims), false);
    if (refusal !== undefined) throw notAuthorised(tool, refusal);
    const cost = sum(sum(this.#costSoFar, costOf(tool, input)), undoCost);
    const afforded = authority.affords(cost);
    if (afforded.ok) return effect.undo_cost === undefined ? [] : this.#asking.unstored();
    const detail = `the budget does not cover what it costs and what undoing it would: ${afforded.detail}`;
    throw notAuthorised(tool, { reason: 'budget_exhausted', detail });
  }

  /** With what it is a branch of. */
  get #costSoFar(): Amounts {
    return this.#parent === undefined ? this.#cost : sum(this.#parent.#costSoFar, this.#cost);
  }

  #observe({ name, spec }: Tool, ordinal: number, value: Json): void {
    const sensitive = spec.sensitive === true ? { sensitive: true } : {};
    this.#observations.push({ name: toolObservation(name, this.#place, ordinal), value, ...sensitive });
  }

  #prepared(
    tool: Tool,
    input: Json,
    claims: readonly Claim[],
    key: string,
    { answer, told }: { readonly answer?: Json; readonly told?: Json } = {},
  ): Prepared {
    const kept = new Kept(saltsAt(this.#held.ports.random, key));
    const cost = costOf(tool, input);
    const { name } = tool;
    const sort = tool.class!;
    const { isAgain, name: transaction } = this.#asking;
    // Members in canonical order, which are written fastest.
    const made = {
      ...(answer === undefined ? {} : { answer }),
      claims: claimTexts(claims),
      class: sort,
      cost,
      input,
      ...(told === undefined ? {} : { told }),
      tool: name,
    };
    const payload = kept.made((isAgain ? { ...made, transaction } : made) as never);
    const effect: LoggedEffect = { class: sort, key, payload, tool: name, ...undoCostOf(tool, input) };
    return told === undefined ? { effect, input, blobs: kept.blobs } : { effect, input, blobs: kept.blobs, told };
  }

  /** Of a call among those of the whole transaction. */
  #placeOf(ordinal: number): number | string {
    return this.#place === '' ? ordinal : `${this.#place}${ordinal}`;
  }

  #turn(): Turn {
    if (this.#parent !== undefined) return this.#parent.#turn();
    const before = this.#last;
    const { promise: last, resolve } = Promise.withResolvers<void>();
    this.#last = last;
    const over = (): void => {
      if (this.#last === last) this.#last = undefined;
      resolve();
    };
    return { before, over };
  }

  /** `turn`: taken before it begins, as it asks code of the host at once, which may call here again. */
  #inTurn<T>(step: () => Promise<T>, { before, over } = this.#turn()): Promise<T> {
    const done = before === undefined ? step() : before.then(step);
    done.then(over, over);
    return done;
  }
}

/** Until the commit: also what would act at once and can't be undone, as nothing may come after it that still fails (decisions §5.9). */
function retriesOf(options: { readonly retries?: number }): number {
  for (const option in options) if (option !== 'retries') throw badIntent(`nested has no option ${option}`);
  const { retries = 0 } = options;
  if (Number.isSafeInteger(retries) && retries >= 0) return retries;
  throw badIntent('retries are a whole number');
}

function isHeld(kind: EffectClass): boolean {
  return kind.delivery === 'buffered' || isPivot(kind);
}

function useOf({ name }: Tool, input: Json, claims: readonly Claim[]): ToolUse {
  return { action: name, scopes: claims.map(({ scope }) => scope.text), args: input };
}

function notAuthorised({ name }: Tool, { reason, detail }: Pick<Refusal, 'reason' | 'detail'>): EffectError {
  return new EffectError('not_authorised', `${name} may not be used so: ${detail.replace(/\.$/, '')}.`, {
    evidence: { tool: name, reason },
  });
}

async function triedOut<T>(branch: Transaction, body: (tx: Transaction) => Promise<T> | T): Promise<Tried<T>> {
  try {
    return { failed: false, value: await branch.run(body) };
  } catch (error) {
    return { failed: true, error };
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

function noCounselor(tool: string, channel: string | undefined): EffectError {
  const who = channel === undefined ? 'no counselors' : `no counselor of the kind ${channel}`;
  return new EffectError(
    'no_counselor',
    `${tool} can’t be undone, and acts at once, so a person has to approve it; the domain has ${who}. Give it some (\`counselors\`).`,
    { evidence: { tool, ...(channel === undefined ? {} : { channel }) } },
  );
}

function noEpoch(tool: string): EffectError {
  return new EffectError(
    'no_epoch',
    `${tool} acts at once, and the transaction has its epoch only at its gate; give it the epoch 'early'.`,
    { evidence: { tool } },
  );
}

function secondPivot(tool: string, { name: first }: Tool): EffectError {
  return new EffectError(
    'second_pivot',
    `${tool} can’t be undone, and acts at once, as ${first} does, which this transaction calls already; use a transaction for each.`,
    { evidence: { tool, first } },
  );
}

function costOf(tool: Tool, input: Json): Amounts {
  return tool.spec.cost?.(input as never) ?? {};
}
