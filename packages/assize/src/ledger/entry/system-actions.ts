import { isBlobRef } from './blob.ts';
import type {
  CommitPayload,
  DelegatedFrom,
  DomainRef,
  Instant,
  KeyChangePayload,
  Payload,
} from './entry.ts';
import type { Hash } from './hash.ts';
import { isHash } from './is-hash.ts';
import { hasMembers, isEntryName } from './members.ts';
import { isAbandonment, isEffectPending, isSettlement } from './settlement.ts';

/** The built-in action that halts a trajectory, and resumes it (docs/decisions/024-halt.md). */
export const HALT_ACTION = 'assize.halt';

/** The arguments of a halt, and of the resume that ends it. */
export interface HaltArgs {
  readonly does: 'halt' | 'resume';
  readonly reason: string;
  readonly principal: string;
  /** The original entry, if this trajectory adopted it from its delegator. */
  readonly from?: DelegatedFrom;
  /** Only of a resume: another halt still stands here. */
  readonly remains?: true;
}

export type HaltPayload = CommitPayload & { readonly action: { readonly args: HaltArgs } };

/** A halt that stands. */
export interface Halt {
  readonly id: Hash;
  readonly seq: number;
  readonly at: Instant;
  readonly reason: string;
  readonly principal: string;
}

/** In a payload that a chain has accepted, the arguments have the right form. */
export function isHalt(payload: Payload): payload is HaltPayload {
  return payload.kind === 'commit' && payload.action.name === HALT_ACTION;
}

/** The arguments of a halt or resume. The payload may be unchecked. */
export function haltArgs(payload: Payload): HaltArgs | undefined {
  const args: unknown = isHalt(payload) ? payload.action.args : undefined;
  return isHaltArgs(args) ? args : undefined;
}

/** The violation within a commit of `assize.halt`, or undefined. */
export function haltFault(payload: CommitPayload): string | undefined {
  if (!isHaltArgs(payload.action.args)) return 'its arguments are not those of a halt';
  return doesMore(payload) ? 'a halt has no changes, no cost and no approval' : undefined;
}

/**
 * Whether a halted trajectory takes an entry: halts and resumes, revocations, changes of the key,
 * resolutions of pending proposals other than approvals, and outcomes of effects.
 */
export function passesHalt(payload: Payload): boolean {
  switch (payload.kind) {
    case 'commit':
      return isHalt(payload) || isRevocation(payload) || isSettlement(payload);
    case 'rejection': {
      const { resolves, intent } = payload;
      return (
        resolves !== undefined ||
        isAbandonment(payload) ||
        [HALT_ACTION, REVOKE_ACTION].includes(intent.action)
      );
    }
    case 'key_change':
      return true;
    default:
      return isEffectPending(payload);
  }
}

function isHaltArgs(args: unknown): args is HaltArgs {
  if (isBlobRef(args) || !hasMembers(args, ['does', 'reason', 'principal'], ['from', 'remains']))
    return false;
  const { does, reason, principal, from, remains } = args as unknown as HaltArgs;
  if (typeof reason !== 'string' || typeof principal !== 'string') return false;
  if (does !== 'halt' && does !== 'resume') return false;
  if (remains !== undefined && !(remains === true && does === 'resume')) return false;
  return from === undefined || isEntryName(from);
}

/**
 * The built-in action that permanently revokes a writ and its descendants with its commit
 * (docs/decisions/011-writs-and-policies.md).
 */
export const REVOKE_ACTION = 'assize.revoke';

/** The arguments of a revocation. */
export interface RevocationArgs {
  /** The revoked writ. */
  readonly writ: Hash;
  readonly reason: string;
  /** The original revocation, if this trajectory adopted it from its delegator. */
  readonly from?: DelegatedFrom;
}

export type RevocationPayload = CommitPayload & {
  readonly action: { readonly args: RevocationArgs };
};

/** In a payload that a chain has accepted, the arguments have the right form. */
export function isRevocation(payload: Payload): payload is RevocationPayload {
  return payload.kind === 'commit' && payload.action.name === REVOKE_ACTION;
}

/**
 * The revoked writ, the reason and the origin. The payload may be unchecked. Returns undefined for
 * any other payload.
 */
export function revocationArgs(payload: Payload): RevocationArgs | undefined {
  const args: unknown = isRevocation(payload) ? payload.action.args : undefined;
  return isRevocationArgs(args) ? args : undefined;
}

/** The writ that a payload revokes. The payload may be unchecked. */
export function revokedBy(payload: Payload): Hash | undefined {
  const args: unknown = isRevocation(payload) ? payload.action.args : undefined;
  const writ = (args as Partial<RevocationArgs> | null | undefined)?.writ;
  return isHash(writ) ? writ : undefined;
}

/** The violation within a commit of `assize.revoke`, or undefined. */
export function revocationFault(payload: CommitPayload): string | undefined {
  if (!isRevocationArgs(payload.action.args)) return 'its arguments are not those of a revocation';
  return doesMore(payload) ? 'a revocation has no changes, no cost and no approval' : undefined;
}

function isRevocationArgs(args: unknown): args is RevocationArgs {
  if (isBlobRef(args) || !hasMembers(args, ['writ', 'reason'], ['from'])) return false;
  const { writ, reason, from } = args as unknown as RevocationArgs;
  if (!isHash(writ) || typeof reason !== 'string') return false;
  return from === undefined || isEntryName(from);
}

/**
 * The built-in action that continues a trajectory under another version of its domain
 * (docs/decisions/010-domain-hash.md).
 */
export const UPGRADE_ACTION = 'assize.upgrade';

/** The arguments of an upgrade. */
export interface UpgradeArgs {
  /** The hash of the version before. */
  readonly from: Hash;
  /** The version from this entry on. */
  readonly to: DomainRef;
  readonly reason: string;
}

export type UpgradePayload = CommitPayload & { readonly action: { readonly args: UpgradeArgs } };

/** In a payload that a chain has accepted, the arguments have the right form. */
export function isUpgrade(payload: Payload): payload is UpgradePayload {
  return payload.kind === 'commit' && payload.action.name === UPGRADE_ACTION;
}

/** The domain that a payload puts in force. */
export function domainFrom(payload: Payload): DomainRef | undefined {
  if (payload.kind === 'root' || payload.kind === 'branch') return payload.domain;
  return isUpgrade(payload) ? payload.action.args.to : undefined;
}

/** The violation within a commit of `assize.upgrade`, or undefined. */
export function upgradeFault(payload: CommitPayload): string | undefined {
  const { action, counselor, detection_vector: vector } = payload;
  if (!isUpgradeArgs(action.args)) return 'its arguments are not those of an upgrade';
  if (doesMore(payload, [])) return 'an upgrade changes only the state, and resolves nothing';
  if (vector === undefined) return 'an upgrade has the result of every rule of the new version';
  const passes = vector.every(({ result }) => result === 'pass');
  if (passes !== (counselor === undefined))
    return passes
      ? 'every rule passes, so no counselor overrides one'
      : 'a rule does not pass, and no counselor overrides it';
  if (!passes && counselor?.override !== true)
    return 'its counselor does not override the rules that do not pass';
  return undefined;
}

function isUpgradeArgs(args: unknown): args is UpgradeArgs {
  if (isBlobRef(args) || !hasMembers(args, ['from', 'to', 'reason'])) return false;
  const { from, to, reason } = args as unknown as UpgradeArgs;
  return isHash(from) && typeof reason === 'string' && isDomainRef(to);
}

function isDomainRef(value: unknown): value is DomainRef {
  if (!hasMembers(value, ['name', 'version', 'hash'])) return false;
  const { name, version, hash } = value as unknown as DomainRef;
  return typeof name === 'string' && typeof version === 'string' && isHash(hash);
}

/** Whether a commit has changes, a cost or an approval in addition to its action. */
function doesMore(
  { delta, observations, budget_cost, resolves }: CommitPayload,
  state: unknown = delta.state,
): boolean {
  const lists: unknown[] = [
    state,
    delta.effects,
    delta.beliefs,
    observations,
    Object.keys(budget_cost),
  ];
  return resolves !== undefined || lists.some((list) => !Array.isArray(list) || list.length > 0);
}

/** In any payload, of a chain or not. */
export function isKeyChange(payload: Payload): payload is KeyChangePayload {
  return payload.kind === 'key_change';
}

/**
 * The public key that must sign the entries after a payload. Undefined after an unsigned entry: the
 * next entry may then be signed by any key, or unsigned.
 */
export function keyAfter(payload: Payload): string | undefined {
  return isKeyChange(payload) ? payload.to : payload.signature?.key;
}
