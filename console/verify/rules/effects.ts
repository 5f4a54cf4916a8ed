import { hasJust } from '../bundle/json-file.ts';
import {
  isCount,
  isHash,
  isObject,
  isReferenceLike,
  type Members,
} from '../entries/basic-forms.ts';
import type { Commit, Observation, Pending, Rejection } from '../entries/payloads.ts';
import { formOf } from '../entries/record-forms.ts';

const OUTCOMES = ['applied', 'undone', 'accepted'];
const DECISIONS = ['applied', 'undone', 'retry', 'residue'];
const FORBIDDEN = ['key_hash', 'policy', 'counselor', 'detection_vector', 'amended'];
const OF_PENDING = [
  ...['approvals', 'approved_by', 'deputies', 'policy', 'invariant_id', 'expires', 'resolves'],
];
const OF_ATTEMPT = ['proposal_id', 'key_hash', 'policy', 'invariant_id', 'resolves', 'counselor'];

/** An effect of a settlement. */
export interface Settled {
  readonly id: string;
  readonly outcome: string;
  readonly by?: string;
  readonly cost?: Members;
  readonly answered?: true;
  readonly absent?: true;
}

/** The arguments of a settlement (ledger reference, section 5.9). */
export interface SettlementArgs {
  readonly settled: readonly { readonly commit: string; readonly effects: readonly Settled[] }[];
  readonly discarded?: readonly { readonly id: string }[];
  readonly decided?: { readonly id: string; readonly as: string; readonly by: string };
}

export function isSettlement(commit: Commit): boolean {
  return commit.action.name === 'assize.settle';
}

/** Whether a pending is about an effect. */
export function isAboutEffect({ reason, proposal }: Pending): boolean {
  return (
    reason === 'in_doubt' || reason === 'unresolved' || proposal.action.name === 'assize.settle'
  );
}

/** The arguments of a settlement that has its form; undefined for another form. */
export function settlementOf(commit: Commit): SettlementArgs | undefined {
  const { action, delta, observations, budget_cost: cost, resolves } = commit;
  const isBare = [delta.state, delta.effects, delta.beliefs].every(isEmptyList) && isEmpty(cost);
  if (!isArgs(action.args) || !isBare || !isBuiltIn(action.role) || has(commit, FORBIDDEN))
    return undefined;
  const args = action.args as unknown as SettlementArgs;
  const isRight =
    resolves === undefined ? isDirect(args, observations) : isDecided(args, observations);
  return isRight ? args : undefined;
}

function isDirect(
  { settled, discarded, decided }: SettlementArgs,
  observations: readonly Observation[],
): boolean {
  const found = settled
    .flatMap(({ effects }) => effects)
    .filter(({ by, answered }) => by !== undefined || answered);
  return (
    decided === undefined &&
    (settled.length > 0 || discarded !== undefined) &&
    areOf(observations, found)
  );
}

function isDecided(
  { settled, discarded, decided }: SettlementArgs,
  observations: readonly Observation[],
): boolean {
  if (decided === undefined || discarded !== undefined || !areOf(observations, [decided]))
    return false;
  if (settled.length === 0) return true;
  const [effect, ...more] = settled.flatMap(({ effects }) => effects);
  if (effect === undefined || more.length > 0 || settled.length > 1 || effect.id !== decided.id)
    return false;
  const { by, answered, absent, outcome } = effect;
  const expected = { applied: 'applied', undone: 'undone', residue: 'accepted' }[decided.as];
  return by === undefined && !answered && !absent && outcome === expected;
}

function isArgs(args: unknown): args is Members {
  if (
    !isObject(args) ||
    isReferenceLike(args) ||
    !hasJust(args, ['settled'], ['discarded', 'decided'])
  )
    return false;
  const { settled, discarded, decided } = args;
  return (
    isListOf(settled, isSettledCommit) &&
    (discarded === undefined || isFullListOf(discarded, isDiscarded)) &&
    (decided === undefined || isDecision(decided))
  );
}

function isSettledCommit(value: unknown): boolean {
  if (!isObject(value) || !hasJust(value, ['commit', 'effects']) || !isHash(value['commit']))
    return false;
  const { effects } = value;
  return isFullListOf(effects, isSettled);
}

function isSettled(value: unknown): boolean {
  if (!isObject(value) || !hasJust(value, ['id', 'outcome'], ['by', 'cost', 'answered', 'absent']))
    return false;
  const { id, outcome, by, cost, answered, absent } = value;
  if (!isHash(id) || !OUTCOMES.includes(outcome as string)) return false;
  if (by !== undefined && typeof by !== 'string') return false;
  if (cost !== undefined && (outcome !== 'undone' || !isAmounts(cost))) return false;
  if (answered !== undefined && (answered !== true || outcome !== 'applied' || by !== undefined))
    return false;
  const isAlone = by === undefined && cost === undefined && answered === undefined;
  return absent === undefined || (absent === true && outcome === 'undone' && isAlone);
}

function isDiscarded(value: unknown): boolean {
  return (
    isObject(value) &&
    hasJust(value, ['id', 'cost']) &&
    isHash(value['id']) &&
    isAmounts(value['cost'])
  );
}

function isDecision(value: unknown): boolean {
  if (!isObject(value) || !hasJust(value, ['id', 'as', 'by'], ['token_by'])) return false;
  if (!isListOf(value['token_by'] ?? [], (name) => typeof name === 'string')) return false;
  return (
    isHash(value['id']) &&
    DECISIONS.includes(value['as'] as string) &&
    typeof value['by'] === 'string'
  );
}

/** The place of an effect, in the arguments of a pending about it. */
export interface EffectPlace {
  readonly epoch: number;
  readonly n: number;
  readonly tool: string;
  readonly commit?: string;
}

/** The effect that a pending is about, if it has the form; undefined for another form. */
export function effectPlaceOf(pending: Pending): EffectPlace | undefined {
  const { proposal, reason, channel, freezes } = pending;
  const { args, name, role } = proposal.action;
  const isBoth =
    (reason === 'in_doubt' || reason === 'unresolved') &&
    name === 'assize.settle' &&
    isBuiltIn(role);
  if (!isBoth || channel !== 'operator' || !isEmptyList(freezes)) return undefined;
  if (has(pending, OF_PENDING) || proposal.key_hash !== undefined) return undefined;
  const { delta, approval, observations, budget_cost: cost } = proposal;
  const isBare =
    [delta.state, delta.beliefs, approval, observations].every(isEmptyList) && isEmpty(cost);
  const [effect, ...more] = delta.effects;
  const isOne = effect !== undefined && more.length === 0 && formOf('salted')(effect.effect) === '';
  if (!isBare || !isOne || !isObject(args) || !hasJust(args, ['epoch', 'n', 'tool'], ['commit']))
    return undefined;
  const { epoch, n, tool, commit } = args;
  const isPlace =
    isCount(epoch) &&
    isCount(n) &&
    typeof tool === 'string' &&
    (commit === undefined || isHash(commit));
  return isPlace ? (args as unknown as EffectPlace) : undefined;
}

/** Whether a rejection lists the effects of an attempt that had no ruling. */
export function isAttempt({ intent, reason }: Rejection): boolean {
  return intent.action === 'assize.settle' && reason === 'effect_failed';
}

/** Whether such a list has its form. */
export function isAttemptForm(rejection: Rejection): boolean {
  const { intent, detail, writ_id: writ } = rejection;
  const { args, role, observations } = intent;
  if (!isObject(args) || isReferenceLike(args) || !hasJust(args, ['epoch', 'cause', 'effects']))
    return false;
  const { epoch, cause, effects } = args;
  const hasCause =
    typeof cause === 'string' && /^[a-z][a-z_]{0,63}$/.test(cause) && cause === detail;
  if (!isCount(epoch) || !hasCause || !isFullListOf(effects, isAbandoned)) return false;
  const listed = effects as readonly { readonly id: string }[];
  const isPaid = listed.every((effect) => !('cost' in effect) || writ !== undefined);
  return isPaid && isBuiltIn(role) && !has(rejection, OF_ATTEMPT) && areOf(observations, listed);
}

function isAbandoned(value: unknown): boolean {
  if (!isObject(value) || !hasJust(value, ['id', 'outcome', 'tool'], ['cost'])) return false;
  const { id, outcome, tool, cost } = value;
  if (!isHash(id) || typeof tool !== 'string' || (outcome !== 'undone' && outcome !== 'accepted'))
    return false;
  return cost === undefined || (outcome === 'undone' && isAmounts(cost));
}

/** Whether observations are just one for each effect, in order, with a salted value. */
function areOf(
  observations: readonly Observation[],
  effects: readonly { readonly id: string }[],
): boolean {
  return (
    observations.length === effects.length &&
    observations.every(
      (one, n) =>
        hasJust(one as unknown as Members, ['name', 'value']) &&
        one.name === effects[n]?.id &&
        formOf('salted')(one.value) === '',
    )
  );
}

function isBuiltIn({ name, params }: { readonly name: string; readonly params: object }): boolean {
  return name === 'assize' && isEmpty(params);
}

function isAmounts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isCount);
}

function isListOf(value: unknown, test: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(test);
}

function isFullListOf(value: unknown, test: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(test);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function has(value: object, names: readonly string[]): boolean {
  return names.some((name) => Object.hasOwn(value, name));
}
