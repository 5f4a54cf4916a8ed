import { isBlobRef } from './blob.ts';
import type { CommitPayload, DelegatedFrom, Payload } from './entry.ts';
import type { Hash } from './hash.ts';
import { isHash } from './is-hash.ts';
import { hasMembers, isEntryName } from './members.ts';

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

export type RevocationPayload = CommitPayload & { readonly action: { readonly args: RevocationArgs } };

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
  const { action, delta, observations, budget_cost, resolves } = payload;
  if (!isRevocationArgs(action.args)) return 'its arguments are not those of a revocation';
  const lists: unknown[] = [delta.state, delta.effects, delta.beliefs, observations, Object.keys(budget_cost)];
  const does = lists.some((list) => !Array.isArray(list) || list.length > 0);
  if (does || resolves !== undefined) return 'a revocation has no changes, no cost and no approval';
  return undefined;
}

function isRevocationArgs(args: unknown): args is RevocationArgs {
  if (isBlobRef(args) || !hasMembers(args, ['writ', 'reason'], ['from'])) return false;
  const { writ, reason, from } = args as unknown as RevocationArgs;
  if (!isHash(writ) || typeof reason !== 'string') return false;
  return from === undefined || isEntryName(from);
}
