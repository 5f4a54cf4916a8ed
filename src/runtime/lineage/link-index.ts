import { isAssizeError } from '#base';
import { canonicalize, parseCanonical } from '#canon';
import { integrateLog, type LedgerStore, type LogStore, type SideStore } from '#ledger';
import { entriesInOrder } from './entries-in-order.ts';
import type { EntryLinks } from './entry-links.ts';
import type { LinkReader } from './link-reader.ts';
import { AT, wordsOf } from './link-words.ts';

/** The kind of the rows. Another form of the words gets another kind. */
const KIND = 'lineage/2';
const PAGE = 200;

/** A store whose entries can be indexed. */
export type IndexedStore = LedgerStore & LogStore & SideStore;

/** The words of entries at consecutive positions. */
export interface LinkSegment {
  readonly from: number;
  readonly entries: number;
  readonly words: Uint32Array;
}

/**
 * The words of all entries, as rows of the side log. They are a cache: a missing or malformed row
 * ends the cached part, and the entries after it are read. The rows name no person, subject or
 * text.
 */
export class LinkIndex {
  readonly #store: IndexedStore;
  readonly #wordsMax: number;

  /**
   * `wordsMax`: the most words of a row. A row of one entry has more if the entry has, apart from
   * the paths that it writes.
   */
  constructor(store: IndexedStore, wordsMax: number) {
    this.#store = store;
    this.#wordsMax = wordsMax;
  }

  /** The stored segments, without a gap from the first entry on. */
  async *segments(): AsyncGenerator<LinkSegment> {
    let at = 0;
    for (let after: string | undefined; ; ) {
      const rows = await this.#store.sideList(KIND, { limit: PAGE, ...(after !== undefined && { after }) });
      for (const { key, body } of rows) {
        const segment = segmentIn(key, body);
        if (segment?.from !== at) return;
        yield segment;
        at += segment.entries;
      }
      after = rows.at(-1)?.key;
      if (rows.length < PAGE) return;
    }
  }

  /**
   * Reads the entries from a position on, after the stored segments, and stores each full segment.
   * Returns the links of the entries after the last full one, which are not stored.
   */
  async extend(from: number, reader: LinkReader, onRead: (segment: LinkSegment) => void): Promise<EntryLinks[]> {
    await integrateLog(this.#store);
    const logged = await this.#store.logSize();
    let words: number[] = [];
    let tail: EntryLinks[] = [];
    let start = from;
    for await (const rows of entriesInOrder(this.#store, from))
      for (const row of rows) {
        const links = await reader.read(row);
        const next = wordsOf(links, this.#wordsMax);
        if (tail.length > 0 && words.length + next.length > this.#wordsMax && start + tail.length <= logged) {
          const segment = { from: start, entries: tail.length, words: Uint32Array.from(words) };
          await this.#write(segment);
          onRead(segment);
          start += tail.length;
          [words, tail] = [[], []];
        }
        words.push(...next);
        tail.push(links);
      }
    return tail;
  }

  async #write({ from, entries, words }: LinkSegment): Promise<void> {
    const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
    const key = keyOf(from);
    const body = canonicalize({ entries, words: bytes.toString('base64') });
    const before = await this.#store.sideGet(KIND, key);
    // Another process may have written the same row.
    await this.#store.sidePut([{ kind: KIND, key, expected: before?.version ?? null, body }]);
  }
}

function keyOf(position: number): string {
  return `${position}`.padStart(15, '0');
}

/** Undefined for a row that the index has not written. */
function segmentIn(key: string, body: string): LinkSegment | undefined {
  const { entries, words: text } = readBody(body);
  if (!Number.isSafeInteger(entries) || typeof text !== 'string' || !/^\d{15}$/.test(key)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) return undefined;
  const words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return countOf(words) === entries ? { from: Number(key), entries: entries as number, words } : undefined;
}

function readBody(body: string): { readonly entries?: unknown; readonly words?: unknown } {
  try {
    return (parseCanonical(body) ?? {}) as object;
  } catch (error) {
    if (isAssizeError(error)) return {};
    throw error;
  }
}

/** The number of entries, or undefined if the words are not those of whole entries. */
function countOf(words: Uint32Array): number | undefined {
  let count = 0;
  for (let at = 0; at < words.length; count++) {
    const length = words[at]!;
    const lists = [AT.restsOn, AT.rows, AT.observed, AT.marks, AT.judgedBy].reduce<number>(
      (sum, i) => sum + (words[at + i] ?? 0),
      AT.lists,
    );
    if (length < lists || at + length > words.length) return undefined;
    at += length;
  }
  return count;
}
