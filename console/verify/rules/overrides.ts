import { isSame } from '../bytes/canonical.ts';
import type { Counselor, Pending, Result } from '../entries/payloads.ts';

/**
 * The rule of overrides (ledger reference, section 5.3): either no approver overrode and every
 * result passes, or all overrode the same violations, and these are all violations of the vector.
 */
export function obeysOverrides(
  approvers: readonly Counselor[],
  vector: readonly Result[],
  { invariant_id: asking }: Pending,
): boolean {
  const isTheSame = (a: Result, b: Result) =>
    isSame(a, b) ||
    (a.invariant_id === asking && b.invariant_id === asking && a.result === b.result);
  const isAmong = (one: Result, all: readonly Result[]) =>
    all.some((other) => isTheSame(one, other));
  const violations = vector.filter(({ result }) => result !== 'pass');
  const lists = approvers.map(({ overridden }) => overridden);
  if (
    approvers.some(({ override, overridden }) => (override === true) !== (overridden !== undefined))
  )
    return false;
  if (lists.every((list) => list === undefined)) return violations.length === 0;
  const [first = [], ...others] = lists.map((list) => list ?? []);
  return (
    first.length > 0 &&
    others.every(
      (list) =>
        list.every((one) => isAmong(one, first)) && first.every((one) => isAmong(one, list)),
    ) &&
    violations.every((one) => isAmong(one, first))
  );
}
