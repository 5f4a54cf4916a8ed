/**
 * The next step of a transaction, as a function of its effect log
 * (docs/decisions/016-effect-outcomes.md). The function is the same for a running transaction and
 * for one that a crash interrupted, so any process can resume from the log. A crash loses only the
 * answers of calls and the body that would have made further calls.
 */

export type Reversibility = 'reversible' | 'with_cost' | 'irreversible';

/** `buffered`: can wait until after the commit. `externalised`: executes immediately. */
export type Delivery = 'buffered' | 'externalised';

/**
 * The sink's knowledge of a call with a lost answer. `keyed`: none, but a call repeated under the
 * same key happens once. `queryable`: the sink reports whether the call has happened. `blind`:
 * neither.
 */
export type Sink = 'keyed' | 'queryable' | 'blind';

export interface EffectClass {
  readonly reversibility: Reversibility;
  readonly delivery: Delivery;
  readonly sink: Sink;
}

/**
 * Whether an effect can be neither compensated nor buffered. It is the transaction's only pivot,
 * and a human authorises it before the call (docs/decisions/016-effect-outcomes.md#pivot).
 */
export function isPivot({ reversibility, delivery }: EffectClass): boolean {
  return reversibility === 'irreversible' && delivery === 'externalised';
}

/**
 * `intended`: called before the commit. `executed`: has happened, and is compensated if the
 * transaction aborts. `due`: to be called after the commit. `applying`, `undoing`: the call is in
 * flight. `applied`, `undone`, `dropped`: final. `in_doubt`: the outcome is unknown. `unresolved`:
 * failed after the last attempt. The last two need a human decision. `accepted`: an operator
 * accepts the effect in its present condition.
 */
export type EffectPhase =
  | 'intended'
  | 'executed'
  | 'due'
  | 'applying'
  | 'applied'
  | 'undoing'
  | 'undone'
  | 'dropped'
  | 'in_doubt'
  | 'unresolved'
  | 'accepted';

/**
 * An operator's decision about an unresolved effect (docs/decisions/016-effect-outcomes.md).
 * `applied`: the effect exists. `undone`: the effect does not exist. `retry`: call again.
 * `residue`: leave the effect as it is.
 */
export type Decision = 'applied' | 'undone' | 'retry' | 'residue';

export interface EffectState {
  readonly class: EffectClass;
  readonly phase: EffectPhase;
  /** Number of known failures, of the call or of its compensation. */
  readonly failures: number;
  /** The sink refused the call permanently, so the call is not retried. */
  readonly isFinal?: true;
  /** The effect belongs to a discarded branch and is compensated in every case. */
  readonly isDiscarded?: true;
  /** The tool is known to have compensated the effect, so the cost was spent. */
  readonly isCompensated?: true;
  /** For an effect in doubt: the call with the missing answer. */
  readonly doubt?: 'call' | 'undo';
  /**
   * The commit for the effect's failure was refused and needs a human decision; the effect itself
   * does not.
   */
  readonly isRefused?: true;
  /**
   * For an unresolved effect of a failed transaction: the call did nothing, so there is nothing to
   * compensate.
   */
  readonly isAbsent?: true;
}

/**
 * `failing`: the committed transaction is compensated because one of its effects failed
 * permanently.
 */
export type TransactionPhase =
  | 'open'
  | 'committed'
  | 'failing'
  | 'aborting'
  | 'settled'
  | 'aborted';

/** The failure of a committed transaction. */
export interface Failing {
  /** The index of the effect that failed permanently. */
  readonly n: number;
  /** Number of times that the commit for the failure was refused. */
  readonly refusals: number;
  /** An operator decided that no further commit for the failure is needed. */
  readonly isWaived?: true;
}

export interface TransactionState {
  readonly phase: TransactionPhase;
  /** In call order. Planned effects are in memory only until the commit. */
  readonly effects: readonly EffectState[];
  /** The action declares a commit for the permanent failure of an effect. */
  readonly hasOnFailure?: true;
  /** Set for a committed transaction that failed, also after it has settled. */
  readonly failing?: Failing;
  /**
   * The committed transaction waited for nothing but human decisions, and an operator made one.
   * Others may have acted on its applied effects since, so it fails no more.
   */
  readonly isFreed?: true;
}

/** The records of a transaction after `begin`. `n` is an effect's index in call order. */
export type EffectRecord =
  | { readonly is: 'intended'; readonly class: EffectClass }
  /**
   * Written in one store transaction with the ledger entry. Buffered effects are due from then on.
   */
  | {
      readonly is: 'committed';
      readonly planned: readonly EffectClass[];
      readonly hasOnFailure?: true;
    }
  | { readonly is: 'aborting' }
  /**
   * An effect failed permanently before any irreversible effect. Due effects are dropped, and
   * executed effects are compensated.
   */
  | { readonly is: 'failing'; readonly n: number }
  /** All effects are compensated, and the commit for the failure was refused. */
  | { readonly is: 'refused'; readonly n: number }
  /** The call, or its compensation, has happened. */
  | { readonly is: 'executed' | 'applied' | 'undone'; readonly n: number }
  /** Written before each call. The writer of this record, or of `intended`, then makes the call. */
  | { readonly is: 'applying' | 'undoing'; readonly n: number }
  /** The sink refused the call, and the call did nothing. `final`: a retry will fail too. */
  | { readonly is: 'failed'; readonly n: number; readonly final?: true }
  /** The sink reports that the call never happened. */
  | { readonly is: 'absent'; readonly n: number }
  | { readonly is: 'in_doubt' | 'unresolved'; readonly n: number }
  /** The effect's branch was discarded. */
  | { readonly is: 'discarded'; readonly n: number }
  /** An operator decided. */
  | { readonly is: 'resolved'; readonly n: number; readonly as: Decision }
  | { readonly is: 'settled' | 'aborted' };

/** Default and maximum number of failed calls before an effect is abandoned. */
export const EFFECT_ATTEMPTS = 3;
export const EFFECT_ATTEMPTS_MAX = 100;

export const BEGUN: TransactionState = { phase: 'open', effects: [] };

/** The transaction's state after a record. */
export function recorded(state: TransactionState, record: EffectRecord): TransactionState {
  switch (record.is) {
    case 'intended':
      return {
        ...state,
        effects: [...state.effects, { class: record.class, phase: 'intended', failures: 0 }],
      };
    case 'committed': {
      const planned = record.planned.map(
        (each): EffectState => ({ class: each, phase: 'due', failures: 0 }),
      );
      const done = state.effects.map(
        (effect): EffectState =>
          effect.phase === 'executed' && effect.isDiscarded !== true
            ? { ...effect, phase: 'applied' }
            : effect,
      );
      const more = record.hasOnFailure === true ? { hasOnFailure: true as const } : {};
      return { phase: 'committed', effects: [...done, ...planned], ...more };
    }
    case 'failing': {
      const effects = state.effects.map(failed);
      return { ...state, phase: 'failing', effects, failing: { n: record.n, refusals: 0 } };
    }
    case 'refused': {
      const failing = { ...state.failing!, refusals: state.failing!.refusals + 1 };
      const left = changed(state, record.n, (effect) => ({
        ...effect,
        phase: 'unresolved',
        isRefused: true,
      }));
      return { ...left, failing };
    }
    case 'aborting':
    case 'settled':
    case 'aborted':
      return { ...state, phase: record.is };
    case 'failed':
    case 'absent':
      return changed(state, record.n, (effect) => ({
        ...effect,
        phase: BEFORE[effect.phase] ?? effect.phase,
        failures: effect.failures + (record.is === 'failed' ? 1 : 0),
        ...(record.is === 'failed' && record.final === true ? { isFinal: true } : {}),
      }));
    case 'executed':
      return changed(state, record.n, ({ isFinal: _, ...effect }) => ({
        ...effect,
        phase: 'executed',
        failures: 0,
      }));
    case 'in_doubt':
      return changed(state, record.n, (effect) => ({
        ...effect,
        phase: 'in_doubt',
        // An effect that is safe to repeat needs no record before its compensation.
        doubt: effect.phase === 'undoing' || effect.phase === 'executed' ? 'undo' : 'call',
      }));
    case 'discarded':
      return changed(state, record.n, (effect) => ({ ...effect, isDiscarded: true }));
    case 'undone':
      return changed(state, record.n, (effect) => ({
        ...effect,
        phase: 'undone',
        isCompensated: true,
      }));
    case 'resolved': {
      const decidedOn = state.effects[record.n]!;
      const to = changed(
        state,
        record.n,
        ({ doubt, isFinal: _, isRefused: __, isAbsent: ___, ...effect }) => ({
          ...effect,
          phase: decided(state.phase, decidedOn, record.as),
          failures: 0,
          // The compensation was called, and the effect does not exist.
          ...(record.as === 'undone' && doubt === 'undo' ? { isCompensated: true } : {}),
        }),
      );
      const freed =
        state.phase === 'committed' && !state.effects.some(isDue)
          ? { ...to, isFreed: true as const }
          : to;
      const isWaived =
        decidedOn.isRefused === true && (record.as === 'undone' || record.as === 'residue');
      return isWaived ? { ...freed, failing: { ...state.failing!, isWaived } } : freed;
    }
    default: {
      const { is, n } = record;
      return changed(state, n, (effect) => ({ ...effect, phase: is }));
    }
  }
}

/** The state of an effect after its transaction failed. */
function failed(effect: EffectState): EffectState {
  switch (effect.phase) {
    case 'due':
      return { ...effect, phase: 'dropped', failures: 0 };
    case 'applied':
      return { ...effect, phase: 'executed', failures: 0 };
    case 'unresolved':
      return isDiscarded(effect) ? effect : { ...effect, isAbsent: true };
    default:
      return effect;
  }
}

/**
 * The earlier phase after a call that did nothing. A call before the commit is not retried; the
 * body receives the error.
 */
const BEFORE: Partial<Record<EffectPhase, EffectPhase>> = {
  intended: 'dropped',
  applying: 'due',
  undoing: 'executed',
};

/**
 * An existing effect that should not exist is compensated. A retried effect returns to its earlier
 * phase, so a queryable sink is asked first.
 */
function decided(transaction: TransactionPhase, effect: EffectState, as: Decision): EffectPhase {
  const isCommitted = isWanted(transaction, effect);
  switch (as) {
    case 'applied':
      return isCommitted ? 'applied' : 'executed';
    case 'undone':
      return 'undone';
    case 'residue':
      return 'accepted';
    case 'retry':
      if (effect.isRefused === true || effect.isAbsent === true) return 'dropped';
      if (effect.phase === 'unresolved' || effect.class.sink === 'blind')
        return isCommitted ? 'due' : 'executed';
      if (isCommitted) return 'applying';
      return effect.doubt === 'undo' ? 'undoing' : 'intended';
  }
}

function isWanted(transaction: TransactionPhase, effect: EffectState): boolean {
  return transaction === 'committed' && !isDiscarded(effect);
}

/**
 * Whether an operator may retry an unresolved effect. `confirmed`: the effect may have happened,
 * and a retry could repeat it. `never`: the effect must be compensated, and its existence is
 * unknown.
 */
export function retryOf(
  { phase: transaction, effects }: TransactionState,
  n: number,
): 'freely' | 'confirmed' | 'never' {
  const effect = effects[n]!;
  const { phase, doubt, class: kind } = effect;
  if (phase === 'unresolved' || kind.sink !== 'blind') return 'freely';
  return isWanted(transaction, effect) || doubt === 'undo' ? 'confirmed' : 'never';
}

/**
 * Whether the compensation of an effect was needed and done, or may still be needed. Its cost is
 * spent or reserved.
 */
export function mayCostUndoing(state: TransactionState, n: number): boolean {
  const { phase: transaction, effects } = state;
  const effect = effects[n]!;
  switch (effect.phase) {
    case 'due':
    case 'applying':
    case 'applied':
      return mayFail(state);
    case 'intended':
    case 'executed':
    case 'undoing':
      return true;
    case 'undone':
      return effect.isCompensated === true;
    default:
      return isUnresolved(effect.phase) && (mayFail(state) || !isWanted(transaction, effect));
  }
}

/**
 * Applied effects may still be compensated if another one fails. Not any more if the transaction
 * waits for nothing but human decisions: it would block what it has done until a person comes.
 */
function mayFail({ phase, hasOnFailure, isFreed, effects }: TransactionState): boolean {
  if (phase !== 'committed' || hasOnFailure !== true || isFreed === true) return false;
  return effects.some(isDue) || !effects.some((effect) => isUnresolved(effect.phase));
}

function changed(
  state: TransactionState,
  n: number,
  change: (effect: EffectState) => EffectState,
): TransactionState {
  return {
    ...state,
    effects: state.effects.map((effect, at) => (at === n ? change(effect) : effect)),
  };
}

/** The next step. */
export type Step =
  /** Write the record before any other step of the transaction. */
  | { readonly do: 'log'; readonly record: EffectRecord }
  /** Repeat the call under its key. */
  | { readonly do: 'call' | 'undo'; readonly n: number }
  /** Ask the sink whether the call, or its compensation, has happened. */
  | { readonly do: 'ask'; readonly n: number }
  /**
   * All effects are compensated. Propose the action's commit for the failure once; the commit
   * settles the transaction.
   */
  | { readonly do: 'propose' }
  | { readonly do: 'wait'; readonly for: 'body' | 'answer' | 'needs_human' }
  | { readonly do: 'nothing' };

/** The process's knowledge in addition to the log. */
export interface LocalKnowledge {
  /** Whether the transaction's body is still running. */
  readonly hasBody: boolean;
  /**
   * Whether a call of this process is in flight or was answered, so that its outcome is not lost.
   */
  readonly isInFlight: (n: number) => boolean;
  /**
   * Number of failed calls before an effect is unresolved. The log records that it is, because
   * other processes may use another number.
   */
  readonly maxAttempts: number;
  /**
   * The effects that run and compensate in one batch with that effect, itself included, in any
   * phase. All effects of a batch return the same list, so the list is inspected once. Default:
   * each effect runs alone.
   */
  readonly batchOf?: (n: number) => readonly number[];
}

export function nextStep(state: TransactionState, knowing: LocalKnowledge): Step {
  switch (state.phase) {
    case 'open': {
      const n = state.effects.findIndex(({ phase }) => phase === 'intended');
      if (n !== -1) return finish(state.effects[n]!, n, knowing, 'call');
      const step = undone(state.effects, knowing, isDiscarded);
      if (step !== undefined) return step;
      if (knowing.hasBody) return { do: 'wait', for: 'body' };
      return { do: 'log', record: { is: 'aborting' } };
    }
    case 'committed':
      return forward(state, knowing);
    case 'failing':
      return failing(state, knowing);
    case 'aborting':
      return backward(state, knowing);
    default:
      return { do: 'nothing' };
  }
}

/**
 * Compensates discarded effects, then applies due effects: reversible ones first, irreversible ones
 * last.
 */
function forward(state: TransactionState, knowing: LocalKnowledge): Step {
  const { effects } = state;
  const step = undone(effects, knowing, isDiscarded);
  if (step !== undefined) return step;
  const n = firstDue(effects, knowing);
  if (n === undefined) return ended(effects, 'settled');
  const failed = exhaustedIn(effects, n, 'due', knowing);
  const { phase } = effects[n]!;
  if (phase === 'applying' && failed === undefined) return finish(effects[n]!, n, knowing, 'call');
  // The pivot runs last, so unresolved effects are decided first.
  if (isPivot(effects[n]!.class) && effects.some((effect) => isUnresolved(effect.phase)))
    return { do: 'wait', for: 'needs_human' };
  if (failed === undefined) return { do: 'log', record: { is: 'applying', n } };
  if (state.hasOnFailure !== true) return { do: 'log', record: { is: 'unresolved', n: failed } };
  // If an operator decided on this effect earlier, other effects may have been called.
  const called = effects.flatMap(({ phase: is }, at) => (is === 'applying' ? [at] : []));
  const apart = called.filter((at) => !batchWith(failed, knowing).includes(at));
  const isHeldBack = blockedIn(effects, knowing);
  const open = apart.find((at) => !isHeldBack(at));
  if (open !== undefined) return finish(effects[open]!, open, knowing, 'call');
  // The outcome of calls made together with an unresolved effect is unknown.
  if (apart.length > 0) return { do: 'wait', for: 'needs_human' };
  const isTooLate = called.length > 0 || state.isFreed === true || effects.some(isBeyondPivot);
  return { do: 'log', record: { is: isTooLate ? 'unresolved' : 'failing', n: failed } };
}

/** The batch of an effect, itself included. */
function batchWith(n: number, { batchOf }: LocalKnowledge): readonly number[] {
  return batchOf === undefined ? [n] : batchOf(n);
}

/** An effect of the batch that is not retried. None of the batch is then called. */
function exhaustedIn(
  effects: readonly EffectState[],
  n: number,
  phase: 'due' | 'executed',
  knowing: LocalKnowledge,
): number | undefined {
  return batchWith(n, knowing).find(
    (each) => effects[each]!.phase === phase && isExhausted(effects[each]!, knowing),
  );
}

/**
 * A batch runs completely or not at all. If one effect needs a human decision, the others wait for
 * that decision. Each batch is inspected once.
 */
function blockedIn(
  effects: readonly EffectState[],
  { batchOf }: Pick<LocalKnowledge, 'batchOf'>,
): (n: number) => boolean {
  if (batchOf === undefined) return NEVER;
  const known = new Map<readonly number[], boolean>();
  const isAnyLeft = (ns: readonly number[]): boolean =>
    ns.some((each) => isUnresolved(effects[each]!.phase));
  return (n) => {
    const all = batchOf(n);
    if (all.length === 1) return isAnyLeft(all);
    let isHeldBack = known.get(all);
    if (isHeldBack === undefined) {
      isHeldBack = isAnyLeft(all);
      known.set(all, isHeldBack);
    }
    return isHeldBack;
  };
}

const NEVER = (): boolean => false;

function isExhausted({ failures, isFinal }: EffectState, { maxAttempts }: LocalKnowledge): boolean {
  return isFinal === true || failures >= maxAttempts;
}

/**
 * Whether an effect is irreversible and may have happened. The transaction can then only complete.
 */
function isBeyondPivot({ class: { reversibility }, phase }: EffectState): boolean {
  return reversibility === 'irreversible' && MAY_HAVE_HAPPENED.has(phase);
}

/** Phases of effects called after the commit. */
const MAY_HAVE_HAPPENED: ReadonlySet<EffectPhase> = new Set(['applied', 'in_doubt', 'accepted']);

/**
 * A batch takes the position of its least reversible effect. All effects that are easier to
 * compensate run before it.
 */
function firstDue(effects: readonly EffectState[], knowing: LocalKnowledge): number | undefined {
  let first: number | undefined;
  const { batchOf } = knowing;
  const isHeldBack = blockedIn(effects, knowing);
  const seen = batchOf && new Set<readonly number[]>();
  for (const [n, effect] of effects.entries()) {
    if (!isDue(effect) || isHeldBack(n)) continue;
    const all = batchOf?.(n);
    if (all !== undefined && seen?.has(all)) continue;
    if (all !== undefined && all.length > 1) seen?.add(all);
    const last = all === undefined ? n : lastOf(effects, all);
    if (first === undefined || isBefore(effects, last, first)) first = last;
  }
  return first;
}

function isBefore(effects: readonly EffectState[], one: number, other: number): boolean {
  const [left, right] = [rank(effects[one]!), rank(effects[other]!)];
  return left === right ? one < other : left < right;
}

function lastOf(effects: readonly EffectState[], ns: readonly number[]): number {
  const due = ns.filter((n) => isDue(effects[n]!));
  return due.reduce((last, n) => (isBefore(effects, last, n) ? n : last));
}

function isDue({ phase }: EffectState): boolean {
  return phase === 'due' || phase === 'applying';
}

function rank({ class: kind }: EffectState): number {
  if (kind.reversibility !== 'irreversible') return kind.reversibility === 'reversible' ? 0 : 1;
  // The pivot comes after all effects that may still fail.
  return isPivot(kind) ? 3 : 2;
}

/** Compensates all effects, last first, and waits for the answers. */
function failing({ effects, failing }: TransactionState, knowing: LocalKnowledge): Step {
  const step = undone(effects, knowing, () => true);
  if (step !== undefined) return step;
  const end = ended(effects, 'settled');
  return end.do === 'wait' || failing?.isWaived === true ? end : { do: 'propose' };
}

function backward({ effects }: TransactionState, knowing: LocalKnowledge): Step {
  return undone(effects, knowing, () => true) ?? ended(effects, 'aborted');
}

/**
 * The next step for effects that happened and must not stay, last first. Undefined if there is
 * none.
 */
function undone(
  effects: readonly EffectState[],
  knowing: LocalKnowledge,
  isUnwanted: (effect: EffectState) => boolean,
): Step | undefined {
  const isHeldBack = blockedIn(effects, knowing);
  for (let n = effects.length - 1; n >= 0; n--) {
    const effect = effects[n]!;
    const { phase } = effect;
    if (!isUnwanted(effect) || isHeldBack(n)) continue;
    if (phase === 'executed') {
      const failed = exhaustedIn(effects, n, 'executed', knowing);
      return {
        do: 'log',
        record: failed === undefined ? { is: 'undoing', n } : { is: 'unresolved', n: failed },
      };
    }
    if (phase === 'intended') return finish(effect, n, knowing, 'call');
    if (phase === 'undoing') return finish(effect, n, knowing, 'undo');
  }
  return undefined;
}

function isDiscarded(effect: EffectState): boolean {
  return effect.isDiscarded === true;
}

/** The next step for a call that started and has no recorded end. */
function finish(
  { class: { sink } }: EffectState,
  n: number,
  knowing: LocalKnowledge,
  how: 'call' | 'undo',
): Step {
  if (knowing.isInFlight(n)) return { do: 'wait', for: 'answer' };
  if (sink === 'keyed') return { do: how, n };
  if (sink === 'queryable') return { do: 'ask', n };
  return { do: 'log', record: { is: 'in_doubt', n } };
}

function ended(effects: readonly EffectState[], is: 'settled' | 'aborted'): Step {
  if (effects.some(({ phase }) => isUnresolved(phase))) return { do: 'wait', for: 'needs_human' };
  return { do: 'log', record: { is } };
}

/**
 * Indexes of effects that may still be called, compensated or queried. If the transaction needs a
 * human decision, the effects that wait with it are included.
 */
export function unfinished(state: TransactionState): number[] {
  return state.effects.flatMap(({ phase }, n) =>
    FINISHED.has(phase) && !(phase === 'applied' && mayFail(state)) ? [] : [n],
  );
}

const FINISHED: ReadonlySet<EffectPhase> = new Set(['applied', 'undone', 'dropped', 'accepted']);

/** Whether the effect needs a human decision. */
export function isUnresolved(phase: EffectPhase): boolean {
  return phase === 'in_doubt' || phase === 'unresolved';
}
