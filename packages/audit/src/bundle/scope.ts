import {
  haltArgs,
  type Instant,
  isSamePrincipal,
  type Payload,
  settlementArgs,
} from 'assize/internal/ledger';

/** The entries that a proof bundle is about (docs/reference/proof-bundle.md). */
export type BundleScope =
  | { readonly kind: 'entry'; readonly entry: string }
  /** A pending entry, with its decision as context. */
  | { readonly kind: 'approval'; readonly approval: string }
  /** The entries from `from` on and before `to`, of one trajectory or of all. */
  | {
      readonly kind: 'period';
      readonly from: Instant;
      readonly to: Instant;
      readonly trajectory?: string;
    }
  /** The entries that a principal decided or settled, or that ran under a writ of the principal. */
  | {
      readonly kind: 'person';
      readonly person: string;
      readonly from?: Instant;
      readonly to?: Instant;
      readonly trajectory?: string;
    };

/** The scopes that are searched for, and not named by an id. */
export type SearchedScope = Extract<BundleScope, { kind: 'period' | 'person' }>;

export function isSearched(scope: BundleScope): scope is SearchedScope {
  return scope.kind === 'period' || scope.kind === 'person';
}

/**
 * Whether an entry is in scope. `subjectOf` finds the subject of the entry's writ, if the writ is
 * known.
 */
export function isInScope(
  scope: BundleScope,
  { id, payload }: { readonly id: string; readonly payload: Payload },
  subjectOf: (payload: Payload) => string | undefined,
): boolean {
  if (scope.kind === 'entry') return id === scope.entry;
  if (scope.kind === 'approval') return id === scope.approval;
  if (scope.trajectory !== undefined && payload.trajectory_id !== scope.trajectory) return false;
  if (!isWithin(scope, payload.at)) return false;
  return scope.kind === 'period' || isOfPerson(scope.person, payload, subjectOf);
}

function isWithin({ from, to }: SearchedScope, at: Instant): boolean {
  return (from === undefined || at >= from) && (to === undefined || at < to);
}

function isOfPerson(
  person: string,
  payload: Payload,
  subjectOf: (payload: Payload) => string | undefined,
): boolean {
  const isPerson = (name: string | undefined): boolean =>
    name !== undefined && isSameName(name, person);
  return decidersOf(payload).some(isPerson) || isPerson(subjectOf(payload));
}

/** The principals that an entry names as those that decided. */
function decidersOf(payload: Payload): (string | undefined)[] {
  const counselor = 'counselor' in payload ? payload.counselor?.principal : undefined;
  const earlier = 'approved_by' in payload ? (payload.approved_by ?? []) : [];
  const { settled = [], decided } = settlementArgs(payload) ?? {};
  const settlers = settled.flatMap(({ effects }) => effects.map(({ by }) => by));
  const names = earlier.map(({ principal }) => principal);
  return [counselor, ...names, decided?.by, ...settlers, haltArgs(payload)?.principal];
}

/** Unicode composition of a hostile text takes quadratic time. */
const COMPOSED_MAX = 512;

function isSameName(one: string, other: string): boolean {
  if (one === other) return true;
  return one.length <= COMPOSED_MAX && other.length <= COMPOSED_MAX && isSamePrincipal(one, other);
}

/** The writ that an entry was made under. A start of a delegation uses the delegating writ. */
export function writOf(payload: Payload): string | undefined {
  switch (payload.kind) {
    case 'commit':
    case 'rejection':
      return payload.writ_id;
    case 'pending_approval':
      return payload.proposal.writ_id;
    case 'delegation':
      return payload.concludes === undefined ? parentOf(payload.writ) : undefined;
    default:
      return undefined;
  }
}

function parentOf(writ: unknown): string | undefined {
  const parent = (writ as { readonly parent?: unknown } | null)?.parent;
  return typeof parent === 'string' ? parent : undefined;
}
