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
 * What became of effects, in the words of the ledger (decisions §1.3, §5): a commit says that they were settled, or what a
 * person decided about one that waited; a pending that one waits; a rejection that an attempt had acted and was undone. All
 * of it is said by the runtime, of what its effect log has: no writ is asked, no state changes, and nothing freezes it.
 */
export const SETTLE_ACTION = 'assize.settle';

/** Who decides on effects that wait: no counselor of a domain, but whoever looks after the sinks. */
export const OPERATOR = 'operator';

/** How an effect ended that a commit had named. `accepted`: a person lets it be, however it is. */
export type SettledAs = 'applied' | 'undone' | 'accepted';

/** What a person decides about an effect that waits. */
export type DecidedAs = 'applied' | 'undone' | 'retry' | 'residue';

/** What became of the effects of one commit, or of some of them. */
export interface SettledCommit {
  readonly commit: Hash;
  readonly effects: readonly SettledEffect[];
}

export interface SettledEffect {
  readonly id: Hash;
  readonly outcome: SettledAs;
  /** Who decided so, where that is not said by an entry of its own. */
  readonly by?: string;
  /** What undoing it has cost. */
  readonly cost?: Amounts;
  /** It never happened: its call did nothing, or was not made any more since another one had failed. Of what is `undone`. */
  readonly absent?: true;
  /** What it answered is observed: of what could be neither undone nor held, and was called after all else (decisions §5.9). */
  readonly answered?: true;
}

/**
 * The arguments of a settlement. With `decided` it resolves the pending of that effect, and settles it unless it is tried again,
 * or no commit has named it, or it is there and may be undone yet. What a person found, and what an effect answered, is an observation, by
 * the effect's id.
 */
export interface SettlementArgs {
  readonly settled: readonly SettledCommit[];
  /** Effects of branches that were not chosen, which no commit has named: what undoing them has cost. */
  readonly discarded?: readonly { readonly id: Hash; readonly cost: Amounts }[];
  readonly decided?: { readonly id: Hash; readonly as: DecidedAs; readonly by: string };
}

export type SettlementPayload = CommitPayload & { readonly action: { readonly args: SettlementArgs } };

/** The arguments of a pending about an effect: where the effect log has it, and the commit that named it, if one has. */
export interface WaitingEffect {
  readonly epoch: number;
  readonly n: number;
  readonly tool: string;
  readonly commit?: Hash;
}

export type EffectPendingPayload = PendingPayload & {
  readonly reason: 'in_doubt' | 'unresolved';
  readonly proposal: { readonly action: { readonly args: WaitingEffect } };
};

/** The arguments of a rejection that lists what an attempt did before it was undone. */
export interface AbandonedArgs {
  readonly epoch: number;
  /** Why, as a code. */
  readonly cause: string;
  readonly effects: readonly AbandonedEffect[];
}

export interface AbandonedEffect {
  readonly id: Hash;
  readonly outcome: 'undone' | 'accepted';
  readonly tool: string;
  /** What undoing it has cost. */
  readonly cost?: Amounts;
}

/** What undoing effects has cost, by effect: it counts against the writ and all above, as far as their budgets go. */
export interface UndoingCosts {
  readonly writId: Hash;
  readonly costs: readonly Amounts[];
}

/** Of a payload that a chain has accepted, the arguments are of their form. */
export function isSettlement(payload: Payload): payload is SettlementPayload {
  return payload.kind === 'commit' && payload.action.name === SETTLE_ACTION;
}

export function isEffectPending(payload: Payload): payload is EffectPendingPayload {
  if (payload.kind !== 'pending_approval') return false;
  const { reason, proposal } = payload;
  return reason === 'in_doubt' || reason === 'unresolved' || proposal.action.name === SETTLE_ACTION;
}

/** An agent that proposes it by this name is refused for another reason. */
export function isAbandonment(payload: Payload): boolean {
  return payload.kind === 'rejection' && payload.intent.action === SETTLE_ACTION && payload.reason === 'effect_failed';
}

/** Whether an entry tells of effects, so that no domain and no policy has to do with it. */
export function isOfEffects(payload: Payload): boolean {
  return isSettlement(payload) || isEffectPending(payload) || isAbandonment(payload);
}

/** What an entry says that undoing has cost, also one that no chain has accepted; undefined where it says nothing of that. */
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

/** What a rejection lists that an attempt did, also one that no chain has accepted; undefined where it is none of these. */
export function abandonedArgs(payload: Payload): AbandonedArgs | undefined {
  const args: unknown = payload.kind === 'rejection' && isAbandonment(payload) ? payload.intent.args : undefined;
  return isAbandonedArgs(args) ? args : undefined;
}

/** What a decision settles an effect as; undefined where it is tried again. */
export function outcomeOf(as: DecidedAs): SettledAs | undefined {
  return OUTCOMES[as];
}

const OUTCOMES: Readonly<Record<DecidedAs, SettledAs | undefined>> = {
  applied: 'applied',
  undone: 'undone',
  residue: 'accepted',
  retry: undefined,
};

/** The effect that a pending is about. */
export function waitingEffectOf({ proposal }: EffectPendingPayload): WaitingEffect & { readonly id: Hash } {
  const args: WaitingEffect = proposal.action.args;
  return { ...args, id: (proposal.delta.effects[0] as Delta['effects'][number]).id };
}

/** What a payload settles, also of one that no chain has accepted; undefined where it does not say so. */
export function settlementArgs(payload: Payload): SettlementArgs | undefined {
  const args: unknown = isSettlement(payload) ? payload.action.args : undefined;
  return isSettlementArgs(args) ? args : undefined;
}

/** The effect that a payload says waits, also of one that no chain has accepted; undefined where it says that of none. */
export function effectWaitingIn(payload: Payload): (WaitingEffect & { readonly id: Hash }) | undefined {
  if (!isEffectPending(payload)) return undefined;
  return effectPendingFault(payload) === undefined ? waitingEffectOf(payload) : undefined;
}

/** What is wrong with a commit of `assize.settle` by itself; undefined when nothing is. */
export function settlementFault(payload: CommitPayload): string | undefined {
  const { action, delta, observations, budget_cost, resolves } = payload;
  const { args } = action;
  if (!isSettlementArgs(args) || !isBuiltIn(action.role)) return 'its arguments are none of a settlement';
  const said = [payload.key_hash, payload.policy, payload.counselor, payload.detection_vector];
  if (!isEmptyDelta(delta) || Object.keys(budget_cost).length > 0 || said.some((member) => member !== undefined))
    return 'a settlement changes nothing, costs nothing, and is decided by no counselor';
  const { settled, discarded, decided } = args;
  if ((decided === undefined) !== (resolves === undefined))
    return 'a settlement resolves what a person decided, and nothing else';
  if (decided !== undefined && discarded !== undefined) return 'a decision is about one effect';
  const found = settled.flatMap(({ effects }) => effects);
  const of = decided === undefined ? found.filter(isObserved) : [decided];
  if (!isFoundBy(observations, of))
    return 'what it observed is not what was found of what people decided, and what effects answered';
  if (decided === undefined) return settled.length === 0 && discarded === undefined ? 'it settles nothing' : undefined;
  const [only] = found;
  if (only === undefined && settled.length === 0) return undefined;
  const isAlone = found.length === 1 && only?.id === decided.id && !isObserved(only) && only.absent === undefined;
  return isAlone && only.outcome === outcomeOf(decided.as) ? undefined : 'it does not settle what was decided, so';
}

/** What is wrong with a pending about an effect by itself; undefined when nothing is. */
export function effectPendingFault(payload: PendingPayload): string | undefined {
  const { proposal, reason, channel, freezes } = payload;
  const { action, delta, approval, observations, budget_cost, key_hash } = proposal;
  const isSo = (reason === 'in_doubt' || reason === 'unresolved') && action.name === SETTLE_ACTION;
  if (!isSo || !isBuiltIn(action.role) || !isWaitingEffect(action.args)) return 'it names no effect that waits';
  const [effect] = delta.effects;
  if (delta.effects.length !== 1 || !isSalted(effect?.effect)) return 'it is not about one effect, by salted hash';
  if (!isEmptyDelta({ ...delta, effects: [] }) || !isEmpty(approval) || observations.length > 0)
    return 'an effect that waits changes nothing';
  const { approvals, approved_by, policy, invariant_id, expires, resolves } = payload;
  const said = [key_hash, approvals, approved_by, policy, invariant_id, expires, resolves];
  if (said.some((member) => member !== undefined) || Object.keys(budget_cost).length > 0)
    return 'an effect waits for one decision, whenever that comes, and costs nothing';
  if (channel !== OPERATOR || !isEmpty(freezes)) return 'an effect waits for an operator, and freezes nothing';
  return undefined;
}

/** What is wrong with a rejection that lists what an attempt did by itself; undefined when nothing is. */
export function abandonmentFault(payload: RejectionPayload): string | undefined {
  const { intent, detail } = payload;
  const { args } = intent;
  if (!isAbandonedArgs(args) || !isBuiltIn(intent.role)) return 'its arguments do not say what an attempt did';
  if (detail !== args.cause) return 'its detail is not the cause';
  if (!isFoundBy(intent.observations, args.effects)) return 'what it observed is not what the attempt did';
  const { proposal_id, writ_id, key_hash, policy, invariant_id, resolves, counselor } = payload;
  if (writ_id === undefined && args.effects.some(({ cost }) => cost !== undefined))
    return 'undoing it has cost something, and nobody knows under which writ';
  const said = [proposal_id, key_hash, policy, invariant_id, resolves, counselor];
  return said.some((member) => member !== undefined) ? 'nobody proposed, decided or resolved it' : undefined;
}

function isSettlementArgs(args: unknown): args is SettlementArgs {
  if (isBlobRef(args) || !hasMembers(args, ['settled'], ['decided', 'discarded'])) return false;
  const { settled, decided, discarded } = args as unknown as SettlementArgs;
  if (!isListOf(settled, isSettledCommit)) return false;
  if (discarded !== undefined && !(isListOf(discarded, isDiscardedEffect) && discarded.length > 0)) return false;
  if (decided === undefined) return true;
  if (!hasMembers(decided, ['id', 'as', 'by'])) return false;
  return isHash(decided.id) && Object.hasOwn(OUTCOMES, decided.as) && typeof decided.by === 'string';
}

/** Of these there are many in one entry. */
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
  // What was not there has cost nothing to undo, and nobody had to decide about it.
  if (absent !== undefined)
    return absent === true && outcome === 'undone' && by === undefined && cost === undefined && answered === undefined;
  // What a person says of it is no answer of its own.
  if (answered !== undefined) return answered === true && outcome === 'applied' && by === undefined;
  return by === undefined || typeof by === 'string';
}

/** Whether something of it is observed: what was found by who decided, or what it answered. */
function isObserved({ by, answered }: SettledEffect): boolean {
  return by !== undefined || answered === true;
}

function isDiscardedEffect(item: unknown): boolean {
  if (!hasMembers(item, ['id', 'cost'])) return false;
  const { id, cost } = item as unknown as NonNullable<SettlementArgs['discarded']>[number];
  return isHash(id) && isAmounts(cost);
}

/** Only what its tool has undone has cost something. */
function isCostOf(outcome: SettledAs, cost: unknown): boolean {
  return cost === undefined || (outcome === 'undone' && isAmounts(cost));
}

function isAmounts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isCount);
}

const SETTLED: ReadonlySet<unknown> = new Set<SettledAs>(['applied', 'undone', 'accepted']);

function isWaitingEffect(args: unknown): args is WaitingEffect {
  if (isBlobRef(args) || !hasMembers(args, ['epoch', 'n', 'tool'], ['commit'])) return false;
  const { epoch, n, tool, commit } = args as unknown as WaitingEffect;
  return isCount(epoch) && isCount(n) && typeof tool === 'string' && (commit === undefined || isHash(commit));
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
  const isSound = isHash(id) && (outcome === 'undone' || outcome === 'accepted') && typeof tool === 'string';
  return isSound && isCostOf(outcome, cost);
}

/** A word and no sentence: nobody's text gets into the ledger as a cause. */
export function isCauseCode(cause: unknown): cause is string {
  return typeof cause === 'string' && /^[a-z][a-z_]{0,63}$/.test(cause);
}

/** Whether these were observed and nothing else, each by salted hash under the id of its effect, in that order. */
function isFoundBy(observations: readonly Observation[], of: readonly { readonly id: Hash }[]): boolean {
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

function hasMembers(value: unknown, required: readonly string[], optional: readonly string[] = NO_MEMBERS): boolean {
  if (!isObject(value)) return false;
  let missing = required.length;
  for (const name of Object.keys(value)) {
    if (required.includes(name)) missing--;
    else if (!optional.includes(name)) return false;
  }
  return missing === 0;
}
