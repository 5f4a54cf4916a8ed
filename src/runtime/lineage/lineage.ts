import type { EntryRow, Hash, LedgerStore, LogStore } from '#ledger';
import { VisibilityChains } from '../memory/visible/visibility.ts';
import { CandidateSearch, type CandidateStart } from './candidate-search.ts';
import { entriesInOrder } from './entries-in-order.ts';
import type { Write } from './entry-links.ts';
import { type AffectedEntry, LineageWalk, type WalkOptions } from './lineage-walk.ts';
import { type IndexedStore, LinkIndex, type LinkSegment } from './link-index.ts';
import { LinkReader } from './link-reader.ts';
import { WORDS_MAX, wordsOf } from './link-words.ts';

/** The entries that an incident affects. */
export interface Lineage {
  /** In the order of the log. */
  readonly affected: readonly AffectedEntry[];
  /** The decisions and outcomes of an affected entry, also where they are not affected. */
  readonly followUpsOf: (id: Hash) => ReadonlySet<Hash>;
  readonly isAffected: (write: Write) => boolean;
  /** Number of entries in the store. */
  readonly entries: number;
  /** Erased values in the entries that were read, through which derivations may be missing. */
  readonly erased: number;
}

export interface LineageOptions extends WalkOptions {
  /** Called now and then, with the number of entries read. */
  readonly onProgress?: (entries: number) => void;
  /** The most words of a row of the index. Default: as many as a row holds. */
  readonly wordsMax?: number;
}

/** Reads every entry of the store. @throws LedgerFault for a missing blob */
export async function walkLineage(store: LedgerStore & LogStore, options: LineageOptions): Promise<Lineage> {
  const reader = new LinkReader(store);
  const walk = new LineageWalk(new VisibilityChains(store), options);
  let entries = 0;
  for await (const rows of entriesInOrder(store)) {
    for (const row of rows) await walk.visit(await reader.read(row));
    entries += rows.length;
    options.onProgress?.(entries);
  }
  return found(walk, entries);
}

/**
 * The same from the index of links, which it extends first. Only candidates are read. A database
 * that was tampered with can hide entries from the index, and cannot add any.
 *
 * @throws LedgerFault for a missing blob
 */
export async function searchLineage(
  store: IndexedStore,
  start: CandidateStart,
  options: LineageOptions,
): Promise<Lineage> {
  const { wordsMax = WORDS_MAX } = options;
  const index = new LinkIndex(store, wordsMax);
  const reader = new LinkReader(store);
  const search = new CandidateSearch(start);
  let entries = 0;
  const visit = (segment: LinkSegment): void => {
    let position = segment.from;
    for (let at = 0; at < segment.words.length; at += segment.words[at]!) search.visit(segment.words, at, position++);
    entries = position;
    options.onProgress?.(entries);
  };
  for await (const segment of index.segments()) visit(segment);
  const tail = await index.extend(entries, reader, visit);
  const stored = entries;
  for (const links of tail) visit({ from: entries, entries: 1, words: Uint32Array.from(wordsOf(links, wordsMax)) });

  const walk = new LineageWalk(new VisibilityChains(store), options);
  const positions = search.positions();
  for await (const row of rowsAt(
    store,
    positions.filter((position) => position < stored),
  ))
    await walk.visit(await reader.read(row));
  for (const position of positions) if (position >= stored) await walk.visit(tail[position - stored]!);
  return found(walk, entries);
}

function found(walk: LineageWalk, entries: number): Lineage {
  return {
    affected: walk.affected,
    followUpsOf: (id) => walk.followUpsOf(id),
    isAffected: (write) => walk.isAffected(write),
    ...{ entries, erased: walk.erased },
  };
}

/** Positions this near to each other are read at once. */
const NEAR = 20;
const RUN_MAX = 1_000;

async function* rowsAt(store: LogStore, positions: readonly number[]): AsyncGenerator<EntryRow> {
  for (let i = 0; i < positions.length; ) {
    const first = positions[i]!;
    let end = i + 1;
    while (end < positions.length && positions[end]! - positions[end - 1]! < NEAR && positions[end]! - first < RUN_MAX)
      end++;
    const rows = await store.logged(first, positions[end - 1]! - first + 1);
    for (; i < end; i++) yield rows[positions[i]! - first]!;
  }
}
