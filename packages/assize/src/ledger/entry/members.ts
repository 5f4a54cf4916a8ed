import type { DelegatedFrom } from './entry.ts';
import { isHash } from './is-hash.ts';

/** Whether a value is an object with the required members, and none beside the optional ones. */
export function hasMembers(
  value: unknown,
  required: readonly string[],
  optional: readonly string[] = [],
): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return (
    required.every((name) => names.includes(name)) &&
    names.every((name) => required.includes(name) || optional.includes(name))
  );
}

/** Whether a value names an entry of another trajectory. */
export function isEntryName(value: unknown): value is DelegatedFrom {
  if (!hasMembers(value, ['trajectory_id', 'entry_id'])) return false;
  const { trajectory_id, entry_id } = value as DelegatedFrom;
  return typeof trajectory_id === 'string' && isHash(entry_id);
}
