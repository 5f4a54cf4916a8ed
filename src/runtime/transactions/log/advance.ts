import type { Reservation } from '#authority';
import type { Json } from '#base';
import {
  type Claim,
  claimTexts,
  type Decision,
  DidNothing,
  EffectError,
  type EffectRecord,
  type Failing,
  isLeft,
  type KnownEffect,
  type KnownTransaction,
  type LoggedEffect,
  type LogRecord,
  mayCostUndoing,
  nextStep,
  recorded,
  type Step,
  type TransactionBody,
  type TransactionState,
} from '#effects';
import type { EffectStore, Hash } from '#ledger';
import type { Ruling } from '../../records/ruling.ts';
import type { UndoneBy } from '../../records/tool-authority.ts';
import { tooLong } from '../limits/answer-size.ts';
import { isPromise } from '../limits/time-limit.ts';
import type { EffectLeft } from '../settle/effect-entries.ts';
import type { Failure, FailureAnswer } from '../settle/on-failure.ts';
import { type Ended, leftOf, type Settling } from '../settle/settle.ts';
import type { CallPorts } from './call-ports.ts';
import { blobsOf, calledOf, type Prepared } from './call-record.ts';
import type { Thrown } from './last-errors.ts';
import { type LogWrite, RunLog } from './log-writer.ts';
import { type AfterCrash, afterCrash } from './recover-calls.ts';
import type { Holdings } from './staged-writes.ts';
import { Calls } from './tool-calls.ts';
import type { Reserved, Reserving } from './undo-budget.ts';

/** What runs share: the log, the tools, and what tells of them. */
export interface RunPorts extends CallPorts {
  readonly store: EffectStore;
  /** What tells the ledger how it ended, and what waits. */
  readonly settling: Settling;
  /** What is kept free in budgets for undoing what is at work. */
  readonly reserved: Reserved;
  readonly thrown: Thrown;
  /** Proposes what is to be committed where effects have failed. */
  readonly answer: (failure: Failure) => Promise<FailureAnswer | undefined>;
}

/**
 * How far a transaction has come that has no body any more. `person`: something of it waits for a person. `lacking`: for a process that has
 * what this one has not, a tool or its domain. `later`: for something else, and is to be tried again. `ended`: for good.
 */
export type Moved = 'person' | 'lacking' | 'later' | 'ended';

/**
 * One transaction of tools, moved on by what its log says is next (`nextStep`): from its body, or from what a crash has left. What
 * happens is in the log before anything else depends on it. The same instance is used by one caller at a time.
 */
export class Run implements Reserving {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  readonly #ports: RunPorts;
  readonly #log: RunLog;
  readonly #calls: Calls;
  /** The commit entry, and why it is undone: of what was committed, or is. */
  #entry: Hash | undefined;
  #cause: string | undefined;
  /** Whether the action that it is committed with says what is done where it fails: to be said before the commit. */
  hasOnFailure = false;
  /** What was ruled on what is done where it fails, as far as this process has asked. */
  #ruledOnFailure: Ruling | undefined;
  /** The entry with which it was to be written last, that commits it or rejects it. */
  #ruling: Hash | undefined;
  /** What it is committed with then, where that may yet be undone. */
  #planned: readonly LoggedEffect[] = [];
  /** Of what a crash has left, or was approved: aborted when it is left, for another process. */
  #leaving: AbortSignal | undefined;
  /** Settles when the log has its end. */
  readonly #ended = Promise.withResolvers<void>();

  /** `isNamed`: whether its keys can come again, so that the log has to tell where they were used. `left`: what a crash has left of it. */
  constructor(
    ports: RunPorts,
    epoch: number,
    trajectoryId: string,
    body: TransactionBody,
    isNamed: boolean,
    left: Partial<AfterCrash> & { readonly length?: number; readonly leaving?: AbortSignal } = {},
  ) {
    this.#ports = ports;
    this.#leaving = left.leaving;
    this.epoch = epoch;
    this.trajectoryId = trajectoryId;
    this.body = body;
    const noted = (): void => ports.reserved.changed(this);
    this.#log = new RunLog(ports.store, ports.coordination, { epoch, trajectoryId, body, isNamed }, noted, left);
    this.#calls = new Calls(ports, this.#log, epoch, (n, record) => this.#leave(n, record), left);
    // Not all who begin one wait for its end.
    this.#ended.promise.catch(() => undefined);
  }

  /** What a crash has left. */
  static of(ports: RunPorts, known: KnownTransaction): Run {
    const { epoch, trajectoryId, body, length } = known;
    const { tools, leaving } = ports;
    const run = new Run(ports, epoch, trajectoryId, body, true, { ...afterCrash(known, tools), length, leaving });
    run.#entry = known.entry;
    run.#cause = known.cause;
    if (run.effects.some(costsUndoing)) ports.reserved.add(run);
    return run;
  }

  get state(): TransactionState {
    return this.#log.state;
  }

  get effects(): readonly KnownEffect[] {
    return this.#calls.effects;
  }

  /** What was done for its body where nobody else sees it yet, while that can be had: to be said before the commit. */
  set holdings(holdings: Holdings) {
    this.#calls.holdings = holdings;
  }

  /** When the log has its end; never, where nobody can tell yet. @throws what kept it from being written */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether the log has anything of it. */
  get isLogged(): boolean {
    return this.#log.isLogged;
  }

  /** Rows that the log has of it, or will have. */
  get length(): number {
    return this.#log.length;
  }

  /** Effects that have happened and are to stay, if it comes to a commit. */
  get standing(): readonly KnownEffect[] {
    return this.effects.filter((_, n) => {
      const { phase, isDiscarded } = this.state.effects[n]!;
      return phase === 'executed' && isDiscarded !== true;
    });
  }

  reserved(committing: boolean): readonly Reservation[] {
    const more = this.hasOnFailure ? { hasOnFailure: true as const } : {};
    const state = committing ? recorded(this.state, { is: 'committed', planned: [], ...more }) : this.state;
    const begun = this.effects.filter((_, n) => mayCostUndoing(state, n));
    // On its way to the disk, or lost on it.
    const planned = this.state.phase === 'open' && !committing ? this.#planned : [];
    return [...begun, ...planned].flatMap(({ undo_cost: cost }) =>
      cost === undefined ? [] : { writId: this.body.writ_id, cost },
    );
  }

  /**
   * Calls a tool before the commit: says so first, and answers with its place and its result, or why its caller can't have that. `begun` is
   * told the place before anything is waited for.
   *
   * @throws EffectError
   */
  async call(
    { effect, input, blobs }: Prepared,
    begun?: (n: number) => void,
  ): Promise<
    | { readonly n: number; readonly result: Json; readonly refusal?: undefined }
    | { readonly n: number; readonly result?: undefined; readonly refusal: EffectError }
  > {
    const n = this.effects.length;
    begun?.(n);
    this.#calls.effects.push({ ...effect, input });
    // With what is noted now, before anything is waited for.
    if (costsUndoing(effect)) this.#ports.reserved.add(this);
    await this.#log.write([intended(effect)], blobs, [{ key: effect.key, epoch: this.epoch, n }]);
    await this.#calls.make(n, 'call');
    await this.move(true);
    const { phase } = this.state.effects[n]!;
    if (phase === 'executed') {
      const { answer = null, isTooLong } = this.#calls.effects[n]!;
      return isTooLong === true ? { n, refusal: tooLong(effect.tool, effect.key) } : { n, result: answer };
    }
    const { why: said } = this.#calls.effects[n]!;
    if (phase === 'in_doubt')
      throw new EffectError(
        'outcome_unknown',
        `Nobody can tell whether ${effect.tool} was done${said === undefined ? '' : ` (${said})`}; a person has to look, and say what they found: assize effects resolve ${this.epoch} ${n}.`,
        {
          evidence: {
            tool: effect.tool,
            key: effect.key,
            epoch: this.epoch,
            n,
            ...(said !== undefined && { why: said }),
          },
          cause: this.#calls.failureOf(n),
        },
      );
    const cause = this.#calls.failureOf(n);
    throw new EffectError('tool_failed', `${effect.tool} was not done: ${why(cause)}.`, {
      evidence: { tool: effect.tool, key: effect.key },
      cause,
      retryable: !(cause instanceof DidNothing && cause.isFinal),
    });
  }

  /** Whether nothing of an effect is there: its call did nothing, or is undone. */
  isGone(n: number): boolean {
    const phase = this.state.effects[n]?.phase;
    return phase === 'dropped' || phase === 'undone';
  }

  /**
   * Undoes calls of a branch that was not chosen, the last first. What can't be undone, or nobody can tell of, is for a person when it has
   * ended.
   */
  async discard(ns: readonly number[]): Promise<void> {
    const discarded = ns.filter((n) => this.state.effects[n]!.phase !== 'dropped');
    if (discarded.length === 0) return;
    await this.#log.write(discarded.map((n) => ({ is: 'discarded', n })));
    await this.move(true);
  }

  /** @throws what kept something of it from being written: what comes after that can't be either */
  check(): void {
    this.#log.check();
  }

  /** What is to be written with the commit entry, in one transaction of the store. */
  commitWrite(entry: Hash, planned: readonly Prepared[]): LogWrite {
    const from = this.effects.length;
    const { epoch } = this;
    const keys = planned.map(({ effect }, i) => ({ key: effect.key, epoch, n: from + i }));
    this.#ruling = entry;
    if (this.hasOnFailure) {
      this.#planned = planned.map(({ effect }) => effect);
      if (this.#planned.some(costsUndoing)) this.#ports.reserved.add(this);
      else this.#ports.reserved.changed(this);
    }
    return this.#log.offered([this.#committing(entry, planned)], keys, blobsOf(planned));
  }

  /** Whether an entry that is durable has this in the log, and not another attempt of the same name. */
  isRuledBy(entry: Hash): boolean {
    return this.#ruling === entry;
  }

  /** The commit entry is durable, and so is what was written with it. */
  committed(entry: Hash, planned: readonly Prepared[]): void {
    this.#log.sent();
    this.#entry = entry;
    this.#calls.effects.push(...planned.map(calledOf));
    this.#log.note(this.#committing(entry, planned));
  }

  /** From now on it is left, as what a crash has left, when that is aborted. */
  leaveBy(leaving: AbortSignal): void {
    this.#leaving = leaving;
    this.#calls.leaving = leaving;
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
    this.#log.later({ is: 'expanded', claims: claimTexts(claims) });
  }

  /** What is to be written with an entry by which it is undone, in one transaction of the store: it is never ruled on again. */
  undoingWrite(entry: Hash, by: UndoneBy): LogWrite | undefined {
    if (!this.isLogged) return undefined;
    this.#ruling = entry;
    return this.#log.offered([{ cause: by, entry, is: 'aborting' }]);
  }

  /** That entry is durable; where it is the one that `undoingWrite` was asked for, so is what was written with it. */
  undoneBy(entry: Hash, by: UndoneBy): void {
    if (!this.isRuledBy(entry)) return;
    this.#log.sent();
    this.#cause = by;
    this.#log.note({ is: 'aborting', cause: by });
  }

  /** Undoes what was done. @throws what the store throws; the transaction is then left to who comes next */
  async abort(cause: string): Promise<void> {
    if (!this.isLogged || this.state.phase !== 'open') return;
    this.#cause = cause;
    await this.#log.write([{ is: 'aborting', cause }]);
  }

  /** Effects of it that wait for a person. */
  get left(): readonly EffectLeft[] {
    return leftOf(this.#ending(undefined, []), this.#entry);
  }

  /** Does all that is to be done now. `body`: it waits for its body, which there is. */
  async move(hasBody: true): Promise<Moved | 'body'>;
  async move(hasBody: false): Promise<Moved>;
  async move(hasBody: boolean): Promise<Moved | 'body'> {
    const knowing = { hasBody, isUnderWay: () => false, tries: this.#ports.tries, ...this.#calls.mates };
    for (;;) {
      this.#log.check();
      const step = nextStep(this.state, knowing);
      if (step.do === 'nothing' || step.do === 'wait') {
        if (step.do === 'nothing') {
          this.#handOver();
          return 'ended';
        }
        if (step.for === 'body') {
          this.#log.flushSoon();
          return 'body';
        }
        this.#log.flush();
        return 'person';
      }
      // Between two steps the log has all that whoever is next needs.
      if (this.#leaving?.aborted === true && isActing(step)) {
        this.#log.flush();
        return 'later';
      }
      if (step.do === 'propose') {
        const waits = await this.#answerFailure();
        if (waits !== undefined) return waits;
      } else {
        const taking = this.#take(step);
        const isTaken = isPromise(taking) ? await taking : taking;
        if (!isTaken && !(await this.#calls.leaveErased())) {
          this.#log.flush();
          return this.#lacking;
        }
      }
    }
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
    return this.#log.settled;
  }

  /** Takes down what a person has decided. It is durable when this returns; what follows from it is for `move`. */
  async resolve(n: number, as: Decision, by: string, evidence: Json): Promise<void> {
    const ref = this.#calls.kept(n, evidence);
    const left = this.left.find((each) => each.n === n) as EffectLeft;
    this.#calls.change(n, { resolved: { as, by, evidence: ref } });
    this.#log.later({ is: 'resolved', n, as, by, evidence: ref });
    // What is there now may be undone yet, where another one fails.
    const isOpen = as === 'applied' && this.state.hasOnFailure === true;
    const { settling } = this.#ports;
    await this.#log.send((write, blobs) =>
      settling.decide(this.trajectoryId, left, { as, by, evidence: ref, isOpen }, write, blobs),
    );
  }

  /** All is undone: what its action does then is proposed, which ends it. Undefined where it goes on. */
  async #answerFailure(): Promise<'person' | 'lacking' | 'later' | undefined> {
    // Whoever proposes it again has to find the same, or it would be another proposal.
    await this.#log.written();
    await this.#ports.coordination.sure();
    const { n, refusals } = this.state.failing as Failing;
    const { principal, writ_id: writId } = this.body;
    const answer = await this.#ports.answer({
      trajectoryId: this.trajectoryId,
      commit: this.#entry as Hash,
      principal: principal === '' ? undefined : principal,
      writId,
      refusals,
      effects: this.effects.map(({ key, tool }, at) => {
        const { phase } = this.state.effects[at]!;
        return { id: key, tool, outcome: at === n ? 'failed' : (phase as 'dropped' | 'undone' | 'accepted') };
      }),
    });
    if (answer === undefined) return this.#lacking;
    this.#ruledOnFailure = answer.ruling;
    if (answer.is === 'later') return 'later';
    if (answer.is === 'made') this.#log.later({ is: 'settled' });
    else {
      this.#calls.change(n, { refused: answer.why });
      await this.#leave(n, { is: 'refused', n, why: answer.why });
    }
    return undefined;
  }

  /** False where it can't be done here: it needs a tool that was not given, or what was erased. */
  #take(step: Exclude<Step, { do: 'nothing' | 'wait' | 'propose' }>): Promise<boolean> | boolean {
    if (step.do === 'ask') return this.#calls.ask(step.n);
    if (step.do !== 'log') return this.#calls.makeAgain(step.n, step.do);
    const { record } = step;
    switch (record.is) {
      case 'applying':
      case 'undoing':
        if (this.#calls.mayHaveBeenCalled(record.n)) return this.#calls.wasCalled(record.n);
        return this.#calls.make(record.n, record.is === 'applying' ? 'call' : 'undo', record);
      case 'settled':
      case 'aborted':
        this.#log.later(record);
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
        if (this.#wasLeft && this.#calls.firstPerhaps !== undefined)
          return this.#calls.wasCalled(this.#calls.firstPerhaps);
        await this.#log.write([record]);
        return true;
      case 'in_doubt':
      case 'unresolved':
        await this.#leave(record.n, record);
        return true;
      default:
        throw new TypeError(`A step is never to log ${record.is}.`);
    }
  }

  get #wasLeft(): boolean {
    return this.effects.some(({ resolved }, n) => resolved !== undefined || isLeft(this.state.effects[n]!.phase));
  }

  /** An effect waits for a person; durable when this returns. As long as there is a body, what comes of it is for that. */
  async #leave(n: number, given: LogRecord & { readonly is: 'in_doubt' | 'unresolved' | 'refused' }): Promise<void> {
    const record = given.is === 'refused' ? given : this.#withWhy(given);
    if (this.state.phase === 'open') return this.#log.write([record]);
    this.#log.later(record);
    const left = this.left.find((each) => each.n === n) as EffectLeft;
    const { settling } = this.#ports;
    await this.#log.send((write, blobs) => settling.leave(this.trajectoryId, left, write, blobs));
  }

  /** What its tool threw is kept here alone; the log and the ledger have the word that it has for it. */
  #withWhy(given: LogRecord & { readonly is: 'in_doubt' | 'unresolved' }): typeof given {
    const { n, is } = given;
    const why = given.why ?? this.#calls.whyLeft(n, is);
    this.#calls.change(n, { why });
    this.#ports.thrown.note(this.epoch, n, this.#calls.failureOf(n));
    return why === undefined ? given : { ...given, why };
  }

  /** Nothing is left to do: what was said last goes with what the ledger is told of it. */
  #handOver(): void {
    const { settling } = this.#ports;
    const { row, blobs } = this.#log.handOver();
    this.#ports.reserved.ended(this);
    const ending = this.#ending(row, blobs);
    if (this.state.phase === 'settled') settling.settled({ ...ending, entry: this.#entry as Hash });
    else {
      const told = settling.aborted(ending, this.#cause as string);
      this.#log.waitLater(told);
      told.catch(this.#ended.reject);
    }
  }

  #ending(row: Ended['row'], blobs: Ended['blobs']): Ended {
    const { epoch, trajectoryId, body } = this;
    const effects = this.effects.map((effect, n) => ({ ...effect, ...this.state.effects[n]! }));
    const written = (isTold: boolean): void => {
      this.#ports.thrown.drop(epoch);
      // What undoing it has cost is booked, or can be nowhere.
      if (isTold) this.#ports.reserved.drop(epoch);
      this.#ended.resolve();
    };
    return { epoch, trajectoryId, writId: body.writ_id, row, blobs, effects, written };
  }
}

/** Of what no body goes on with. */
const PROCESS_ENDED = 'process_ended';

/** Whether more is done with it than to write down how things stand. */
function isActing(step: Step): boolean {
  return step.do !== 'log' || step.record.is === 'applying' || step.record.is === 'undoing';
}

/** With members in canonical order, which are written fastest. */
function intended({ branch, class: sort, key, payload, tool, undo_cost }: LoggedEffect): LogRecord {
  const record = { class: sort, is: 'intended', key, payload, tool } as const;
  const told = branch === undefined ? record : { branch, ...record };
  return undo_cost === undefined ? told : { ...told, undo_cost };
}

function costsUndoing({ undo_cost }: LoggedEffect): boolean {
  return undo_cost !== undefined;
}

function why(failure: unknown): string {
  return failure instanceof Error ? failure.message.replace(/\.$/, '') : 'its sink has nothing of it';
}
