import { arg, checkArgument } from '#base';
import type { FactVersion } from '#ledger';
import { MemoryError } from '#memory';

/** The keys to list. */
export interface KeysQuery {
  /** Keys with this text in their subject or predicate, in any case. At most 10,000 characters. */
  readonly text?: string;
  /** Continues after this key, the last one of the page before. */
  readonly after?: { readonly subject: string; readonly predicate: string };
  /** Maximum number of keys, from 1 to 10,000. Default 1,000. */
  readonly limit?: number;
}

/** A subject and a predicate that have facts, current or past. */
export interface MemoryKey {
  readonly subject: string;
  readonly predicate: string;
  /** The number of versions of facts. */
  readonly versions: number;
  /** The number of assertions that lost a contradiction. */
  readonly lost: number;
}

/** A page of the keys of a memory. */
export interface MemoryKeys {
  /** By subject and predicate, in code-point order. */
  readonly keys: readonly MemoryKey[];
  /** Whether more keys follow. */
  readonly isTruncated: boolean;
}

/** No name is longer, so a longer one finds nothing. Normalising one could take very long. */
const NAME_MAX = 512;

/** The form of asserted names: a name of another form finds nothing. */
export const NAME = arg.of(
  "a text in Unicode's composed form (NFC)",
  (value) =>
    typeof value === 'string' && (value.length > NAME_MAX || value === value.normalize('NFC')),
);

const KEYS_MAX = 10_000;
const KEYS_DEFAULT = 1_000;
const TEXT_MAX = 10_000;

const MEMBERS = arg.only(['text', 'after', 'limit']);
const QUERY = arg.members({
  text: arg.optional(arg.text),
  after: arg.optional(arg.members({ subject: NAME, predicate: NAME })),
  limit: arg.optional(arg.whole),
});

/** @throws MemoryError `bad_argument`; ArgumentError `bad_argument` */
export function readKeysQuery(query: KeysQuery): KeysQuery & { readonly limit: number } {
  checkArgument(MEMBERS, query, 'query');
  checkArgument(QUERY, query, 'query');
  const { text = '', limit = KEYS_DEFAULT } = query;
  if (limit < 1 || limit > KEYS_MAX)
    throw new MemoryError(
      'bad_argument',
      `The limit of a list of keys is not valid. Use 1 to ${KEYS_MAX}.`,
      {
        evidence: { limit },
      },
    );
  requireShortText(text);
  return { ...query, limit };
}

/** @throws MemoryError `bad_argument` */
export function requireShortText(text: string): void {
  if (text.length <= TEXT_MAX) return;
  throw new MemoryError(
    'bad_argument',
    `The search text has more than ${TEXT_MAX} characters. Search for fewer words.`,
    {
      evidence: { length: text.length },
    },
  );
}

/** The first keys of these pages, in the order of a store. Reads no more than necessary. */
export async function keysIn(
  pages: AsyncIterable<readonly FactVersion[]>,
  { text = '', limit }: Pick<KeysQuery, 'text'> & { readonly limit: number },
): Promise<MemoryKeys> {
  // Names are in this form.
  const wanted = text.normalize('NFC').toLowerCase();
  const keys: { -readonly [member in keyof MemoryKey]: MemoryKey[member] }[] = [];
  let last: Pick<FactVersion, 'subject' | 'predicate'> | undefined;
  let isWanted = false;
  for await (const page of pages)
    for (const { subject, predicate, row_kind } of page) {
      if (last?.subject !== subject || last.predicate !== predicate) {
        last = { subject, predicate };
        isWanted = [subject, predicate].some((name) => name.toLowerCase().includes(wanted));
        if (isWanted && keys.length === limit) return { keys, isTruncated: true };
        if (isWanted) keys.push({ subject, predicate, versions: 0, lost: 0 });
      }
      const key = keys.at(-1);
      if (isWanted && key !== undefined) key[row_kind === 'audit' ? 'lost' : 'versions']++;
    }
  return { keys, isTruncated: false };
}
