import type { BrokenRule } from '../rule-ids.ts';
import { isBlobRef } from './blob.ts';
import type {
  Amounts,
  CommitPayload,
  Delta,
  Observation,
  Payload,
  PendingPayload,
  RejectionPayload,
  RoleRef,
} from './entry.ts';
import type { Hash } from './hash.ts';
import { isHash } from './is-hash.ts';

/**
 * The ledger's record of effect outcomes (docs/decisions/016-effect-outcomes.md). A commit records
 * that effects were settled, or the operator's decision about an unresolved effect. A pending entry
 * records an unresolved effect. A rejection records that an aborted attempt executed effects and
 * compensated them.
 *
 * The runtime writes these entries from its effect log. They need no writ, change no state, and no
 * freeze blocks them.
 */
export const SETTLE_ACTION = 'assize.settle';

/**
 * The channel of unresolved effects. A counselor of that kind decides about them, or the holder of
 * a writ for `assize.resolve_effect`.
 */
export const OPERATOR = 'operator';

/**
 * The outcome of an effect that a commit named. `accepted`: the operator accepts the effect in its
 * present condition.
 */
export type SettledAs = 'applied' | 'undone' | 'accepted';

/** An operator's decision about an unresolved effect. */
export type DecidedAs = 'applied' | 'undone' | 'retry' | 'residue';

/** The outcomes of all or some effects of one commit. */
export interface SettledCommit {
  readonly commit: Hash;
  readonly effects: readonly SettledEffect[];
}

export interface SettledEffect {
  readonly id: Hash;
  readonly outcome: SettledAs;
  /** The deciding operator, if no separate entry records the decision. */
  readonly by?: string;
  /** The cost of the compensation. */
  readonly cost?: Amounts;
  /**
   * The effect never happened: the call did nothing, or was skipped after another effect failed.
   * Set only with `undone`.
   */
  readonly absent?: true;
  /**
   * The effect's answer is an observation. Set for effects that can be neither compensated nor
   * buffered and run last (docs/decisions/016-effect-outcomes.md#pivot).
   */
  readonly answered?: true;
}

/**
 * The arguments of a settlement. With `decided` the settlement resolves the pending entry of that
 * effect.
 *
 * The decision also settles the effect, with three exceptions: the effect is retried, no commit has
 * named it, or it was applied and may still be compensated. The operator's findings and the
 * effect's answer are observations under the effect's id.
 */
export interface SettlementArgs {
  readonly settled: readonly SettledCommit[];
  /**
   * Effects of discarded branches that no commit has named, with the cost of their compensation.
   */
  readonly discarded?: readonly { readonly id: Hash; readonly cost: Amounts }[];
  readonly decided?: {
    readonly id: Hash;
    readonly as: DecidedAs;
    readonly by: string;
    /** The other principals that made the token of the decision. */
    readonly token_by?: readonly string[];
  };
}

export type SettlementPayload = CommitPayload & {
  readonly action: { readonly args: SettlementArgs };
};

/**
 * The arguments of a pending entry about an effect: its position in the effect log, and the commit
 * that named it, if any.
 */
export interface PendingEffectArgs {
  readonly epoch: number;
  readonly n: number;
  readonly tool: string;
  readonly commit?: Hash;
}

export type EffectPendingPayload = PendingPayload & {
  readonly reason: 'in_doubt' | 'unresolved';
  readonly proposal: { readonly action: { readonly args: PendingEffectArgs } };
};

/**
 * The arguments of a rejection that lists the executed and compensated effects of an aborted
 * attempt.
 */
export interface AbandonedArgs {
  readonly epoch: number;
  /** The abort reason, as a code. */
  readonly cause: string;
  readonly effects: readonly AbandonedEffect[];
}

export interface AbandonedEffect {
  readonly id: Hash;
  readonly outcome: 'undone' | 'accepted';
  readonly tool: string;
  /** The cost of the compensation. */
  readonly cost?: Amounts;
}

/**
 * The compensation cost by effect. The cost counts against the writ and its ancestors, up to the
 * limits of their budgets.
 */
export interface UndoingCosts {
  readonly writId: Hash;
  readonly costs: readonly Amounts[];
}

/** In a payload that a chain has accepted, the arguments have the right form. */
export function isSettlement(payload: Payload): payload is SettlementPayload {
  return payload.kind === 'commit' && payload.action.name === SETTLE_ACTION;
}

export function isEffectPending(payload: Payload): payload is EffectPendingPayload {
  if (payload.kind !== 'pending_approval') return false;
  const { reason, proposal } = payload;
  return reason === 'in_doubt' || reason === 'unresolved' || proposal.action.name === SETTLE_ACTION;
}

/** A proposal of this action by an agent is rejected for another reason. */
export function isAbandonment(payload: Payload): boolean {
  return (
    payload.kind === 'rejection' &&
    payload.intent.action === SETTLE_ACTION &&
    payload.reason === 'effect_failed'
  );
}

/** Whether an entry records effects, so that neither a domain nor a policy is involved. */
export function isEffectEntry(payload: Payload): boolean {
  return isSettlement(payload) || isEffectPending(payload) || isAbandonment(payload);
}

/**
 * The compensation cost that an entry records. The entry may be unchecked. Returns undefined if
 * there is no cost.
 */
export function undoingCostsOf(payload: Payload): UndoingCosts | undefined {
  const costs = undoneBy(payload).flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  const writId = 'writ_id' in payload ? payload.writ_id : undefined;
  return costs.length === 0 || writId === undefined ? undefined : { writId, costs };
}

function undoneBy(payload: Payload): readonly { readonly cost?: Amounts }[] {
  const { settled = [], discarded = [] } = settlementArgs(payload) ?? {};
  const abandoned = abandonedArgs(payload)?.effects ?? [];
  return [...settled.flatMap(({ effects }) => effects), ...discarded, ...abandoned];
}

/**
 * The effects of an aborted attempt that a rejection lists. The rejection may be unchecked. Returns
 * undefined for any other payload.
 */
export function abandonedArgs(payload: Payload): AbandonedArgs | undefined {
  const args: unknown =
    payload.kind === 'rejection' && isAbandonment(payload) ? payload.intent.args : undefined;
  return isAbandonedArgs(args) ? args : undefined;
}

/** The settled outcome of a decision, or undefined if the effect is retried. */
export function outcomeOf(as: DecidedAs): SettledAs | undefined {
  return OUTCOMES[as];
}

const OUTCOMES: Readonly<Record<DecidedAs, SettledAs | undefined>> = {
  applied: 'applied',
  undone: 'undone',
  residue: 'accepted',
  retry: undefined,
};

/** The effect of a pending entry. */
export function pendingEffectOf({
  proposal,
}: EffectPendingPayload): PendingEffectArgs & { readonly id: Hash } {
  const args: PendingEffectArgs = proposal.action.args;
  return { ...args, id: (proposal.delta.effects[0] as Delta['effects'][number]).id };
}

/**
 * The effects that a payload settles. The payload may be unchecked. Returns undefined for any other
 * payload.
 */
export function settlementArgs(payload: Payload): SettlementArgs | undefined {
  const args: unknown = isSettlement(payload) ? payload.action.args : undefined;
  return isSettlementArgs(args) ? args : undefined;
}

/**
 * The unresolved effect that a payload names. The payload may be unchecked. Returns undefined for
 * any other payload.
 */
export function pendingEffectIn(
  payload: Payload,
): (PendingEffectArgs & { readonly id: Hash }) | undefined {
  if (!isEffectPending(payload)) return undefined;
  return effectPendingFault(payload) === undefined ? pendingEffectOf(payload) : undefined;
}

/** The rule of form that a commit of `assize.settle` breaks, or undefined. */
export function settlementFault(payload: CommitPayload): BrokenRule | undefined {
  const { action, delta, observations, budget_cost, resolves } = payload;
  const { args } = action;
  if (!isSettlementArgs(args) || !isBuiltIn(action.role))
    return { rule: 'settlement.args', detail: 'its arguments are not those of a settlement' };

  const { key_hash, policy, counselor, approved_by, detection_vector, amended } = payload;
  const said = [key_hash, policy, counselor, approved_by, detection_vector, amended];
  if (
    !isEmptyDelta(delta) ||
    Object.keys(budget_cost).length > 0 ||
    said.some((member) => member !== undefined)
  )
    return {
      rule: 'settlement.delta',
      detail: 'a settlement has no changes, no cost and no counselor',
    };

  const detail = settledFault(args, observations, resolves);
  if (detail === undefined) return undefined;
  return { rule: resolves === undefined ? 'settlement.direct' : 'settlement.decided', detail };
}

/** The violation between the effects of a settlement, its decision and its observations. */
function settledFault(
  { settled, discarded, decided }: SettlementArgs,
  observations: readonly Observation[],
  resolves: Hash | undefined,
): string | undefined {
  if ((decided === undefined) !== (resolves === undefined))
    return 'a settlement must resolve an entry if it has a decision, and only then';
  if (decided !== undefined && discarded !== undefined) return 'a decision concerns one effect';
  const found = settled.flatMap(({ effects }) => effects);
  const of = decided === undefined ? found.filter(isObserved) : [decided];
  if (!isFoundBy(observations, of))
    return 'its observations are not those of its decision and its effects';
  if (decided === undefined)
    return settled.length === 0 && discarded === undefined ? 'it settles no effect' : undefined;
  const [only] = found;
  if (only === undefined && settled.length === 0) return undefined;
  const isAlone =
    found.length === 1 && only?.id === decided.id && !isObserved(only) && only.absent === undefined;
  return isAlone && only.outcome === outcomeOf(decided.as)
    ? undefined
    : 'it does not settle the effect as decided';
}

/** The rule of form that a pending entry about an effect breaks, or undefined. */
export function effectPendingFault(payload: PendingPayload): BrokenRule | undefined {
  const { proposal, reason, channel, freezes } = payload;
  const { action, delta, approval, observations, budget_cost, key_hash } = proposal;
  const isSo = (reason === 'in_doubt' || reason === 'unresolved') && action.name === SETTLE_ACTION;
  if (!isSo || !isBuiltIn(action.role) || !isWaitingEffect(action.args))
    return { rule: 'effect.args', detail: 'it names no pending effect' };

  const [effect] = delta.effects;
  if (delta.effects.length !== 1 || !isSalted(effect?.effect))
    return { rule: 'effect.delta', detail: 'it must name one effect by salted hash' };
  const isUnchanged =
    isEmptyDelta({ ...delta, effects: [] }) && isEmpty(approval) && observations.length === 0;
  if (!isUnchanged || Object.keys(budget_cost).length > 0)
    return { rule: 'effect.delta', detail: 'a pending effect has no changes and no cost' };

  const { approvals, approved_by, deputies, policy, invariant_id, expires, resolves } = payload;
  const said = [key_hash, approvals, approved_by, deputies, policy, invariant_id, expires];
  if ([...said, resolves].some((member) => member !== undefined))
    return {
      rule: 'effect.channel',
      detail: 'a pending effect needs one decision, without expiry',
    };
  if (channel !== OPERATOR || !isEmpty(freezes))
    return {
      rule: 'effect.channel',
      detail: 'a pending effect needs an operator and freezes nothing',
    };
  return undefined;
}

/** The violation within a rejection that lists an attempt's effects, or undefined. */
export function abandonmentFault(payload: RejectionPayload): string | undefined {
  const { intent, detail } = payload;
  const { args } = intent;
  if (!isAbandonedArgs(args) || !isBuiltIn(intent.role))
    return 'its arguments are not those of an aborted attempt';
  if (detail !== args.cause) return 'its detail differs from the cause';
  if (!isFoundBy(intent.observations, args.effects))
    return 'its observations are not the effects of the attempt';
  const { proposal_id, writ_id, key_hash, policy, invariant_id, resolves, counselor } = payload;
  if (writ_id === undefined && args.effects.some(({ cost }) => cost !== undefined))
    return 'its compensation has a cost but no writ';
  const said = [proposal_id, key_hash, policy, invariant_id, resolves, counselor];
  return said.some((member) => member !== undefined)
    ? 'an aborted attempt has no proposal, policy or counselor'
    : undefined;
}

function isSettlementArgs(args: unknown): args is SettlementArgs {
  if (isBlobRef(args) || !hasMembers(args, ['settled'], ['decided', 'discarded'])) return false;
  const { settled, decided, discarded } = args as unknown as SettlementArgs;
  if (!isListOf(settled, isSettledCommit)) return false;
  if (discarded !== undefined && !(isListOf(discarded, isDiscardedEffect) && discarded.length > 0))
    return false;
  if (decided === undefined) return true;
  if (!hasMembers(decided, ['id', 'as', 'by'], ['token_by'])) return false;
  const { token_by = [] } = decided;
  if (!isListOf(token_by, (name) => typeof name === 'string')) return false;
  return (
    isHash(decided.id) && Object.hasOwn(OUTCOMES, decided.as) && typeof decided.by === 'string'
  );
}

/** One entry contains many of these objects. */
const COMMIT_MEMBERS = ['commit', 'effects'];
const EFFECT_MEMBERS = ['id', 'outcome'];
const EFFECT_MORE = ['absent', 'by', 'cost', 'answered'];

function isSettledCommit(item: unknown): boolean {
  if (!hasMembers(item, COMMIT_MEMBERS)) return false;
  const { commit, effects } = item as unknown as SettledCommit;
  return isHash(commit) && isListOf(effects, isSettledEffect) && effects.length > 0;
}

function isSettledEffect(item: unknown): boolean {
  if (!hasMembers(item, EFFECT_MEMBERS, EFFECT_MORE)) return false;
  const { id, outcome, absent, by, cost, answered } = item as unknown as SettledEffect;
  if (!isHash(id) || !SETTLED.has(outcome) || !isCostOf(outcome, cost)) return false;
  // An effect that never happened has no compensation cost and needs no decision.
  if (absent !== undefined)
    return (
      absent === true &&
      outcome === 'undone' &&
      by === undefined &&
      cost === undefined &&
      answered === undefined
    );
  // A decision of an operator is not an answer of the effect.
  if (answered !== undefined) return answered === true && outcome === 'applied' && by === undefined;
  return by === undefined || typeof by === 'string';
}

/** Whether the effect has an observation: the operator's finding, or the effect's answer. */
function isObserved({ by, answered }: SettledEffect): boolean {
  return by !== undefined || answered === true;
}

function isDiscardedEffect(item: unknown): boolean {
  if (!hasMembers(item, ['id', 'cost'])) return false;
  const { id, cost } = item as unknown as NonNullable<SettlementArgs['discarded']>[number];
  return isHash(id) && isAmounts(cost);
}

/** Only a compensated effect has a cost. */
function isCostOf(outcome: SettledAs, cost: unknown): boolean {
  return cost === undefined || (outcome === 'undone' && isAmounts(cost));
}

function isAmounts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isCount);
}

const SETTLED: ReadonlySet<unknown> = new Set<SettledAs>(['applied', 'undone', 'accepted']);

function isWaitingEffect(args: unknown): args is PendingEffectArgs {
  if (isBlobRef(args) || !hasMembers(args, ['epoch', 'n', 'tool'], ['commit'])) return false;
  const { epoch, n, tool, commit } = args as unknown as PendingEffectArgs;
  return (
    isCount(epoch) &&
    isCount(n) &&
    typeof tool === 'string' &&
    (commit === undefined || isHash(commit))
  );
}

function isAbandonedArgs(args: unknown): args is AbandonedArgs {
  if (isBlobRef(args) || !hasMembers(args, ['epoch', 'cause', 'effects'])) return false;
  const { epoch, cause, effects } = args as unknown as AbandonedArgs;
  const isSound = isListOf(effects, isAbandonedEffect) && effects.length > 0;
  return isCount(epoch) && isCauseCode(cause) && isSound;
}

function isAbandonedEffect(item: unknown): boolean {
  if (!hasMembers(item, ['id', 'outcome', 'tool'], ['cost'])) return false;
  const { id, outcome, tool, cost } = item as unknown as AbandonedEffect;
  const isSound =
    isHash(id) && (outcome === 'undone' || outcome === 'accepted') && typeof tool === 'string';
  return isSound && isCostOf(outcome, cost);
}

/** A code and not a sentence, so a cause never brings free text into the ledger. */
export function isCauseCode(cause: unknown): cause is string {
  return typeof cause === 'string' && /^[a-z][a-z_]{0,63}$/.test(cause);
}

/**
 * Whether the observations are exactly those of the given effects, in order, each by salted hash
 * under the effect's id.
 */
function isFoundBy(
  observations: readonly Observation[],
  of: readonly { readonly id: Hash }[],
): boolean {
  if (observations.length !== of.length) return false;
  return of.every(({ id }, i) => {
    const { name, value, ...more } = observations[i] as Observation;
    return name === id && isSalted(value) && Object.keys(more).length === 0;
  });
}

function isSalted(value: unknown): boolean {
  return isBlobRef(value) && value.salted === true;
}

function isBuiltIn({ name, params }: RoleRef): boolean {
  return name === 'assize' && Object.keys(params).length === 0;
}

function isEmptyDelta({ state, effects, beliefs }: Delta): boolean {
  return isEmpty(state) && isEmpty(effects) && isEmpty(beliefs);
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const NO_MEMBERS: readonly string[] = [];

function isListOf(list: unknown, check: (item: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(check);
}

function hasMembers(
  value: unknown,
  required: readonly string[],
  optional: readonly string[] = NO_MEMBERS,
): boolean {
  if (!isObject(value)) return false;
  let missing = required.length;
  for (const name of Object.keys(value)) {
    if (required.includes(name)) missing--;
    else if (!optional.includes(name)) return false;
  }
  return missing === 0;
}
