import type { DatabaseSync } from 'node:sqlite';
import type { FactVersion, Hash, PartitionName } from '#ledger';
import { dayOf, wordsOfDocument } from '#memory';
import { erasedText, isErasedText } from '../../facts.ts';
import { OBJECT, ROWS } from './fact-rows.ts';
import { isText } from './fact-texts.ts';

/** A searchable text of facts before it is indexed. */
export interface NewText {
  readonly key: number;
  readonly partition: PartitionName;
  readonly content: Hash;
  readonly audit: 0 | 1;
  readonly day: string;
  readonly words: readonly string[];
}

/**
 * The words in the form that `fact_words` stores: each with the number of its space, between
 * spaces.
 */
export function storedWords(space: number, words: readonly string[]): string {
  return `${words.map((word) => ` ${space}_${word}`).join('')} `;
}

/** A row of `fact_text_queue`. */
export interface Queued {
  readonly n: number;
  readonly key: number;
  readonly system_start: string;
}

/** The name of a partition, and rows of it. */
export interface Texts {
  readonly partition: PartitionName;
  readonly rows: readonly TextColumns[];
}

/** The columns of a row that are indexed. */
export interface TextColumns {
  readonly content: Hash;
  readonly audit: 0 | 1;
  readonly asserted_from: string;
  readonly object: string;
}

/** A copy of these columns, so the cache does not hold the rest of the row. */
export function textColumns({
  content,
  row_kind,
  asserted_from,
  object,
}: FactVersion): TextColumns {
  return { content: content.hash, audit: row_kind === 'audit' ? 1 : 0, asserted_from, object };
}

/** A change and its texts to index. */
export interface NewTexts {
  readonly change: Queued;
  readonly texts: readonly NewText[];
}

/**
 * The texts of queued changes, each once. The function yields them partition by partition and
 * change by change, without erased texts.
 *
 * Changes that are not in `written`, by `n`, are read from the store. For a partition that changes
 * often, the function reads only rows that are open or ended since the first of these changes. It
 * reads their objects with their own change.
 */
export function prepareNewTexts(
  db: DatabaseSync,
): (
  changes: readonly Queued[],
  written?: Pick<ReadonlyMap<number, Texts>, 'get'>,
) => Generator<NewTexts> {
  const selectPartition = db.prepare(
    'SELECT space, subject, predicate FROM fact_partition WHERE key = ?',
  );
  const columns = 'f.n, f.system_start, lower(hex(f.content)) AS content, f.audit, f.asserted_from';
  const selectRows = db.prepare(`
    SELECT ${columns} FROM ${ROWS} WHERE e.key = ? AND e.audit = 0 AND e.system_end > ? AND f.system_start BETWEEN ? AND ?
    UNION ALL SELECT ${columns} FROM ${ROWS} WHERE e.key = ? AND e.audit = 1 AND f.system_start BETWEEN ? AND ?`);
  const selectObject = db.prepare(`SELECT ${OBJECT} AS object FROM fact AS f WHERE f.n = ?`);
  const selectText = db.prepare(
    `SELECT 1 FROM fact_text AS t WHERE ${isText('t', { key: ':key', content: ':content', audit: ':audit', day: ':day' })}`,
  );
  const read = (
    key: number,
    changes: readonly Queued[],
  ): ((change: Queued) => Texts | undefined) => {
    const partition = selectPartition.get(key) as unknown as PartitionName | undefined;
    if (partition === undefined) return () => undefined;
    const starts = changes.map(({ system_start }) => system_start).sort();
    const first = starts[0]!;
    const last = starts.at(-1)!;
    const rows = selectRows.all(
      key,
      first,
      first,
      last,
      key,
      first,
      last,
    ) as unknown as readonly RowRead[];
    const byStart = Map.groupBy(rows, (row) => row.system_start);
    // Each object is released with its change: all objects of a partition could exceed the memory.
    const said = (row: RowRead) => ({
      ...row,
      object: selectObject.get(row.n)!['object'] as string,
    });
    return ({ system_start }) => ({ partition, rows: (byStart.get(system_start) ?? []).map(said) });
  };
  const textsOf = (key: number, texts: Texts | undefined, seen: Set<string>): NewText[] => {
    if (texts === undefined || isErasedText(texts.partition.subject)) return [];
    const { space, subject, predicate } = texts.partition;
    return texts.rows.flatMap((row) => {
      const { content, audit, object } = row;
      const day = dayOf(row);
      const name = `${content} ${audit} ${day}`;
      if (seen.has(name) || object === erasedText(content)) return [];
      seen.add(name);
      if (selectText.get({ key, content: Buffer.from(content, 'hex'), audit, day }) !== undefined)
        return [];
      const { asserted_from } = row;
      const row_kind = audit === 0 ? 'current' : 'audit';
      const words = wordsOfDocument({ subject, predicate, object, asserted_from, row_kind });
      return [{ key, partition: { space, subject, predicate }, content, audit, day, words }];
    });
  };
  return function* (all, written = new Map()) {
    for (const [key, changes] of Map.groupBy(all, (change) => change.key)) {
      const seen = new Set<string>();
      let reading: ReturnType<typeof read> | undefined;
      for (const change of changes) {
        let texts = written.get(change.n);
        if (texts === undefined) {
          reading ??= read(key, changes);
          texts = reading(change);
        }
        yield { change, texts: textsOf(key, texts, seen) };
      }
    }
  };
}

/** A row as it is read, without its object. */
type RowRead = Omit<TextColumns, 'object'> & { readonly n: number; readonly system_start: string };
