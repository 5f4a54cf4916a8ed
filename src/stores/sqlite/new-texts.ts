import type { DatabaseSync } from 'node:sqlite';
import type { FactVersion, Hash, PartitionName } from '#ledger';
import { dayOf, wordsOfDocument } from '#memory';
import { erasedText, isErasedText } from '../facts.ts';
import { OBJECT, ROWS } from './fact-rows.ts';
import { isText } from './migrations/0017-texts-by-partition.ts';

/** A text that facts are found by, before it is indexed. */
export interface NewText {
  readonly key: number;
  readonly partition: PartitionName;
  readonly content: Hash;
  readonly audit: 0 | 1;
  readonly day: string;
  readonly words: readonly string[];
}

/** Words as `fact_words` has them: each with the number of its space, between spaces. */
export function storedWords(space: number, words: readonly string[]): string {
  return `${words.map((word) => ` ${space}_${word}`).join('')} `;
}

/** What is waiting in `fact_text_queue`. */
export interface Queued {
  readonly n: number;
  readonly key: number;
  readonly system_start: string;
}

/** What a partition is called, and rows of it. */
export interface Texts {
  readonly partition: PartitionName;
  readonly rows: readonly TextColumns[];
}

/** What of a row is indexed. */
export interface TextColumns {
  readonly content: Hash;
  readonly audit: 0 | 1;
  readonly asserted_from: string;
  readonly object: string;
}

/** No more of the row is held by it. */
export function textColumns({ content, row_kind, asserted_from, object }: FactVersion): TextColumns {
  return { content: content.hash, audit: row_kind === 'audit' ? 1 : 0, asserted_from, object };
}

/** Changes of one partition, and what is to be indexed of them. */
export interface NewTexts {
  readonly changes: readonly Queued[];
  readonly texts: readonly NewText[];
}

/**
 * The texts of changes that are not indexed yet, each once, made partition by partition as they are asked for; of what was erased there are
 * none. What is not among `written`, by `n`, is read: of a partition that changes often only rows that are open or ended since the first of
 * these changes.
 */
export function prepareNewTexts(
  db: DatabaseSync,
): (changes: readonly Queued[], written?: Pick<ReadonlyMap<number, Texts>, 'get'>) => Generator<NewTexts> {
  const selectPartition = db.prepare('SELECT space, subject, predicate FROM fact_partition WHERE key = ?');
  const columns = `lower(hex(f.content)) AS content, f.audit, f.asserted_from, ${OBJECT} AS object`;
  const selectRows = db.prepare(`
    SELECT ${columns} FROM ${ROWS} WHERE e.key = ?1 AND e.audit = 0 AND e.system_end > ?2 AND f.system_start >= ?2
    UNION ALL SELECT ${columns} FROM ${ROWS} WHERE e.key = ?1 AND e.audit = 1 AND f.system_start >= ?2`);
  const selectText = db.prepare(
    `SELECT 1 FROM fact_text AS t WHERE ${isText('t', { key: '?1', content: '?2', audit: '?3', day: '?4' })}`,
  );
  const read = (key: number, changes: readonly Queued[]): Texts | undefined => {
    const partition = selectPartition.get(key) as unknown as PartitionName | undefined;
    if (partition === undefined) return undefined;
    const start = changes.map(({ system_start }) => system_start).reduce((a, b) => (a < b ? a : b));
    return { partition, rows: selectRows.all(key, start) as unknown as TextColumns[] };
  };
  const textsOf = (key: number, texts: Texts | undefined): NewText[] => {
    if (texts === undefined || isErasedText(texts.partition.subject)) return [];
    const { space, subject, predicate } = texts.partition;
    const seen = new Set<string>();
    return texts.rows.flatMap((row) => {
      const { content, audit, object } = row;
      const day = dayOf(row);
      const name = `${content} ${audit} ${day}`;
      if (seen.has(name) || object === erasedText(content)) return [];
      seen.add(name);
      if (selectText.get(key, Buffer.from(content, 'hex'), audit, day) !== undefined) return [];
      const { asserted_from } = row;
      const row_kind = audit === 0 ? 'current' : 'audit';
      const words = wordsOfDocument({ subject, predicate, object, asserted_from, row_kind });
      return [{ key, partition: { space, subject, predicate }, content, audit, day, words }];
    });
  };
  return function* (all, written = new Map()) {
    for (const [key, changes] of Map.groupBy(all, (change) => change.key))
      yield { changes, texts: textsOf(key, kept(changes, written) ?? read(key, changes)) };
  };
}

/** Undefined where one of the changes is not among those. */
function kept(changes: readonly Queued[], written: Pick<ReadonlyMap<number, Texts>, 'get'>): Texts | undefined {
  const found: Texts[] = [];
  for (const { n } of changes) {
    const one = written.get(n);
    if (one === undefined) return undefined;
    found.push(one);
  }
  const last = found.at(-1);
  return last && { partition: last.partition, rows: found.flatMap(({ rows }) => rows) };
}
