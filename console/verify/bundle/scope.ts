import { isHash, isInstant, isObject } from '../entries/basic-forms.ts';
import { hasJust } from './json-file.ts';

/** The question that a bundle answers: the entries that it is about. */
export type Scope =
  | { readonly kind: 'entry'; readonly entry: string }
  | { readonly kind: 'approval'; readonly approval: string }
  | {
      readonly kind: 'period';
      readonly from: string;
      readonly to: string;
      readonly trajectory?: string;
    }
  | {
      readonly kind: 'person';
      readonly person: string;
      readonly from?: string;
      readonly to?: string;
      readonly trajectory?: string;
    };

export function isScope(value: unknown): value is Scope {
  if (!isObject(value)) return false;
  const { kind, entry, approval, person, from, to, trajectory = '' } = value;
  if (kind === 'entry') return hasJust(value, ['kind', 'entry']) && isHash(entry);
  if (kind === 'approval') return hasJust(value, ['kind', 'approval']) && isHash(approval);
  if (typeof trajectory !== 'string') return false;
  if (kind === 'period')
    return (
      hasJust(value, ['kind', 'from', 'to'], ['trajectory']) && isInstant(from) && isInstant(to)
    );
  const hasPeriod = isInstant(from) && isInstant(to);
  return (
    kind === 'person' &&
    hasJust(value, ['kind', 'person', ...(hasPeriod ? ['from', 'to'] : [])], ['trajectory']) &&
    typeof person === 'string'
  );
}
