import { isInstant } from 'assize/internal/canon';
import { isHash } from 'assize/internal/ledger';
import { RuntimeError } from 'assize/internal/runtime';
import { hasJust } from './form.ts';
import type { BundleScope } from './scope.ts';

/**
 * A scope of a caller, as a manifest has it.
 *
 * @throws RuntimeError `bad_argument`
 */
export function checkedScope(value: unknown): BundleScope {
  const wrong = scopeFault(value);
  if (wrong === undefined) return structuredClone(value) as BundleScope;
  throw new RuntimeError('bad_argument', `The scope of the bundle is not valid: ${wrong}.`);
}

/** The reason why a value is not a scope, or undefined. */
export function scopeFault(value: unknown): string | undefined {
  const scope = (value ?? {}) as Readonly<Record<string, unknown>>;
  switch (scope['kind']) {
    case 'entry':
    case 'approval':
      return idFault(scope, scope['kind']);
    case 'period':
      if (!hasJust(scope, ['kind', 'from', 'to'], ['trajectory']))
        return 'a period has from and to';
      return rangeFault(scope);
    case 'person':
      if (!hasJust(scope, ['kind', 'person'], ['from', 'to', 'trajectory']))
        return 'it has an unknown member';
      if (typeof scope['person'] !== 'string' || scope['person'] === '')
        return 'a person is a text';
      if ('from' in scope !== 'to' in scope) return 'a period has from and to';
      return rangeFault(scope);
    default:
      return 'its kind is not entry, approval, period or person';
  }
}

function idFault(scope: Readonly<Record<string, unknown>>, kind: string): string | undefined {
  return hasJust(scope, ['kind', kind]) && isHash(scope[kind])
    ? undefined
    : `its ${kind} must be a whole id`;
}

function rangeFault({
  from,
  to,
  trajectory,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (trajectory !== undefined && typeof trajectory !== 'string') return 'a trajectory is a text';
  if (from === undefined && to === undefined) return undefined;
  const isPeriod =
    typeof from === 'string' && typeof to === 'string' && isInstant(from) && isInstant(to);
  if (!isPeriod) return 'from and to are instants such as 2026-03-23T09:00:00.000000Z';
  return from < to ? undefined : 'from must be before to';
}
