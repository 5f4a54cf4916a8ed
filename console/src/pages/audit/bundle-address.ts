import type { BundleScope } from '../../api/bundle.ts';
import { useChoices } from '../../parts/address-choices.ts';

export const KINDS = ['approval', 'entry', 'person', 'period'] as const;
export type Kind = (typeof KINDS)[number];

const FIELDS = ['entry', 'approval', 'person', 'from', 'to', 'trajectory'] as const;
type Field = (typeof FIELDS)[number];

/** The scope of a bundle as the address has it, complete or not. */
export interface BundleAddress extends Readonly<Partial<Record<Field, string>>> {
  readonly kind: Kind;
  readonly set: (change: Partial<Record<Field | 'bundle', string | undefined>>) => void;
}

/** The state of the form. The address has all of it. */
export function useBundleAddress(): BundleAddress {
  const [search, choose] = useChoices();
  const fields = FIELDS.flatMap((name) => {
    const value = search.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(fields),
    kind: KINDS.find((kind) => kind === search.get('bundle')) ?? 'approval',
    set: choose,
  };
}

/** Whether a period has no time in it, because it ends at its start or before. */
export function isBackwards({ from = '', to = '' }: Pick<BundleAddress, 'from' | 'to'>): boolean {
  return Date.parse(from) >= Date.parse(to);
}

/** The scope to ask for. Undefined while a needed field is empty, or the period is backwards. */
export function scopeOf(address: BundleAddress): BundleScope | undefined {
  const { kind, entry, approval, person, from, to, trajectory } = address;
  if (kind === 'entry') return entry === undefined ? undefined : { entry: entry.trim() };
  if (kind === 'approval')
    return approval === undefined ? undefined : { approval: approval.trim() };
  const hasPeriod = from !== undefined && to !== undefined;
  if (isBackwards(address)) return undefined;
  if (kind === 'period' ? !hasPeriod : person === undefined) return undefined;
  // Half of a period is not complete, and a person needs none.
  if (!hasPeriod && (from !== undefined || to !== undefined)) return undefined;
  return {
    ...(kind === 'person' && { person: person as string }),
    ...(hasPeriod && { from, to }),
    ...(trajectory !== undefined && { trajectory }),
  };
}
