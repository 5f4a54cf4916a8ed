import type { Reservation } from '#authority';
import { copyJson, type Json } from '#canon';
import {
  BEGUN,
  bodyText,
  type Call,
  type Claim,
  claimTexts,
  type Decision,
  DidNothing,
  type EffectClass,
  EffectError,
  type EffectPayload,
  type EffectPhase,
  type EffectRecord,
  type Failing,
  isLeft,
  type KnownEffect,
  type KnownTransaction,
  type LoggedEffect,
  type LogRecord,
  type Mates,
  mayCostUndoing,
  nextStep,
  protocolOf,
  recorded,
  recordsText,
  type Step,
  type Tool,
  type TransactionBody,
  type TransactionState,
  togetherBy,
  type Undone,
} from '#effects';
import type { BlobRef, BlobRow, EffectKeyRow, EffectStore, EffectWrite, Hash } from '#ledger';
import type { Pause, Random } from '#oracle';
import { Kept, type Salting, saltsAt } from '../kept.ts';
import type { Ruling } from '../ruling.ts';
import type { UndoneBy } from './acting.ts';
import type { Coordination } from './coordination.ts';
import type { EffectLeft } from './effect-entries.ts';
import type { Failure, FailureAnswer } from './failure.ts';
import type { Holdings } from './holdings.ts';
import { Patience } from './patience.ts';
import { readSalted } from './quarantine.ts';
import { refused } from './refused.ts';
import type { Reserved, Reserving } from './reserved.ts';
import { type Ended, leftOf, type Settling } from './settling.ts';
import { TimeLimit } from './time-limit.ts';

/** What runs share: the log, the tools, and how long a call may take. */
export interface RunPorts {
  readonly store: EffectStore;
  readonly coordination: Coordination;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly random: Random;
  readonly pause: Pause;
  /** Milliseconds after which the answer to a call is taken for lost, at most. */
  readonly callMs: number;
  /** Milliseconds that calls of a transaction may take for nothing, and pauses between them, in all. */
  readonly patienceMs: number;
  /** Calls of one effect that may fail, or be lost, before it is left to a person. */
  readonly tries: number;
  /** The text of a blob; undefined where it was erased. */
  readonly blob: (hash: Hash) => Promise<string | undefined>;
  /** What tells the ledger how it ended, and what waits. */
  readonly settling: Settling;
  /** What is kept free in budgets for undoing what is at work. */
  readonly reserved: Reserved;
  /** Proposes what is to be committed where effects have failed. */
  readonly answer: (failure: Failure) => Promise<FailureAnswer | undefined>;
}

/**
 * How far a transaction has come that has no body any more. `person`: something of it waits for a person. `lacking`: for a process that has
 * what this one has not, a tool or its domain; or for what was erased. `later`: for something else, and is to be tried again. `ended`:
 * for good.
 */
export type Moved = 'person' | 'lacking' | 'later' | 'ended';

/** An effect with what it is made of, where this process has that. */
interface Effect extends KnownEffect {
  readonly input?: Json;
  readonly answer?: Json;
  /** What its body was told that it answers. */
  readonly told?: Json;
  /** How often its answer was lost. */
  readonly lost?: number;
  /** Whether a call was made of which nobody knows yet what it did: that a later one did nothing tells nothing of it. */
  readonly isOpen?: boolean;
}

/** A call that is to be made, put where a log can name it. */
export interface Prepared {
  readonly effect: LoggedEffect;
  readonly input: Json;
  readonly blobs: readonly BlobRow[];
  /** What the body was told that it answers, where it was done for it already and nobody else sees it. */
  readonly told?: Json | undefined;
}

/** What keeps these calls: mostly there is one. */
export function blobsOf(calls: readonly Prepared[]): readonly BlobRow[] {
  if (calls.length === 1) return calls[0]!.blobs;
  return calls.flatMap(({ blobs }) => blobs);
}

/** Phases of a call that may have been made. */
const UNDER_WAY: ReadonlySet<EffectPhase> = new Set(['intended', 'applying', 'undoing']);

/** Phases of what is to be called, or undone, or may have been. */
const PHASES: { readonly [how in 'call' | 'undo']: ReadonlySet<EffectPhase> } = {
  call: new Set(['due', 'applying']),
  undo: new Set(['executed', 'undoing']),
};

/** Pauses between tries, in milliseconds: the first, how they grow, and the longest. */
const PAUSE_MS = 10;
const GROWTH = 4;
const PAUSE_MAX_MS = 10_000;

/**
 * One transaction of tools, moved on by what its log says is next (`nextStep`): from its body, or from what a crash has left. What
 * happens is in the log before anything else depends on it. The same instance is used by one caller at a time.
 */
export class Run implements Reserving {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  readonly #ports: RunPorts;
  readonly #isNamed: boolean;
  #state: TransactionState = BEGUN;
  #effects: Effect[] = [];
  /** Rows that are in the log, or on their way there. */
  #length = 0;
  /** Said, and to go into the log with what is written next. */
  #unsent: LogRecord[] = [];
  #unsentBlobs: BlobRow[] = [];
  /** The commit entry, and why it is undone: of what was committed, or is. */
  #entry: Hash | undefined;
  #cause: string | undefined;
  /** Whether the action that it is committed with says what is done where it fails: to be said before the commit. */
  hasOnFailure = false;
  /** What was done for its body where nobody else sees it yet, while that can be had: to be said before the commit. */
  holdings: Holdings | undefined;
  /** What was ruled on what is done where it fails, as far as this process has asked. */
  #ruledOnFailure: Ruling | undefined;
  /** Of what a crash has left: effects that may have been called, although the log does not say so. */
  #perhaps: Set<number> | undefined;
  /** The entry with which it was to be written last, that commits it or rejects it. */
  #ruling: Hash | undefined;
  /** What it is committed with then, where that may yet be undone. */
  #planned: readonly LoggedEffect[] = [];
  /** What was sent last. */
  #sending: Promise<void> | undefined;
  /** Undefined before the first call. What a person has decided on is gone on with by another one. */
  #patience: Patience | undefined;
  /** Settles when the log has its end. */
  readonly #ended = Promise.withResolvers<void>();
  /** Why something could not be written that nobody waited for. */
  #failure: { readonly error: unknown } | undefined;

  /** `isNamed`: whether its keys can come again, so that the log has to tell where they were used. */
  constructor(ports: RunPorts, epoch: number, trajectoryId: string, body: TransactionBody, isNamed: boolean) {
    this.#ports = ports;
    this.#isNamed = isNamed;
    // Not all who begin one wait for its end.
    this.#ended.promise.catch(() => undefined);
    this.epoch = epoch;
    this.trajectoryId = trajectoryId;
    this.body = body;
  }

  /** What a crash has left. */
  static of(ports: RunPorts, known: KnownTransaction): Run {
    const run = new Run(ports, known.epoch, known.trajectoryId, known.body, true);
    run.#length = known.length;
    run.#entry = known.entry;
    run.#cause = known.cause;
    run.#effects = [...known.effects];
    // What waits with another one that was refused was not called: whoever calls one of them calls them all.
    const { together } = run.#mates;
    const waits = (n: number): boolean =>
      together?.(n).some((each) => known.state.effects[each]!.phase === 'unresolved') === true;
    run.#state = known.state.effects.reduce((state, _, n) => (waits(n) ? state : perhapsUndone(state, n)), known.state);
    run.#perhaps = new Set(
      known.state.effects.flatMap(({ phase, class: kind }, n) =>
        phase === 'due' && !isToldFirst(kind) && !waits(n) ? [n] : [],
      ),
    );
    run.#effects = known.effects.map((effect, n) => ({
      ...effect,
      isOpen: UNDER_WAY.has(run.#state.effects[n]!.phase),
    }));
    if (run.#effects.some(costsUndoing)) ports.reserved.add(run);
    return run;
  }

  get state(): TransactionState {
    return this.#state;
  }

  get effects(): readonly KnownEffect[] {
    return this.#effects;
  }

  /** When the log has its end; never, where nobody can tell yet. @throws what kept it from being written */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether the log has anything of it. */
  get isLogged(): boolean {
    return this.#length > 0;
  }

  /** Rows that the log has of it, or will have. */
  get length(): number {
    return this.#length;
  }

  /** Effects that have happened and are to stay, if it comes to a commit. */
  get standing(): readonly KnownEffect[] {
    return this.#effects.filter((_, n) => {
      const { phase, isDiscarded } = this.#state.effects[n]!;
      return phase === 'executed' && isDiscarded !== true;
    });
  }

  reserved(committing: boolean): readonly Reservation[] {
    const more = this.hasOnFailure ? { hasOnFailure: true as const } : {};
    const state = committing ? recorded(this.#state, { is: 'committed', planned: [], ...more }) : this.#state;
    const begun = this.#effects.filter((_, n) => mayCostUndoing(state, n));
    // On its way to the disk, or lost on it.
    const planned = this.#state.phase === 'open' && !committing ? this.#planned : [];
    return [...begun, ...planned].flatMap(({ undo_cost: cost }) =>
      cost === undefined ? [] : { writId: this.body.writ_id, cost },
    );
  }

  /** Calls a tool before the commit: says so first, and answers with its place and its result. @throws EffectError */
  async call({ effect, input, blobs }: Prepared): Promise<{ readonly n: number; readonly result: Json }> {
    const n = this.#effects.length;
    this.#effects.push({ ...effect, input });
    // With what is noted now, before anything is waited for.
    if (costsUndoing(effect)) this.#ports.reserved.add(this);
    await this.#log([intended(effect)], blobs, [{ key: effect.key, epoch: this.epoch, n }]);
    await this.#make(n, 'call');
    await this.move(true);
    const { phase } = this.#state.effects[n]!;
    if (phase === 'executed') return { n, result: this.#effects[n]!.answer ?? null };
    if (phase === 'in_doubt')
      throw new EffectError(
        'outcome_unknown',
        `Nobody can tell whether ${effect.tool} was done; a person has to look, and say what they found: assize effects resolve ${this.epoch} ${n}.`,
        {
          evidence: { tool: effect.tool, key: effect.key, epoch: this.epoch, n },
        },
      );
    throw new EffectError('tool_failed', `${effect.tool} was not done: ${this.#why(n)}.`, {
      evidence: { tool: effect.tool, key: effect.key },
      cause: this.#failures?.get(n),
      retryable: !isFinal(this.#failures?.get(n)),
    });
  }

  /** Undoes calls of a branch that was not chosen, the last first. What can't be undone is for a person when it has ended. */
  async discard(ns: readonly number[]): Promise<void> {
    if (ns.length === 0) return;
    await this.#log(ns.map((n) => ({ is: 'discarded', n })));
    await this.move(true);
  }

  /** What is to be written with the commit entry, in one transaction of the store. */
  commitWrite(
    entry: Hash,
    planned: readonly Prepared[],
  ): { readonly write: EffectWrite; readonly blobs: readonly BlobRow[] } {
    const from = this.#effects.length;
    const records: LogRecord[] = [...this.#unsent, this.#committing(entry, planned)];
    const { epoch } = this;
    const keys = planned.map(({ effect }, i) => ({ key: effect.key, epoch, n: from + i }));
    this.#ruling = entry;
    if (this.hasOnFailure) {
      this.#planned = planned.map(({ effect }) => effect);
      if (this.#planned.some(costsUndoing)) this.#ports.reserved.add(this);
    }
    const blobs = [...this.#unsentBlobs, ...blobsOf(planned)];
    return { write: this.#write(records, keys), blobs };
  }

  /** Whether an entry that is durable has this in the log, and not another attempt of the same name. */
  isRuledBy(entry: Hash): boolean {
    return this.#ruling === entry;
  }

  /** The commit entry is durable, and so is what was written with it. */
  committed(entry: Hash, planned: readonly Prepared[]): void {
    this.#sent();
    this.#entry = entry;
    this.#effects.push(...planned.map(madeOf));
    this.#note(this.#committing(entry, planned));
  }

  #committing(entry: Hash, planned: readonly Prepared[]): LogRecord {
    const effects = planned.map(({ effect }) => effect);
    // Members in canonical order, which are written fastest.
    return this.hasOnFailure
      ? { entry, is: 'committed', on_failure: true, planned: effects }
      : { entry, is: 'committed', planned: effects };
  }

  /** What was ruled on what is done where it has failed, as far as it was asked for here. */
  get ruledOnFailure(): Ruling | undefined {
    return this.#ruledOnFailure;
  }

  /** More is claimed, which the log has before anything is done there. */
  expanded(claims: readonly Claim[]): void {
    this.#unsent.push({ is: 'expanded', claims: claimTexts(claims) });
  }

  /** What is to be written with an entry by which it is undone, in one transaction of the store: it is never ruled on again. */
  undoingWrite(
    entry: Hash,
    by: UndoneBy,
  ): { readonly write: EffectWrite; readonly blobs: readonly BlobRow[] } | undefined {
    if (!this.isLogged) return undefined;
    this.#ruling = entry;
    return { write: this.#write([...this.#unsent, ABORTING[by]], []), blobs: this.#unsentBlobs };
  }

  /** That entry is durable; where it is the one that `undoingWrite` was asked for, so is what was written with it. */
  undoneBy(entry: Hash, by: UndoneBy): void {
    if (!this.isRuledBy(entry)) return;
    this.#sent();
    this.#cause = by;
    this.#note(ABORTING[by]);
  }

  /** Undoes what was done. @throws what the store throws; the transaction is then left to who comes next */
  async abort(cause: string): Promise<void> {
    if (!this.isLogged || this.#state.phase !== 'open') return;
    this.#cause = cause;
    await this.#log([{ is: 'aborting', cause }]);
  }

  /** Effects of it that wait for a person. */
  get left(): readonly EffectLeft[] {
    return leftOf(this.#ending(undefined, []), this.#entry);
  }

  /** Does all that is to be done now. `body`: it waits for its body, which there is. */
  async move(hasBody: true): Promise<Moved | 'body'>;
  async move(hasBody: false): Promise<Moved>;
  async move(hasBody: boolean): Promise<Moved | 'body'> {
    const knowing = { hasBody, isUnderWay: () => false, tries: this.#ports.tries, ...this.#mates };
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      const step = nextStep(this.#state, knowing);
      if (step.do === 'nothing' || step.do === 'wait') {
        if (step.do === 'nothing') {
          this.#handOver();
          return 'ended';
        }
        this.#flush();
        return step.for === 'body' ? 'body' : 'person';
      }
      if (step.do === 'propose') {
        const waits = await this.#answerFailure();
        if (waits !== undefined) return waits;
      } else if (!(await this.#take(step))) return this.#lacking;
    }
  }

  /** What is called together, by the tools that are here. */
  get #mates(): { readonly together?: Mates } {
    const { tools } = this.#ports;
    const together = togetherBy(this.#effects.map(({ tool }) => tools.get(tool)?.spec));
    return together === undefined ? {} : { together };
  }

  /** Something can't be done here; where something else waits for a person, that is to be told. */
  get #lacking(): 'person' | 'lacking' {
    return this.left.length > 0 ? 'person' : 'lacking';
  }

  /**
   * When all that was said is in the log, or can't be written, which whoever writes next is told. Undefined where nothing is on its way
   * there that nobody has waited for.
   */
  settled(): Promise<void> | undefined {
    return this.#sending?.catch(() => undefined);
  }

  /** Takes down what a person has decided. It is durable when this returns; what follows from it is for `move`. */
  async resolve(n: number, as: Decision, by: string, evidence: Json): Promise<void> {
    const kept = new Kept(this.#salts(n));
    const ref = kept.value(evidence, true) as BlobRef;
    const left = this.left.find((each) => each.n === n) as EffectLeft;
    this.#effects[n] = { ...this.#effects[n]!, resolved: { as, by, evidence: ref } };
    this.#later({ is: 'resolved', n, as, by, evidence: ref });
    this.#unsentBlobs.push(...kept.blobs);
    // What is there now may be undone yet, where another one fails.
    const isOpen = as === 'applied' && this.#state.hasOnFailure === true;
    const { settling } = this.#ports;
    await this.#send([], (write, blobs) =>
      settling.decide(this.trajectoryId, left, { as, by, evidence: ref, isOpen }, write, blobs),
    );
  }

  /** All is undone: what its action does then is proposed, which ends it. Undefined where it goes on. */
  async #answerFailure(): Promise<'person' | 'lacking' | 'later' | undefined> {
    // Whoever proposes it again has to find the same, or it would be another proposal.
    if (this.#unsent.length > 0) await this.#send([], this.#append);
    else await this.#sending;
    await this.#ports.coordination.sure();
    const { n, refusals } = this.#state.failing as Failing;
    const { principal, writ_id: writId } = this.body;
    const answer = await this.#ports.answer({
      trajectoryId: this.trajectoryId,
      commit: this.#entry as Hash,
      principal: principal === '' ? undefined : principal,
      writId,
      refusals,
      effects: this.#effects.map(({ key, tool }, at) => {
        const { phase } = this.#state.effects[at]!;
        return { id: key, tool, outcome: at === n ? 'failed' : (phase as 'dropped' | 'undone' | 'accepted') };
      }),
    });
    if (answer === undefined) return this.#lacking;
    this.#ruledOnFailure = answer.ruling;
    if (answer.is === 'later') return 'later';
    if (answer.is === 'made') this.#later({ is: 'settled' });
    else {
      this.#effects[n] = { ...this.#effects[n]!, refused: answer.why };
      await this.#leave(n, { is: 'refused', n, why: answer.why });
    }
    return undefined;
  }

  /** False where it can't be done here: it needs a tool that was not given, or what was erased. */
  #take(step: Exclude<Step, { do: 'nothing' | 'wait' | 'propose' }>): Promise<boolean> | boolean {
    if (step.do === 'ask') return this.#ask(step.n);
    if (step.do !== 'log') return this.#make(step.n, step.do);
    const { record } = step;
    switch (record.is) {
      case 'applying':
      case 'undoing':
        if (this.#perhaps?.has(record.n)) return this.#wasCalled(record.n);
        return this.#make(record.n, record.is === 'applying' ? 'call' : 'undo', record);
      case 'settled':
      case 'aborted':
        this.#later(record);
        return true;
      default:
        return this.#takeDown(record);
    }
  }

  /** What is durable before anything follows from it. */
  async #takeDown(record: EffectRecord): Promise<true> {
    switch (record.is) {
      case 'aborting':
        await this.abort(PROCESS_ENDED);
        return true;
      case 'failing':
        // Others are called in order, after the one that has failed; but for those that came after one that was left to a person.
        if (this.#wasLeft) for (const n of this.#perhaps ?? []) return this.#wasCalled(n);
        await this.#log([record]);
        return true;
      case 'in_doubt':
      case 'unresolved':
        await this.#leave(record.n, record);
        return true;
      default:
        throw new TypeError(`A step is never to log ${record.is}.`);
    }
  }

  /** What needs no record before it is called may have been, before a crash: it is gone on with as if it was. */
  #wasCalled(n: number): true {
    this.#perhaps?.delete(n);
    this.#effects[n] = { ...this.#effects[n]!, isOpen: true };
    this.#note({ is: 'applying', n });
    return true;
  }

  get #wasLeft(): boolean {
    return this.#effects.some(({ resolved }, n) => resolved !== undefined || isLeft(this.#state.effects[n]!.phase));
  }

  /** Makes a call, or its compensation, and says what came of it; before it, if it has to be said, that it is made (`record`). */
  async #make(n: number, how: 'call' | 'undo', record?: LogRecord): Promise<boolean> {
    if (!this.#isReady(n) && !(await this.#readBack(n))) return false;
    const { together } = this.#ports.tools.get(this.#effects[n]!.tool)!.spec;
    if (together !== undefined) {
      // As what is told is compared where they are called together.
      const isHeld = how === 'call' && this.#effects[n]!.told !== undefined;
      const all = this.#withIt(n, how);
      if (all === undefined) return false;
      if (all.length > 1 || isHeld) return this.#makeTogether(all, how);
    }
    if (record !== undefined) {
      if (isToldFirst(this.#effects[n]!.class)) await this.#log([record]);
      else this.#note(record);
    }
    const sure = this.#ports.coordination.sure();
    if (sure !== undefined) await sure;
    const effect = this.#effects[n]!;
    if ((effect.lost ?? 0) >= this.#ports.tries) {
      await this.#leave(n, { is: 'in_doubt', n });
      return true;
    }
    const { spec } = this.#ports.tools.get(effect.tool)!;
    const { input, answer = null } = effect;
    if (how === 'undo' && spec.compensate === undefined) {
      await this.#leave(n, { is: 'unresolved', n });
      return true;
    }
    try {
      if (how === 'call') {
        const result = await this.#bounded(effect, (call) => spec.execute(input, call, []));
        this.#answered(n, (result ?? null) as Json);
      } else {
        const undone = await this.#bounded(effect, (call) => spec.compensate!(input, answer, call));
        const residue = residueOf(effect.tool, undone);
        this.#undone(n, residue === undefined ? undefined : await this.#mitigated(effect, spec, residue));
      }
    } catch (error) {
      await this.#failed(n, error);
    }
    return true;
  }

  /** What is to be called, or undone, in one step with an effect; undefined where a tool is not here, as it might be of them. */
  #withIt(n: number, how: 'call' | 'undo'): readonly number[] | undefined {
    const { effects } = this.#state;
    const isOfIt = (each: number): boolean => PHASES[how].has(effects[each]!.phase);
    // Also of what waits for a person, which may be one of them.
    const counts = (each: number): boolean => isOfIt(each) || isLeft(effects[each]!.phase);
    const isUnknown = this.#effects.some(({ tool }, each) => counts(each) && !this.#ports.tools.has(tool));
    return isUnknown ? undefined : (this.#mates.together?.(n) ?? [n]).filter(isOfIt);
  }

  /** The same for several that are one step of their sink: all of them, or none. */
  async #makeTogether(ns: readonly number[], how: 'call' | 'undo'): Promise<boolean> {
    for (const n of ns) if (!this.#isReady(n) && !(await this.#readBack(n))) return false;
    await this.#sayMade(ns, how);
    const sure = this.#ports.coordination.sure();
    if (sure !== undefined) await sure;
    if (ns.some((n) => (this.#effects[n]!.lost ?? 0) >= this.#ports.tries)) {
      for (const n of ns) await this.#leave(n, { is: 'in_doubt', n });
      return true;
    }
    const specs = ns.map((n) => this.#ports.tools.get(this.#effects[n]!.tool)!.spec);
    const stays = how === 'call' ? undefined : ns[specs.findIndex(({ compensate }) => compensate === undefined)];
    if (stays !== undefined) {
      await this.#leave(stays, { is: 'unresolved', n: stays });
      return true;
    }
    try {
      const made = await this.#callTogether(ns, specs, how);
      for (const [i, n] of ns.entries()) {
        if (how === 'call') this.#answered(n, (made[i] ?? null) as Json);
        else this.#undone(n, residueOf(this.#effects[n]!.tool, made[i] as Undone));
      }
    } catch (error) {
      // Where one answer can't be kept, those before it can.
      const open = ns.filter((n) => PHASES[how].has(this.#state.effects[n]!.phase));
      await this.#failedTogether(open, error);
    }
    return true;
  }

  /** What has to be in the log before it is called goes there at once; what a crash has left may have been called. */
  async #sayMade(ns: readonly number[], how: 'call' | 'undo'): Promise<void> {
    const is = how === 'call' ? 'applying' : 'undoing';
    const told: LogRecord[] = [];
    for (const n of ns) {
      if (this.#state.effects[n]!.phase === is) continue;
      if (this.#perhaps?.has(n)) this.#wasCalled(n);
      else if (isToldFirst(this.#effects[n]!.class)) told.push({ is, n });
      else this.#note({ is, n });
    }
    if (told.length > 0) await this.#log(told);
  }

  /** Each may take as long as it might by itself, as far as there is patience for it. */
  async #callTogether(
    ns: readonly number[],
    specs: readonly Tool['spec'][],
    how: 'call' | 'undo',
  ): Promise<readonly unknown[]> {
    const together = specs[0]!.together!;
    const holding = how === 'call' ? this.holdings?.take(together.at) : undefined;
    return this.#patiently<readonly unknown[]>(this.#ports.callMs * ns.length, async (signal) => {
      const calls = ns.map((n, i) => {
        const { key, input, told, answer = null } = this.#effects[n]!;
        const made = { part: specs[i]!.together!.part, input, call: { key, signal, epoch: this.epoch } };
        if (how === 'undo') return { ...made, result: answer };
        return told === undefined ? made : { ...made, told };
      });
      const made =
        how === 'undo'
          ? await together.compensate!(calls)
          : ((await holding?.commit(calls)) ?? (await together.execute(calls)));
      if (Array.isArray(made) && made.length === ns.length) return made;
      throw new TypeError(`${ns.length} calls were made together, and not as many have answered`);
    });
  }

  /** Nothing was done of all of them, or nobody knows; where it is for one of them, the others are no worse than before. */
  async #failedTogether(ns: readonly number[], error: unknown): Promise<void> {
    this.#failures ??= new Map();
    for (const n of ns) this.#failures.set(n, error);
    if (!(error instanceof DidNothing) || ns.some((n) => this.#effects[n]!.isOpen === true)) {
      const lost = 1 + Math.max(...ns.map((n) => this.#effects[n]!.lost ?? 0));
      for (const n of ns) this.#effects[n] = { ...this.#effects[n]!, lost, isOpen: true };
      if (lost < this.#ports.tries) await this.#wait(lost);
      return;
    }
    const refused = ns.filter((n) => this.#effects[n]!.key === error.key);
    const failed = refused.length === 0 ? ns : refused;
    for (const n of ns) {
      if (!failed.includes(n)) this.#later({ is: 'absent', n });
      else if (error.isFinal) this.#later({ is: 'failed', n, final: true, ...this.#differing(n, error) });
      else this.#later({ is: 'failed', n });
    }
    if (!error.isFinal) await this.#wait(Math.max(...failed.map((n) => this.#state.effects[n]!.failures)));
  }

  /** Both answers, where the body was told another one: a person is shown them. */
  #differing(n: number, { answer }: DidNothing): { readonly differs?: BlobRef } {
    const { told } = this.#effects[n]!;
    if (answer === undefined || told === undefined) return {};
    const differs = this.#kept(n, { answer, told });
    this.#effects[n] = { ...this.#effects[n]!, differs };
    return { differs };
  }

  /** What is left, and what was done about it, where its tool does something. */
  async #mitigated(effect: Effect, { mitigate }: Tool['spec'], residue: Json): Promise<Json> {
    if (mitigate === undefined) return residue;
    try {
      const said = await this.#bounded(effect, (call) => mitigate(effect.input, residue, call));
      return { mitigated: copyJson(said ?? null, { foreign: true }), residue };
    } catch (cause) {
      const why = `what was left could not be mitigated: ${(cause as Error)?.message}`;
      // A blind sink would do again what has been undone.
      throw effect.class.sink === 'blind' ? new Error(why, { cause }) : new DidNothing(why, { cause });
    }
  }

  /** Asks the sink what became of a call, or of its compensation. */
  async #ask(n: number): Promise<boolean> {
    if (!this.#isReady(n) && !(await this.#readBack(n))) return false;
    await this.#ports.coordination.sure();
    const effect = this.#effects[n]!;
    const { spec } = this.#ports.tools.get(effect.tool)!;
    try {
      const said = await this.#bounded(effect, (call) => spec.reconcile!(effect.input, call));
      const isUndoing = this.#state.effects[n]!.phase === 'undoing';
      // Asked after a compensation, what has happened stands still.
      if (isUndoing) said.happened ? this.#absent(n) : this.#undone(n, unheardResidue(effect.class));
      else if (said.happened) this.#answered(n, said.result);
      else this.#absent(n);
    } catch {
      // Nobody was told anything: as if the answer was lost, and asked again.
      await this.#lose(n);
      if ((this.#effects[n]!.lost ?? 0) >= this.#ports.tries) await this.#leave(n, { is: 'in_doubt', n });
    }
    return true;
  }

  #failures: Map<number, unknown> | undefined;

  #why(n: number): string {
    const error = this.#failures?.get(n);
    return error instanceof Error ? error.message.replace(/\.$/, '') : 'its sink has nothing of it';
  }

  async #failed(n: number, error: unknown): Promise<void> {
    this.#failures ??= new Map();
    this.#failures.set(n, error);
    if (!(error instanceof DidNothing) || this.#effects[n]!.isOpen === true) return this.#lose(n);
    const wasOpen = this.#state.effects[n]!.phase === 'intended';
    this.#later(error.isFinal ? { is: 'failed', n, final: true } : { is: 'failed', n });
    // The body is told at once, and decides itself whether it tries again.
    if (!wasOpen && !error.isFinal) await this.#wait(this.#state.effects[n]!.failures);
  }

  async #lose(n: number): Promise<void> {
    const lost = (this.#effects[n]!.lost ?? 0) + 1;
    this.#effects[n] = { ...this.#effects[n]!, lost, isOpen: true };
    if (this.#effects[n]!.class.sink !== 'blind' && lost < this.#ports.tries) await this.#wait(lost);
  }

  #wait(times: number): Promise<void> {
    const wished = Math.min(PAUSE_MS * GROWTH ** (times - 1), PAUSE_MAX_MS);
    const patience = this.#takePatience();
    const longest = patience.of(2 * wished);
    patience.lose(longest);
    return this.#ports.pause(longest / 2, longest);
  }

  #takePatience(): Patience {
    this.#patience ??= new Patience(this.#ports.patienceMs);
    return this.#patience;
  }

  #bounded<T>({ key }: Effect, make: (call: Call) => T | Promise<T>): Promise<T> {
    return this.#patiently(this.#ports.callMs, (signal) => make({ key, signal, epoch: this.epoch }));
  }

  /** Goes on without an answer when that takes too long: a tool that hangs holds nobody up. */
  async #patiently<T>(wishedMs: number, make: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const ms = this.#takePatience().of(wishedMs);
    const limit = new TimeLimit(ms, this.#ports.coordination.lost);
    try {
      return await limit.bound(
        () => make(limit.signal),
        () => new Error(`it did not answer within ${ms} ms`),
      );
    } catch (error) {
      this.#takePatience().lose(limit.signal.aborted ? ms : limit.elapsedMs);
      throw error;
    } finally {
      limit.end();
    }
  }

  #answered(n: number, result: Json): void {
    const is = this.#state.effects[n]!.phase === 'intended' ? 'executed' : 'applied';
    // First: an answer that can't be kept is none.
    const ref = result === null ? undefined : this.#kept(n, result);
    const effect = { ...this.#effects[n]!, answer: result, lost: 0, isOpen: false };
    this.#effects[n] = ref === undefined ? effect : { ...effect, result: ref };
    this.#later(ref === undefined ? { is, n } : { is, n, result: ref });
  }

  /** @throws CanonError for what is no JSON */
  #kept(n: number, value: Json): BlobRef {
    const kept = new Kept(this.#salts(n));
    const ref = kept.value(value, true) as BlobRef;
    this.#unsentBlobs.push(...kept.blobs);
    return ref;
  }

  #salts(n: number): Salting {
    return saltsAt(this.#ports.random, this.#effects[n]!.key);
  }

  /** It has not happened, or what it was to undo still stands. */
  #absent(n: number): void {
    // A try that came to nothing counts, also where it is the sink that says so.
    const is = (this.#effects[n]!.lost ?? 0) > 0 ? 'failed' : 'absent';
    this.#effects[n] = { ...this.#effects[n]!, lost: 0, isOpen: false };
    this.#later({ is, n });
  }

  #undone(n: number, residue: Json | undefined): void {
    const ref = residue === undefined ? undefined : this.#kept(n, residue);
    this.#effects[n] = { ...this.#effects[n]!, lost: 0, isOpen: false };
    this.#later(ref === undefined ? { is: 'undone', n } : { is: 'undone', n, residue: ref });
  }

  /** Whether there is all that a call of it takes. */
  #isReady(n: number): boolean {
    const { tool, input } = this.#effects[n]!;
    return input !== undefined && this.#ports.tools.has(tool);
  }

  /** Reads an effect back from its blobs. False where that, or its tool, can't be had. */
  async #readBack(n: number): Promise<boolean> {
    const effect = this.#effects[n]!;
    if (!this.#ports.tools.has(effect.tool)) return false;
    const payload = (await this.#read(effect.payload)) as EffectPayload | undefined;
    if (payload === undefined) return false;
    const answer = effect.result === undefined ? null : await this.#read(effect.result);
    if (answer === undefined) return false;
    const { input, told } = payload;
    this.#effects[n] = { ...effect, input, answer, ...(told === undefined ? {} : { told }) };
    return true;
  }

  #read(ref: BlobRef): Promise<Json | undefined> {
    return readSalted(this.#ports.blob, ref);
  }

  /** Moves the state in memory, which the log will follow. */
  #note(record: LogRecord): void {
    if (record.is === 'expanded') return;
    this.#state = recorded(this.#state, protocolOf(record));
  }

  #later(record: LogRecord): void {
    this.#note(record);
    this.#unsent.push(record);
  }

  /** Says something that is durable when this returns. */
  async #log(
    records: readonly LogRecord[],
    blobs: readonly BlobRow[] = [],
    keys: readonly EffectKeyRow[] = NO_KEYS,
  ): Promise<void> {
    for (const record of records) this.#note(record);
    this.#unsent.push(...records);
    this.#unsentBlobs.push(...blobs);
    await this.#send(keys, this.#append);
  }

  /** An effect waits for a person; durable when this returns. As long as there is a body, what comes of it is for that. */
  async #leave(n: number, record: LogRecord & { readonly is: 'in_doubt' | 'unresolved' | 'refused' }): Promise<void> {
    if (this.#state.phase === 'open') return this.#log([record]);
    this.#later(record);
    const left = this.left.find((each) => each.n === n) as EffectLeft;
    const { settling } = this.#ports;
    await this.#send([], (write, blobs) => settling.leave(this.trajectoryId, left, write, blobs));
  }

  /** Sends what was said without waiting: what is sent later is written later. */
  #flush(): void {
    if (this.isLogged && this.#unsent.length > 0) this.#waitLater(this.#send([], this.#append));
  }

  /** Nothing is left to do: what was said last goes with what the ledger is told of it. */
  #handOver(): void {
    const { settling } = this.#ports;
    const row =
      this.#unsent.length === 0
        ? undefined
        : { epoch: this.epoch, place: this.#length, record: recordsText(this.#unsent) };
    const ending = this.#ending(row, this.#unsentBlobs);
    this.#sent();
    if (this.#state.phase === 'settled') settling.settled({ ...ending, entry: this.#entry as Hash });
    else {
      this.#waitLater(settling.aborted(ending, this.#cause as string));
      this.#sending?.catch(this.#ended.reject);
    }
  }

  #ending(row: Ended['row'], blobs: readonly BlobRow[]): Ended {
    const { epoch, trajectoryId, body } = this;
    const effects = this.#effects.map((effect, n) => ({ ...effect, ...this.#state.effects[n]! }));
    const written = (isTold: boolean): void => {
      // What undoing it has cost is booked, or can be nowhere.
      if (isTold) this.#ports.reserved.drop(epoch);
      this.#ended.resolve();
    };
    return { epoch, trajectoryId, writId: body.writ_id, row, blobs, effects, written };
  }

  #waitLater(sending: Promise<void>): void {
    this.#sending = sending;
    sending.catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }

  async #send(
    keys: readonly EffectKeyRow[],
    write: (write: EffectWrite, blobs: readonly BlobRow[]) => Promise<void>,
  ): Promise<void> {
    const written = this.#write(this.#unsent, keys);
    const blobs = this.#unsentBlobs;
    this.#sent();
    await write(written, blobs);
  }

  /** What was said is on its way into the log. */
  #sent(): void {
    this.#unsent = [];
    this.#unsentBlobs = [];
    this.#length++;
  }

  readonly #append = async (write: EffectWrite, blobs: readonly BlobRow[]): Promise<void> => {
    const result = await this.#ports.store.logEffects(write, blobs);
    if (result.status !== 'written') throw refused(result);
  };

  #write(records: readonly LogRecord[], keys: readonly EffectKeyRow[]): EffectWrite {
    const { epoch, trajectoryId: trajectory_id } = this;
    return {
      fence: this.#ports.coordination.fence,
      begun: this.isLogged ? [] : [{ epoch, trajectory_id, body: bodyText(this.body) }],
      records: [{ epoch, place: this.#length, record: recordsText(records) }],
      keys: this.#isNamed ? keys : NO_KEYS,
    };
  }
}

/** As it is called. */
function madeOf({ effect, input, told }: Prepared): Effect {
  return told === undefined ? { ...effect, input } : { ...effect, input, told };
}

const NO_KEYS: readonly EffectKeyRow[] = [];

/** Of what no body goes on with. */
const PROCESS_ENDED = 'process_ended';
/** Of what was ruled on. */
const ABORTING = {
  rejected: Object.freeze({ is: 'aborting', cause: 'rejected' } as const),
  escalated: Object.freeze({ is: 'aborting', cause: 'escalated' } as const),
};

/** With members in canonical order, which are written fastest. */
function intended({ class: sort, key, payload, tool, undo_cost }: LoggedEffect): LogRecord {
  const record = { class: sort, is: 'intended', key, payload, tool } as const;
  return undo_cost === undefined ? record : { ...record, undo_cost };
}

function costsUndoing({ undo_cost }: LoggedEffect): boolean {
  return undo_cost !== undefined;
}

/** What is left of what was undone; undefined for nothing. @throws TypeError where a tool does not say whether it was */
function residueOf(tool: string, said: Undone): Json | undefined {
  if (said?.undone === 'all') return undefined;
  if (said?.undone === 'partly' && said.residue !== undefined) return said.residue;
  throw new TypeError(`${tool} does not say what it has undone: { undone: 'all' }, or 'partly' and the residue`);
}

function isFinal(error: unknown): boolean {
  return error instanceof DidNothing && error.isFinal;
}

/** What is left of something that was undone, where the answer that would have said so was lost. */
function unheardResidue({ reversibility }: EffectClass): Json | undefined {
  return reversibility === 'with_cost'
    ? { unknown: 'the answer that would have said what it cost was lost' }
    : undefined;
}

/** What needs no record before it is undone may have been. */
function perhapsUndone(state: TransactionState, n: number): TransactionState {
  const { class: kind, phase, isDiscarded } = state.effects[n]!;
  if (isToldFirst(kind)) return state;
  const isUnwanted = state.phase === 'aborting' || state.phase === 'failing' || isDiscarded === true;
  return phase === 'executed' && isUnwanted ? recorded(state, { is: 'undoing', n }) : state;
}

/** Whether a call of that class is in the log before it is made: another one would not be harmless. */
function isToldFirst({ reversibility, sink }: EffectClass): boolean {
  return sink === 'blind' || reversibility === 'irreversible';
}
