import type { EntryRow } from 'assize/internal/ledger';
import type { Summary } from 'assize/internal/views';

/** Each text of a summary in which a search looks. */
export function textsOf(summary: Summary): string[] {
  const {
    id,
    ruling,
    action,
    role,
    role_params = {},
    args,
    reason,
    invariant_id,
    detail,
    counselor,
  } = summary;
  const { overrides = [] } = summary;
  const overridden = overrides.flatMap(({ violations }) =>
    violations.map(({ invariant_id }) => invariant_id),
  );
  const texts = [id, ruling, action, role, args, reason, invariant_id, detail, counselor];
  return [
    ...texts.filter((text) => text !== undefined),
    ...Object.values(role_params),
    ...(overrides.length > 0 ? ['override', ...overridden] : []),
  ];
}

/** The kinds of entries with a ruling. */
const KINDS: Readonly<Record<Exclude<Summary['ruling'], 'unreadable'>, EntryRow['kind']>> = {
  begun: 'root',
  branched: 'branch',
  committed: 'commit',
  rejected: 'rejection',
  escalated: 'pending_approval',
  delegated: 'delegation',
  answered: 'delegation',
  concluded: 'delegation',
  'key changed': 'key_change',
};

/** The kinds whose summaries repeat texts of the payload. */
const PLAIN: ReadonlySet<EntryRow['kind']> = new Set(['commit', 'rejection', 'pending_approval']);
/** The words of their summaries that are in no payload. */
const WORDS = [
  'committed',
  'rejected',
  'escalated',
  'unreadable',
  'the payload is damaged; run assize verify',
];
/** The arguments in a summary are JSON, and `…` is where they are cut. */
const IN_ARGS = /["\\…]/;
/** The summaries of these entries have composed texts: actions of the runtime, and amendments. */
const COMPOSED = /"assize\.|"amended"/;

/**
 * A cheap test of a row before its payload is read: false only for a row whose summary has another
 * ruling, or lacks the text. `text` is in small letters.
 */
export function mayMatch(
  ruling: Summary['ruling'] | undefined,
  text: string | undefined,
): (row: EntryRow) => boolean {
  const kind = ruling === undefined || ruling === 'unreadable' ? undefined : KINDS[ruling];
  const hasText = text === undefined ? () => true : mayHave(text);
  return (row) => (kind === undefined || row.kind === kind) && hasText(row);
}

function mayHave(text: string): (row: EntryRow) => boolean {
  // The small form of a sigma depends on the letters around it.
  if (/[σς]/.test(text) || IN_ARGS.test(text) || WORDS.some((word) => word.includes(text)))
    return () => true;
  const written = JSON.stringify(text).slice(1, -1);
  return ({ id, kind, payload }) =>
    !PLAIN.has(kind) ||
    id.includes(text) ||
    COMPOSED.test(payload) ||
    payload.toLowerCase().includes(written);
}
