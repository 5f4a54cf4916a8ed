import { randomBytes } from 'node:crypto';
import { hashText } from 'assize/internal/canon';
import { readRow } from 'assize/internal/ledger';
import { keyOf } from './asked-call.ts';
import type { CallWorld, Observed } from './call-world.ts';

/** A new attempt to make a call. No other process can guess it. */
export function newAttempt(): string {
  return randomBytes(16).toString('hex');
}

/** The mark of an attempt in its question: a hash, so no reader of the ledger can repeat it. */
export function observed(attempt: string): Observed {
  return { name: NAME, value: hashText(attempt) };
}

const NAME = 'attempt';

/** The idempotency key under which an attempt begins a call that was let through before. */
export function beginKey(call: string, attempt: string): string {
  return `begin ${call} ${hashText(attempt)}`;
}

/**
 * Whether this attempt has started a call, with its question or afterwards. `waited`: the question
 * did not start it, because another run had the turn.
 */
export async function hasBegun(
  world: CallWorld,
  call: string,
  attempt: string | undefined,
  { waited }: { readonly waited: boolean },
): Promise<boolean> {
  if (attempt === undefined) return false;
  const begun = await world.trajectory.rulingOf(beginKey(call, attempt), world.principal);
  if (begun?.ruling === 'committed') return true;
  if (waited) return false;
  const asked = await world.trajectory.rulingOf(keyOf({ id: call }), world.principal);
  if (asked?.ruling !== 'committed') return false;
  const { payload } = readRow(asked.entry);
  // A call that a person has approved does not start with its question.
  if (payload.kind !== 'commit' || payload.resolves !== undefined) return false;
  const { value: mark } = observed(attempt);
  return payload.observations.some(({ name, value }) => name === NAME && value === mark);
}
