import { costItems } from '#authority';
import { copyJson, type Json, plainText } from '#canon';
import {
  type Claim,
  claimTexts,
  conflicts,
  covers,
  type EffectClass,
  EffectError,
  effectKey,
  isPivot,
  type KnownTransaction,
  type LoggedEffect,
  type Planned,
  readClaim,
  readTransaction,
  type Tool,
  type Work,
} from '#effects';
import type { Authority, Cost, Refusal } from '#kernel';
import type { Amounts, BlobRow } from '#ledger';
import type { ObservationInput } from '../intent.ts';
import { Kept, saltsAt } from '../kept.ts';
import { type Pivot, refusalOf, sum, type ToolUse, toolObservation } from './acting.ts';
import { AskedPromise } from './asked-promise.ts';
import type { Held } from './effects.ts';
import type { Prepared, Run } from './run.ts';
import { inTime } from './time-limit.ts';

/** What a transaction commits with: an action of the domain. */
export interface TransactionIntent {
  readonly action: string;
  readonly role: string | { readonly name: string; readonly params: { readonly [param: string]: string } };
  readonly args: unknown;
}

/** Resources, as scopes. */
interface Scoped {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

/** Something that a body has begun: the name of a tool, or of what else it does here. */
interface Begun {
  readonly what: string;
  made: Promise<unknown> | undefined;
  /** Why it came to nothing, when it has, as far as that is to be seen by somebody. */
  failed: { readonly error: unknown } | undefined;
}

/** Of what acts at once: who is before it, undefined for nobody, and how it tells those after it that it is over. */
interface Turn {
  readonly before: Promise<void> | undefined;
  readonly over: () => void;
}

/** A call that was let begin, or has to wait until that is known. */
interface Admitted {
  /** Whether it may begin, and nothing is asked before it does. */
  readonly isCertain: boolean;
  readonly make: () => Promise<unknown>;
}

/** What came of a branch. */
export type Tried<T> =
  | { readonly failed: false; readonly value: T }
  | { readonly failed: true; readonly error: unknown };

/** What is asked about every call. */
export interface Asking {
  readonly trajectoryId: string;
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
}

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
  readonly read: () => Promise<Json>;
  readonly value: Json;
}

/** A transaction as its body has it: what it calls here takes effect together, or is undone. */
export class Transaction {
  readonly #held: Held;
  #run: Run | undefined;
  #work: Work;
  readonly #asking: Asking;
  readonly #planned: Prepared[] = [];
  readonly #plans: { tool: string; input: Json }[] = [];
  /** What is planned, with what it touches. */
  readonly #touching: { readonly tool: Tool; readonly input: Json; readonly claims: readonly Claim[] }[] = [];
  readonly #uses: ToolUse[] = [];
  readonly #observations: ObservationInput[] = [];
  #cost: Cost = {};
  #intent: TransactionIntent | undefined;
  /** What was called that can be neither undone nor held. */
  #pivot: Tool | undefined;
  /** Of the whole transaction: where its branches have acted, as far as that is not undone. */
  #branchActs: { readonly place: string; readonly claim: Claim }[] = [];
  /** Of the whole transaction: what its effects touch, from the check on that lets them. */
  readonly #touched: Claim[] = [];
  /** Claims that it has said it gives up, while that is not heard: nothing may rest on them any more. */
  readonly #giving: Claim[] = [];
  /** Of the whole transaction: how many are under way that change what it may touch. */
  #claiming = 0;
  /** What was read without waiting for who is older. */
  readonly #guesses: Guess[] = [];
  /** What acted at once. */
  readonly #acted: Acted[] = [];
  /** What it is a branch of. */
  readonly #parent: Transaction | undefined;
  /** Where it is among the branches of all above it: its calls are named so. */
  readonly #place: string;
  /** Of the whole transaction: attempts of its name that came before, by their epochs. */
  #attempts: Map<number, Promise<KnownTransaction | undefined>> | undefined;
  #calls = 0;
  #isOver = false;
  #hasReturned = false;
  /** What the body has begun that is not over yet, or was refused, and nobody had asked about it by then. */
  readonly #begun = new Set<Begun>();
  /** What acts at once acts one after the other, and each plan sees those before. Of the whole transaction; undefined with none under way. */
  #last: Promise<void> | undefined;

  /** Without a run it gets that, and its epoch, by `attach`. */
  constructor(held: Held, run: Run | undefined, work: Work, asking: Asking, parent?: Transaction, place = '') {
    this.#parent = parent;
    this.#place = place;
    // A branch sees what was planned before it began.
    if (parent !== undefined) this.#plans.push(...parent.#plans);
    this.#held = held;
    this.#run = run;
    this.#work = work;
    this.#asking = asking;
  }

  /** Of one that gets it at its gate, 0 until then. */
  get epoch(): number {
    return this.#work.epoch;
  }

  /** Its epoch was taken, and its claims are registered. */
  attach(run: Run, work: Work): void {
    this.#run = run;
    this.#work = work;
  }

  get #root(): Transaction {
    return this.#parent === undefined ? this : this.#parent.#root;
  }

  get #hasEnded(): boolean {
    return this.#isOver || (this.#parent === undefined ? false : this.#parent.#hasEnded);
  }

  /** What it may touch. */
  get claims(): readonly Claim[] {
    return this.#work.claims;
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
    return acted.map(({ tool, input, claims, answer, next }) => this.#prepared(tool, input, claims, next, answer));
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
    let admitted: Admitted;
    try {
      admitted = this.#admitted(name, given);
    } catch (error) {
      return this.#asked(name, () => Promise.reject(error));
    }
    const { isCertain, make } = admitted;
    return isCertain ? this.#underWay(name, make) : this.#asked(name, make);
  }

  /** What is wrong with a call is found out before anything is waited for, as far as it can be. */
  #admitted(name: string, given: unknown): Admitted {
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
    const turn = tool.class === undefined ? undefined : this.#turn();
    // Not while claims come or go: what was called before it takes effect in a later turn, and it is judged after that.
    const isCertain = turn?.before === undefined && !this.#held.names.areAsked && this.#root.#claiming === 0;
    let certain: readonly Claim[] | undefined;
    try {
      if (isCertain) certain = this.#allowed(tool, input, tool.claims(input));
    } catch (error) {
      turn?.over();
      throw error;
    }
    const take = tool.class === undefined ? this.#read : isHeld(tool.class) ? this.#plan : this.#act;
    const make = async (): Promise<unknown> => {
      if (certain === undefined) this.#checkPivot(tool);
      const named = await this.#held.names.of(certain ?? tool.claims(input), this.#asking.signal);
      const claims = certain ?? this.#allowed(tool, input, named);
      this.#uses.push(useOf(tool, input, claims));
      return await take.call(this, tool, input, claims, ordinal);
    };
    return { isCertain, make: turn === undefined ? make : () => this.#inTurn(make, turn) };
  }

  /**
   * What a call touches, when it may begin. What an effect touches is not given up from then on, with no turn in between.
   * @throws EffectError `no_counselor`, `second_pivot`, `scope_exceeded`, `not_authorised`
   */
  #allowed(tool: Tool, input: Json, claims: readonly Claim[]): readonly Claim[] {
    this.#checkPivot(tool);
    this.#checkClaimed(tool, input, claims);
    if (tool.class !== undefined) this.#root.#touched.push(...claims);
    return claims;
  }

  /** An effect that was let begin has come to nothing before it touched anything. */
  #untouched(claims: readonly Claim[]): void {
    const touched = this.#root.#touched;
    for (const claim of claims) touched.splice(touched.indexOf(claim), 1);
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

  /** Whether a call may touch what it does. @throws EffectError `scope_exceeded`, `not_authorised` */
  #checkClaimed(tool: Tool, input: Json, claims: readonly Claim[]): void {
    const { name } = tool;
    const outside = claims.find((claim) => !covers(this.#kept, claim));
    if (outside !== undefined) {
      throw new EffectError(
        'scope_exceeded',
        `${name} would ${outside.access} ${outside.scope.text}, which the transaction has not claimed; claim it, or expand.`,
        { evidence: { tool: name, scope: outside.scope.text, access: outside.access } },
      );
    }
    this.#authorise(tool, input, claims);
  }

  /**
   * Claims more.
   * @throws EffectError `stale` where somebody younger has acted there already, `resource_in_doubt`, `bad_resolver`
   */
  expand(more: Scoped): Promise<void> {
    return this.#asked('expand', () => this.#reclaimed(() => this.#expand(more)));
  }

  /** Changes what the transaction may touch. */
  async #reclaimed(change: () => Promise<void>): Promise<void> {
    const root = this.#root;
    root.#claiming++;
    try {
      await change();
    } finally {
      root.#claiming--;
    }
  }

  async #expand(more: Scoped): Promise<void> {
    this.#checkGoesOn();
    const claims = await this.#held.names.of(claimsFrom(more), this.#asking.signal);
    this.#checkGoesOn();
    this.#asking.claimed.push(...claims);
    if (this.#run === undefined) {
      (this.#work.claims as Claim[]).push(...claims);
      return;
    }
    const stale = await this.#held.expand(this.#run, this.#work, claims);
    if (stale === undefined) return;
    throw new EffectError(
      'stale',
      `Transaction ${stale.by}, which is younger than ${stale.epoch}, has acted at ${stale.claim.scope.text} already; begin anew.`,
      { evidence: { epoch: stale.epoch, by: stale.by, scope: stale.claim.scope.text }, retryable: true },
    );
  }

  /**
   * Gives up what it has claimed before it ends: whoever waits there may go on. Not where an effect of it needs that still; what was
   * read there was read before whatever comes now.
   *
   * @throws EffectError `scope_exceeded` for what it has not claimed, word for word, or needs; nothing is given up then
   */
  release(less: Scoped): Promise<void> {
    return this.#asked('release', () => this.#reclaimed(() => this.#release(less)));
  }

  async #release(less: Scoped): Promise<void> {
    this.#checkGoesOn();
    const claims = await this.#held.names.of(claimsFrom(less), this.#asking.signal);
    this.#checkGoesOn();
    const rest = [...this.#kept];
    for (const claim of claims) if (!takeOut(rest, claim)) throw notReleased(claim, 'it has not claimed that');
    const needed = this.#root.#touched.find((claim) => !covers(rest, claim));
    if (needed !== undefined) throw notReleased(needed, 'what it does there needs that');
    if (this.#run === undefined) (this.#work.claims as Claim[]).splice(0, Number.POSITIVE_INFINITY, ...rest);
    else await this.#give(claims);
  }

  /** Others hear of it later than it is said. @throws EffectError `tenure_lost` */
  async #give(claims: readonly Claim[]): Promise<void> {
    const giving = this.#root.#giving;
    giving.push(...claims);
    await this.#held.coordination.release(this.#work, claims, () => {
      for (const claim of claims) takeOut(giving, claim);
    });
  }

  /** What is claimed and not about to be given up. */
  get #kept(): readonly Claim[] {
    const giving = this.#root.#giving;
    if (giving.length === 0) return this.#work.claims;
    const kept = [...this.#work.claims];
    for (const claim of giving) takeOut(kept, claim);
    return kept;
  }

  /**
   * A part that comes to nothing by itself: where its body throws, what it did is undone and what it planned is dropped, this throws the
   * same, and the transaction goes on as if that had not been. `retries`: it is begun anew so often where a tool said that it did
   * nothing. It is of the same epoch as all else here (decisions §5.5).
   *
   * @throws what the body throws; what the undoing throws
   */
  nested<T>(body: (tx: Transaction) => Promise<T> | T, { retries = 0 }: { retries?: number } = {}): Promise<T> {
    return this.#asked('nested', () => this.#nested(body, retries));
  }

  async #nested<T>(body: (tx: Transaction) => Promise<T> | T, retries: number): Promise<T> {
    for (let tries = 0; ; tries++) {
      let failed: { readonly error: unknown } | undefined;
      try {
        return await this.#speculate([body], ([tried]) => {
          if (tried?.failed === true) failed = tried;
          return failed === undefined ? 0 : undefined;
        });
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
    return this.#asked('speculate', () => this.#speculate(branches, choose));
  }

  async #speculate<T>(
    branches: readonly ((tx: Transaction) => Promise<T> | T)[],
    choose: (tried: readonly Tried<T>[]) => Promise<number | undefined> | number | undefined,
  ): Promise<T> {
    this.#checkGoesOn();
    const family = this.#calls++;
    const children = branches.map(
      (_, i) => new Transaction(this.#held, this.#run, this.#work, this.#asking, this, `${this.#place}${family}.${i}/`),
    );
    const tried = await Promise.all(branches.map((body, i) => triedOut(children[i]!, body)));
    // Also of those that have failed.
    for (const child of children) child.#isOver = true;
    let chosen: number | undefined;
    let refused: EffectError | undefined;
    try {
      chosen = await choose(tried);
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
    await this.#run?.discard(others.sort((a, b) => a - b));
    const root = this.#root;
    root.#branchActs = root.#branchActs.filter(({ place }) => !losers.some((loser) => place.startsWith(loser.#place)));
  }

  #adopt(branch: Transaction): void {
    this.#planned.push(...branch.#planned);
    this.#touching.push(...branch.#touching);
    this.#plans.push(...branch.#plans.slice(this.#plans.length));
    this.#uses.push(...branch.#uses);
    this.#observations.push(...branch.#observations);
    this.#acted.push(...branch.#acted);
    this.#guesses.push(...branch.#guesses);
    const root = this.#root;
    root.#branchActs = root.#branchActs.map((act) =>
      act.place.startsWith(branch.#place) ? { ...act, place: this.#place } : act,
    );
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
    const entered = this.#enter(this.#work.claims, async () => {
      for (const { tool, input, claims } of this.#touching) await this.#checkNames(tool, input, claims);
    });
    return this.#guesses.length > 0 || this.#mayHaveBeenPutUp ? this.#checked(entered) : entered;
  }

  async #checked(entered: Promise<void> | undefined): Promise<void> {
    await entered;
    for (const guess of this.#guesses) await this.#checkGuess(guess);
    if (this.#mayHaveBeenPutUp) await this.#checkKeys();
  }

  /** Whether it may wait for a person under keys that an attempt before has used: mostly nobody asked whether there are such. */
  get #mayHaveBeenPutUp(): boolean {
    const { isAgain, isCareful, counselors } = this.#asking;
    return isAgain && !isCareful && counselors.length > 0;
  }

  /** What a person approves has the keys that it was put up with: none may be of an attempt before. @throws EffectError `key_collision` */
  async #checkKeys(): Promise<void> {
    const { name } = this.#asking;
    const { store } = this.#held.ports;
    const used = await Promise.all(this.#planned.map(({ effect }) => store.effectKey(effect.key)));
    const before = used.find((each) => each !== undefined);
    if (before === undefined) return;
    throw new EffectError('key_collision', `A call of ${name} has a key that transaction ${before.epoch} has used.`, {
      evidence: { epoch: before.epoch },
    });
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
  async #guessed(tool: Tool, read: () => unknown): Promise<Json> {
    const reading = async (): Promise<Json> =>
      copyJson((await inTime(this.#asking.signal, read)) ?? null, { foreign: true });
    const value = await reading();
    if (this.#asking.isOptimistic) this.#guesses.push({ tool, read: reading, value });
    return value;
  }

  #checkNames(tool: Tool, input: Json, claims: readonly Claim[]): Promise<void> {
    return this.#held.names.checkStill(tool, input, claims, this.#asking.signal);
  }

  /** Whoever was waited for may have changed what names lead to; and while that is asked, somebody may claim more. */
  #enter(claims: readonly Claim[], checkNames: () => Promise<void>): Promise<void> | undefined {
    const enter = (): Promise<void> | undefined => this.#held.enter(this.#work, claims, this.#asking.signal);
    const entered = enter();
    return this.#held.names.areAsked ? Promise.resolve(entered).then(checkNames).then(enter) : entered;
  }

  /** What the body has begun here, until it is over. To know more of it takes a tenth of what the whole transaction of a call does. */
  #underWay<T>(what: string, make: () => Promise<T>): Promise<T> {
    const begun: Begun = { what, made: undefined, failed: undefined };
    this.#begun.add(begun);
    const made = this.#untilOver(begun, make);
    begun.made = made;
    return made;
  }

  async #untilOver<T>(begun: Begun, make: () => Promise<T>): Promise<T> {
    try {
      return await make();
    } finally {
      this.#begun.delete(begun);
    }
  }

  /** What may be refused here, until somebody has seen that. */
  #asked<T>(what: string, make: () => Promise<T>): Promise<T> {
    const begun: Begun = { what, made: undefined, failed: undefined };
    this.#begun.add(begun);
    const made = new AskedPromise<T>((resolve, reject) => {
      this.#untilSeen(begun, make).then(resolve, reject);
    });
    begun.made = made;
    // The body is refused for it, or has thrown. What comes after its return is told to nobody else.
    if (!this.#hasReturned) made.toldElsewhere();
    return made;
  }

  async #untilSeen<T>(begun: Begun, make: () => Promise<T>): Promise<T> {
    try {
      const value = await make();
      this.#begun.delete(begun);
      return value;
    } catch (error) {
      begun.failed = { error };
      if (isSeen(begun)) this.#begun.delete(begun);
      throw error;
    }
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
      this.#hasReturned = true;
      // What nobody awaits is refused here, or because the body threw.
      for (const { made } of this.#begun) if (!(made instanceof AskedPromise)) made?.catch(() => undefined);
    }
    if (this.#begun.size === 0) return value;
    const lost = [...this.#begun].filter((begun) => !isSeen(begun));
    if (lost.length === 0) return value;
    throw notAwaited(lost);
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
    this.#charge(tool, input);
    if (!isOptimistic) await this.#enter(claims, () => this.#checkNames(tool, input, claims));
    this.#checkGoesOn();
    const plans = [...this.#plans];
    const call = () => ({ key: this.#keyOf(ordinal, 0), signal, epoch: this.epoch });
    const value = await this.#guessed(tool, () => tool.spec.execute(input as never, call(), plans));
    this.#observe(tool, ordinal, value);
    return value;
  }

  async #plan(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<unknown> {
    try {
      this.#charge(tool, input);
      const key = this.#keyOf(ordinal, this.#asking.isCareful ? await this.#freeGeneration(ordinal) : 0);
      const prepared = this.#prepared(tool, input, claims, key);
      // What its plan looks at is a read like any other: what is older comes first.
      const reads = claims.filter(({ access }) => access === 'read');
      const { plan } = tool.spec;
      const plans: Planned = plan === undefined ? [] : [...this.#plans];
      const isGuess = this.#asking.isOptimistic && reads.length > 0;
      if (!isGuess && reads.length > 0) await this.#enter(reads, () => this.#checkNames(tool, input, claims));
      // What never answers holds nobody up: whoever comes next in turn, or waits for the end of it all.
      const planning = (): unknown => plan?.(input as never, plans);
      const answer = isGuess ? await this.#guessed(tool, planning) : await inTime(this.#asking.signal, planning);
      this.#planned.push(prepared);
      if (isPivot(tool.class!)) this.#pivot = tool;
      this.#plans.push({ tool: tool.name, input });
      this.#touching.push({ tool, input, claims });
      return answer ?? null;
    } catch (error) {
      this.#untouched(claims);
      throw error;
    }
  }

  async #act(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
    const run = this.#run;
    try {
      this.#checkGoesOn();
      if (run === undefined) throw noEpoch(tool.name);
      await this.#enter(claims, () => this.#checkNames(tool, input, claims));
      this.#checkGoesOn();
    } catch (error) {
      this.#untouched(claims);
      throw error;
    }
    for (const claim of claims) this.#checkSiblings(tool, claim);
    const generation = await this.#freeGeneration(ordinal);
    const prepared = this.#prepared(tool, input, claims, this.#keyOf(ordinal, generation));
    const writBlobs = this.#checkAffords(tool, input, claims, prepared);
    this.#charge(tool, input);
    const { n, result } = await run.call({ ...prepared, blobs: [...prepared.blobs, ...writBlobs] });
    this.#acted.push({ n, tool, input, claims, answer: result, next: this.#keyOf(ordinal, generation + 1) });
    this.#observe(tool, ordinal, result);
    return result;
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

  /** Branches act on the same thing only where its tool says that it can tell them apart. */
  #checkSiblings(tool: Tool, claim: Claim): void {
    const acts = this.#root.#branchActs;
    const sibling = acts.find(
      (act) => !act.place.startsWith(this.#place) && !this.#place.startsWith(act.place) && conflicts(act.claim, claim),
    );
    if (sibling !== undefined && tool.spec.parallel !== true)
      throw new EffectError(
        'branch_conflict',
        `Another branch has acted at ${claim.scope.text}, and ${tool.name} does not say that it can be used in parallel.`,
        { evidence: { tool: tool.name, scope: claim.scope.text } },
      );
    if (this.#parent !== undefined) acts.push({ place: this.#place, claim });
  }

  #prepared(tool: Tool, input: Json, claims: readonly Claim[], key: string, answer?: Json): Prepared {
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
      tool: name,
    };
    const payload = kept.made((isAgain ? { ...made, transaction } : made) as never);
    const effect: LoggedEffect = { class: sort, key, payload, tool: name, ...undoCostOf(tool, input) };
    return { effect, input, blobs: kept.blobs };
  }

  #keyOf(ordinal: number, generation: number): string {
    const call = this.#place === '' ? ordinal : `${this.#place}${ordinal}`;
    const { trajectoryId: trajectory, name: transaction } = this.#asking;
    return effectKey({ trajectory, transaction, call, generation });
  }

  /** After all that did nothing, or were undone. @throws EffectError `key_collision` */
  async #freeGeneration(call: number): Promise<number> {
    for (let generation = 0; ; generation++) {
      if (!this.#asking.isAgain) return generation;
      const key = this.#keyOf(call, generation);
      const used = await this.#held.ports.store.effectKey(key);
      if (used === undefined) return generation;
      const phase = (await this.#root.#before(used.epoch))?.state.effects[used.n]?.phase;
      if (phase === 'undone' || phase === 'dropped') continue;
      throw new EffectError(
        'key_collision',
        `Call ${call} of ${this.#asking.name} was made by transaction ${used.epoch}, and is ${phase}; it is not made again.`,
        { evidence: { key, epoch: used.epoch, phase } },
      );
    }
  }

  /** An attempt before this one, which is read once: what it has undone stays so. */
  #before(epoch: number): Promise<KnownTransaction | undefined> {
    this.#attempts ??= new Map();
    let known = this.#attempts.get(epoch);
    if (known === undefined) {
      known = this.#held.ports.store.effectsOf(epoch).then((logged) => logged && readTransaction(logged));
      this.#attempts.set(epoch, known);
    }
    return known;
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
function isHeld(kind: EffectClass): boolean {
  return kind.delivery === 'buffered' || isPivot(kind);
}

function useOf({ name }: Tool, input: Json, claims: readonly Claim[]): ToolUse {
  return { action: name, scopes: claims.map(({ scope }) => scope.text), args: input };
}

function notAuthorised({ name }: Tool, { reason, detail }: Pick<Refusal, 'reason' | 'detail'>): EffectError {
  return new EffectError('not_authorised', `${name} may not be used so: ${detail}.`, {
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

/** Whether it has failed, and somebody has asked what becomes of it. */
function isSeen({ made, failed }: Begun): boolean {
  return failed !== undefined && made instanceof AskedPromise && made.isAsked;
}

function notAwaited(lost: readonly Begun[]): EffectError {
  const calls = lost.map(({ what }) => what);
  const told = calls.length === 1 ? `${calls[0]} was` : `${calls.join(', ')} were`;
  return new EffectError(
    'not_awaited',
    `${told} not awaited when the body returned, so nothing of the transaction stands; await all that is called in it.`,
    { evidence: { calls }, cause: lost.find(({ failed }) => failed !== undefined)?.failed?.error },
  );
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

function notReleased({ scope, access }: Claim, why: string): EffectError {
  return new EffectError(
    'scope_exceeded',
    `Nothing was given up: the transaction would no longer ${access} ${scope.text}, and ${why}.`,
    { evidence: { scope: scope.text, access } },
  );
}

function costOf(tool: Tool, input: Json): Amounts {
  return tool.spec.cost?.(input as never) ?? {};
}

/** What undoing a call costs, as the log has it. @throws AuthorityError `bad_amount` */
export function undoCostOf({ spec }: Tool, input: Json): Pick<LoggedEffect, 'undo_cost'> {
  if (spec.undoCost === undefined) return {};
  const items = costItems(spec.undoCost(input as never));
  return items.length === 0 ? {} : { undo_cost: Object.fromEntries(items) };
}

/** @throws AuthorityError `bad_resource` */
export function claimsFrom(given: Scoped): Claim[] {
  return [
    ...(given.reads ?? []).map((scope) => readClaim('read', scope)),
    ...(given.writes ?? []).map((scope) => readClaim('write', scope)),
  ];
}

/** Takes one such claim out of the list; false where there is none. */
function takeOut(claims: Claim[], { access, scope }: Claim): boolean {
  const at = claims.findIndex((each) => each.access === access && each.scope.text === scope.text);
  if (at !== -1) claims.splice(at, 1);
  return at !== -1;
}
