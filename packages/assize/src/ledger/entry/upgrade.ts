import { isBlobRef } from './blob.ts';
import type { CommitPayload, DomainRef, Payload } from './entry.ts';
import type { Hash } from './hash.ts';
import { isHash } from './is-hash.ts';

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
  const { action, delta, observations, budget_cost, resolves, counselor, detection_vector: vector } = payload;
  if (!isUpgradeArgs(action.args)) return 'its arguments are not those of an upgrade';
  const lists: unknown[] = [delta.effects, delta.beliefs, observations, Object.keys(budget_cost)];
  const does = lists.some((list) => !Array.isArray(list) || list.length > 0);
  if (does || resolves !== undefined) return 'an upgrade changes only the state, and resolves nothing';
  if (vector === undefined) return 'an upgrade has the result of every rule of the new version';
  const passes = vector.every(({ result }) => result === 'pass');
  if (passes !== (counselor === undefined))
    return passes
      ? 'every rule passes, so no counselor overrides one'
      : 'a rule does not pass, and no counselor overrides it';
  if (!passes && counselor?.override !== true) return 'its counselor does not override the rules that do not pass';
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

function hasMembers(value: unknown, wanted: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return names.length === wanted.length && wanted.every((name) => names.includes(name));
}
