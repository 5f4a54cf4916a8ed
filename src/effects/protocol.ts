/**
 * What has to be done next about a transaction, as a function of what the effect log has of it (decisions §5, the two tables).
 * It is the same function whether the transaction runs, or a crash has left it: whoever finds the log goes on from there.
 * All that a crash takes is what it was that a call has answered, and the body that would have made more calls.
 */

export type Reversibility = 'reversible' | 'with_cost' | 'irreversible';

/** `buffered`: can be held until the commit. `externalised`: acts at once, wherever it is called. */
export type Delivery = 'buffered' | 'externalised';

/**
 * What a sink can say of a call whose answer was lost. `keyed`: nothing, but a call that is sent again under the same key
 * happens once. `queryable`: whether it has happened. `blind`: neither.
 */
export type Sink = 'keyed' | 'queryable' | 'blind';

export interface EffectClass {
  readonly reversibility: Reversibility;
  readonly delivery: Delivery;
  readonly sink: Sink;
}

/** What can be neither undone nor held: a transaction's single pivot, which a person authorises before it is called (decisions §5.9). */
export function isPivot({ reversibility, delivery }: EffectClass): boolean {
  return reversibility === 'irreversible' && delivery === 'externalised';
}

/**
 * `intended`: is called before the commit. `executed`: has happened, and is undone if it comes to that. `due`: is to be called
 * after the commit. `applying`, `undoing`: is called. `applied`, `undone`, `dropped`: for good. `in_doubt`: nobody can tell.
 * `unresolved`: it has failed often enough. These two wait for a person. `accepted`: a person lets it be, however it is.
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
 * What a person decides about an effect that waits for them (decisions §5, last sentence). `applied`: it is there, as they found or
 * made it. `undone`: it is not there. `retry`: it is to be tried again. `residue`: it stays as it is, whatever that is.
 */
export type Decision = 'applied' | 'undone' | 'retry' | 'residue';

export interface EffectState {
  readonly class: EffectClass;
  readonly phase: EffectPhase;
  /** How often it is known to have failed, forward or back. */
  readonly failures: number;
  /** The sink refused it for good: it is not tried another time. */
  readonly isFinal?: true;
  /** It belongs to a branch that was not chosen: it is undone, whatever becomes of the transaction. */
  readonly isDiscarded?: true;
  /** Its tool has undone it, as far as anybody can tell: what that costs was spent. */
  readonly isCompensated?: true;
  /** Of one in doubt: what it was of which there is no answer. */
  readonly doubt?: 'call' | 'undo';
  /** It is not this effect itself that waits for a person, but what was to be committed because it has failed: that was refused. */
  readonly isRefused?: true;
  /** Of one that is unresolved in a transaction that has failed: it did nothing, and there is nothing to undo. */
  readonly isAbsent?: true;
}

/** `failing`: it was committed, and is undone, because an effect of it has failed for good. */
export type TransactionPhase = 'open' | 'committed' | 'failing' | 'aborting' | 'settled' | 'aborted';

/** How it came that a transaction that was committed is undone. */
export interface Failing {
  /** The effect that has failed for good. */
  readonly n: number;
  /** How often what its action does then was refused. */
  readonly refusals: number;
  /** A person has said that nothing is to be committed for it any more. */
  readonly isWaived?: true;
}

export interface TransactionState {
  readonly phase: TransactionPhase;
  /** In the order of the calls. Those that are only planned are in memory alone until the commit. */
  readonly effects: readonly EffectState[];
  /** Its action says what is to be committed where an effect fails for good. */
  readonly hasOnFailure?: true;
  /** Of one that was committed, and has failed; also when it has settled. */
  readonly failing?: Failing;
}

/** What the effect log says of a transaction, after `begin`. `n` is an effect's place in the order of calls. */
export type EffectRecord =
  | { readonly is: 'intended'; readonly class: EffectClass }
  /** With the entry in the ledger, in one transaction of the store. What was buffered is due from then on. */
  | { readonly is: 'committed'; readonly planned: readonly EffectClass[]; readonly hasOnFailure?: true }
  | { readonly is: 'aborting' }
  /** An effect has failed for good, and nothing that can't be undone was done: what is due is dropped, what was done is undone. */
  | { readonly is: 'failing'; readonly n: number }
  /** All is undone, and what was to be committed then was refused. */
  | { readonly is: 'refused'; readonly n: number }
  /** The call has happened, or its compensation has. */
  | { readonly is: 'executed' | 'applied' | 'undone'; readonly n: number }
  /** Before each call. Whoever writes this, or `intended`, makes the call then. */
  | { readonly is: 'applying' | 'undoing'; readonly n: number }
  /** The sink refused the call, and it did nothing. `final`: it will not do it another time either. */
  | { readonly is: 'failed'; readonly n: number; readonly final?: true }
  /** The sink says that it never had it. */
  | { readonly is: 'absent'; readonly n: number }
  | { readonly is: 'in_doubt' | 'unresolved'; readonly n: number }
  /** Its branch was not chosen. */
  | { readonly is: 'discarded'; readonly n: number }
  /** A person has decided. */
  | { readonly is: 'resolved'; readonly n: number; readonly as: Decision }
  | { readonly is: 'settled' | 'aborted' };

/** Calls that may fail before an effect is given up, by default and at most. */
export const TRIES = 3;
export const TRIES_MAX = 100;

export const BEGUN: TransactionState = { phase: 'open', effects: [] };

/** What a record makes of a transaction. */
export function recorded(state: TransactionState, record: EffectRecord): TransactionState {
  switch (record.is) {
    case 'intended':
      return { ...state, effects: [...state.effects, { class: record.class, phase: 'intended', failures: 0 }] };
    case 'committed': {
      const planned = record.planned.map((each): EffectState => ({ class: each, phase: 'due', failures: 0 }));
      const done = state.effects.map(
        (effect): EffectState =>
          effect.phase === 'executed' && effect.isDiscarded !== true ? { ...effect, phase: 'applied' } : effect,
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
      const left = changed(state, record.n, (effect) => ({ ...effect, phase: 'unresolved', isRefused: true }));
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
      return changed(state, record.n, ({ isFinal: _, ...effect }) => ({ ...effect, phase: 'executed', failures: 0 }));
    case 'in_doubt':
      return changed(state, record.n, (effect) => ({
        ...effect,
        phase: 'in_doubt',
        // Before what is harmless to repeat is undone, nothing is said of it.
        doubt: effect.phase === 'undoing' || effect.phase === 'executed' ? 'undo' : 'call',
      }));
    case 'discarded':
      return changed(state, record.n, (effect) => ({ ...effect, isDiscarded: true }));
    case 'undone':
      return changed(state, record.n, (effect) => ({ ...effect, phase: 'undone', isCompensated: true }));
    case 'resolved': {
      const decidedOn = state.effects[record.n]!;
      const to = changed(state, record.n, ({ doubt, isFinal: _, isRefused: __, isAbsent: ___, ...effect }) => ({
        ...effect,
        phase: decided(state.phase, decidedOn, record.as),
        failures: 0,
        // What was to undo it was called, and it is not there.
        ...(record.as === 'undone' && doubt === 'undo' ? { isCompensated: true } : {}),
      }));
      const isWaived = decidedOn.isRefused === true && (record.as === 'undone' || record.as === 'residue');
      return isWaived ? { ...to, failing: { ...state.failing!, isWaived } } : to;
    }
    default: {
      const { is, n } = record;
      return changed(state, n, (effect) => ({ ...effect, phase: is }));
    }
  }
}

/** What becomes of an effect where its transaction has failed. */
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

/** Where a call that did nothing leads back to. What was to happen before the commit is not tried again: the body is told. */
const BEFORE: Partial<Record<EffectPhase, EffectPhase>> = { intended: 'dropped', applying: 'due', undoing: 'executed' };

/** What is there and should not be is undone; what is tried again goes back to where it was, so that a sink that can tell is asked. */
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
      if (effect.phase === 'unresolved' || effect.class.sink === 'blind') return isCommitted ? 'due' : 'executed';
      if (isCommitted) return 'applying';
      return effect.doubt === 'undo' ? 'undoing' : 'intended';
  }
}

function isWanted(transaction: TransactionPhase, effect: EffectState): boolean {
  return transaction === 'committed' && !isDiscarded(effect);
}

/**
 * Whether an effect that waits for a person may be tried again. `confirmed`: it may have happened, and would then happen twice.
 * `never`: it is to be undone, and nobody knows whether there is anything to undo.
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

/** Whether undoing an effect was called for, and done, or may yet have to be: what that costs is spent, or kept for it. */
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
      return isLeft(effect.phase) && (mayFail(state) || !isWanted(transaction, effect));
  }
}

/** What was applied is undone yet, should another one fail. */
function mayFail({ phase, hasOnFailure }: TransactionState): boolean {
  return phase === 'committed' && hasOnFailure === true;
}

function changed(state: TransactionState, n: number, change: (effect: EffectState) => EffectState): TransactionState {
  return { ...state, effects: state.effects.map((effect, at) => (at === n ? change(effect) : effect)) };
}

/** What is next. */
export type Step =
  /** To be written before anything else is done about the transaction. */
  | { readonly do: 'log'; readonly record: EffectRecord }
  /** To be called again, under the key that it had. */
  | { readonly do: 'call' | 'undo'; readonly n: number }
  /** The sink is to be asked whether it, or its compensation, has happened. */
  | { readonly do: 'ask'; readonly n: number }
  /** All is undone: what the action says for that case is to be proposed, once, and settles it. */
  | { readonly do: 'propose' }
  | { readonly do: 'wait'; readonly for: 'body' | 'answer' | 'person' }
  | { readonly do: 'nothing' };

/** What this process knows beside the log. */
export interface Knowing {
  /** Whether there is a body that goes on. */
  readonly hasBody: boolean;
  /** A call of this process, which is made or was answered: its outcome is not lost yet. */
  readonly isUnderWay: (n: number) => boolean;
  /** Calls of one effect that may fail before it is left to a person. That it was is in the log: others may know another number. */
  readonly tries: number;
  /**
   * The effects that are done and undone in one step with that one, itself among them, whatever has become of them: the same list for each of
   * them, so that it is looked at once. Without it, each is called by itself.
   */
  readonly together?: (n: number) => readonly number[];
}

export function nextStep(state: TransactionState, knowing: Knowing): Step {
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

/** Undoes what was discarded, then applies what is due: what can be undone first, and what can't be last. */
function forward(state: TransactionState, knowing: Knowing): Step {
  const { effects } = state;
  const step = undone(effects, knowing, isDiscarded);
  if (step !== undefined) return step;
  const n = firstDue(effects, knowing);
  if (n === undefined) return ended(effects, 'settled');
  const failed = givenUp(effects, n, 'due', knowing);
  const { phase } = effects[n]!;
  if (phase === 'applying' && failed === undefined) return finish(effects[n]!, n, knowing, 'call');
  // Nothing comes after the pivot: what waits for a person is decided first.
  if (isPivot(effects[n]!.class) && effects.some((effect) => isLeft(effect.phase)))
    return { do: 'wait', for: 'person' };
  if (failed === undefined) return { do: 'log', record: { is: 'applying', n } };
  if (state.hasOnFailure !== true) return { do: 'log', record: { is: 'unresolved', n: failed } };
  // Where a person has passed this one over before, others may have been called.
  const called = effects.flatMap(({ phase: is }, at) => (is === 'applying' ? [at] : []));
  const apart = called.filter((at) => !withIt(failed, knowing).includes(at));
  const isHeldBack = heldBackIn(effects, knowing);
  const open = apart.find((at) => !isHeldBack(at));
  if (open !== undefined) return finish(effects[open]!, open, knowing, 'call');
  // Nobody knows of what was called with one that waits.
  if (apart.length > 0) return { do: 'wait', for: 'person' };
  const isTooLate = called.length > 0 || effects.some(isBeyondPivot);
  return { do: 'log', record: { is: isTooLate ? 'unresolved' : 'failing', n: failed } };
}

/** What is done in one step with an effect, itself among it. */
function withIt(n: number, { together }: Knowing): readonly number[] {
  return together === undefined ? [n] : together(n);
}

/** One that is not tried again, of those that are to be called with it: then none of them is. */
function givenUp(
  effects: readonly EffectState[],
  n: number,
  phase: 'due' | 'executed',
  knowing: Knowing,
): number | undefined {
  return withIt(n, knowing).find((each) => effects[each]!.phase === phase && isGivenUp(effects[each]!, knowing));
}

/**
 * All of it is done, or nothing: where one waits for a person, the others wait for what becomes of that. Of those that are one list, all are
 * looked at once.
 */
function heldBackIn(effects: readonly EffectState[], { together }: Pick<Knowing, 'together'>): (n: number) => boolean {
  if (together === undefined) return NEVER;
  const known = new Map<readonly number[], boolean>();
  const isAnyLeft = (ns: readonly number[]): boolean => ns.some((each) => isLeft(effects[each]!.phase));
  return (n) => {
    const all = together(n);
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

function isGivenUp({ failures, isFinal }: EffectState, { tries }: Knowing): boolean {
  return isFinal === true || failures >= tries;
}

/** Whether it can't be undone, and may have happened: from then on a transaction goes forward only. */
function isBeyondPivot({ class: { reversibility }, phase }: EffectState): boolean {
  return reversibility === 'irreversible' && MAY_HAVE_HAPPENED.has(phase);
}

/** Of what is called after the commit. */
const MAY_HAVE_HAPPENED: ReadonlySet<EffectPhase> = new Set(['applied', 'in_doubt', 'accepted']);

/** What is done in one step has the place of what would come last of it: whatever is easier to undo than any of it is called before. */
function firstDue(effects: readonly EffectState[], knowing: Knowing): number | undefined {
  let first: number | undefined;
  const { together } = knowing;
  const isHeldBack = heldBackIn(effects, knowing);
  const seen = together && new Set<readonly number[]>();
  for (const [n, effect] of effects.entries()) {
    if (!isDue(effect) || isHeldBack(n)) continue;
    const all = together?.(n);
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
  // The pivot comes after whatever might yet fail.
  return isPivot(kind) ? 3 : 2;
}

/** Undoes all, the last first, and has it answered. */
function failing({ effects, failing }: TransactionState, knowing: Knowing): Step {
  const step = undone(effects, knowing, () => true);
  if (step !== undefined) return step;
  const end = ended(effects, 'settled');
  return end.do === 'wait' || failing?.isWaived === true ? end : { do: 'propose' };
}

function backward({ effects }: TransactionState, knowing: Knowing): Step {
  return undone(effects, knowing, () => true) ?? ended(effects, 'aborted');
}

/** What is next about what has happened and is not to stay, the last first; undefined when nothing is. */
function undone(
  effects: readonly EffectState[],
  knowing: Knowing,
  isUnwanted: (effect: EffectState) => boolean,
): Step | undefined {
  const isHeldBack = heldBackIn(effects, knowing);
  for (let n = effects.length - 1; n >= 0; n--) {
    const effect = effects[n]!;
    const { phase } = effect;
    if (!isUnwanted(effect) || isHeldBack(n)) continue;
    if (phase === 'executed') {
      const failed = givenUp(effects, n, 'executed', knowing);
      return { do: 'log', record: failed === undefined ? { is: 'undoing', n } : { is: 'unresolved', n: failed } };
    }
    if (phase === 'intended') return finish(effect, n, knowing, 'call');
    if (phase === 'undoing') return finish(effect, n, knowing, 'undo');
  }
  return undefined;
}

function isDiscarded(effect: EffectState): boolean {
  return effect.isDiscarded === true;
}

/** A call that was begun, and of which the log has no end. */
function finish({ class: { sink } }: EffectState, n: number, knowing: Knowing, how: 'call' | 'undo'): Step {
  if (knowing.isUnderWay(n)) return { do: 'wait', for: 'answer' };
  if (sink === 'keyed') return { do: how, n };
  if (sink === 'queryable') return { do: 'ask', n };
  return { do: 'log', record: { is: 'in_doubt', n } };
}

function ended(effects: readonly EffectState[], is: 'settled' | 'aborted'): Step {
  if (effects.some(({ phase }) => isLeft(phase))) return { do: 'wait', for: 'person' };
  return { do: 'log', record: { is } };
}

/** Places of effects that may yet be called, undone or asked about; where a transaction waits for a person, those that wait with it. */
export function unfinished(state: TransactionState): number[] {
  return state.effects.flatMap(({ phase }, n) =>
    FINISHED.has(phase) && !(phase === 'applied' && mayFail(state)) ? [] : [n],
  );
}

const FINISHED: ReadonlySet<EffectPhase> = new Set(['applied', 'undone', 'dropped', 'accepted']);

/** A person decides. */
export function isLeft(phase: EffectPhase): boolean {
  return phase === 'in_doubt' || phase === 'unresolved';
}
