import { isBlobRef } from './blob.ts';
import type { CommitPayload, DelegatedFrom, Instant, Payload } from './entry.ts';
import type { Hash } from './hash.ts';
import { hasMembers, isEntryName } from './members.ts';
import { isRevocation, REVOKE_ACTION } from './revocation.ts';
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
  const { action, delta, observations, budget_cost, resolves } = payload;
  if (!isHaltArgs(action.args)) return 'its arguments are not those of a halt';
  const lists: unknown[] = [delta.state, delta.effects, delta.beliefs, observations, Object.keys(budget_cost)];
  const does = lists.some((list) => !Array.isArray(list) || list.length > 0);
  return does || resolves !== undefined ? 'a halt has no changes, no cost and no approval' : undefined;
}

/**
 * Whether a halted trajectory takes an entry: halts and resumes, revocations, changes of the key,
 * resolutions of pending proposals that are no approvals, and outcomes of effects.
 */
export function passesHalt(payload: Payload): boolean {
  switch (payload.kind) {
    case 'commit':
      return isHalt(payload) || isRevocation(payload) || isSettlement(payload);
    case 'rejection': {
      const { resolves, intent } = payload;
      return resolves !== undefined || isAbandonment(payload) || [HALT_ACTION, REVOKE_ACTION].includes(intent.action);
    }
    case 'key_change':
      return true;
    default:
      return isEffectPending(payload);
  }
}

function isHaltArgs(args: unknown): args is HaltArgs {
  if (isBlobRef(args) || !hasMembers(args, ['does', 'reason', 'principal'], ['from', 'remains'])) return false;
  const { does, reason, principal, from, remains } = args as unknown as HaltArgs;
  if (typeof reason !== 'string' || typeof principal !== 'string') return false;
  if (does !== 'halt' && does !== 'resume') return false;
  if (remains !== undefined && !(remains === true && does === 'resume')) return false;
  return from === undefined || isEntryName(from);
}
