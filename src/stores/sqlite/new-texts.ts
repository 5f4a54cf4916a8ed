import type { DatabaseSync } from 'node:sqlite';
import type { Hash, PartitionName } from '#ledger';
import { dayOf, documentOf, wordsOf } from '#memory';
import { isErasedText } from '../facts.ts';
import { OBJECT } from './facts.ts';

/** A text that facts are found by, before it is indexed. */
export interface NewText {
  readonly key: number;
  readonly partition: PartitionName;
  readonly content: Hash;
  readonly audit: 0 | 1;
  readonly day: string;
  readonly text: string;
  readonly words: readonly string[];
}

/** What is waiting in `fact_text_queue`. */
export interface Queued {
  readonly n: number;
  readonly key: number;
  readonly system_start: string;
}

/**
 * The texts of changes that are not indexed yet, each once; of what was erased there are none. Of a partition that changes often only
 * rows are read that are open or ended since the first of these changes.
 */
export function prepareNewTexts(db: DatabaseSync): (changes: readonly Queued[]) => NewText[] {
  const selectPartition = db.prepare('SELECT space, subject, predicate FROM fact_partition WHERE key = ?');
  const columns = `lower(hex(f.content)) AS content, f.audit, f.asserted_from, ${OBJECT} AS object`;
  const selectRows = db.prepare(`
    SELECT ${columns} FROM fact AS f WHERE f.key = ?1 AND f.audit = 0 AND f.system_end > ?2 AND f.system_start >= ?2
    UNION ALL SELECT ${columns} FROM fact AS f WHERE f.key = ?1 AND f.audit = 1 AND f.system_start >= ?2`);
  const selectText = db.prepare(
    'SELECT 1 FROM fact_text WHERE key = ? AND content = unhex(?) AND audit = ? AND day = ?',
  );
  return (changes) => {
    const starts = new Map<number, string>();
    for (const { key, system_start } of changes) {
      const known = starts.get(key);
      if (known === undefined || system_start < known) starts.set(key, system_start);
    }
    const found: NewText[] = [];
    for (const [key, start] of starts) {
      const named = selectPartition.get(key) as unknown as PartitionName | undefined;
      if (named === undefined || isErasedText(named.subject)) continue;
      const { space, subject, predicate } = named;
      const seen = new Set<string>();
      for (const row of selectRows.all(key, start) as unknown as readonly TextColumns[]) {
        const { content, audit, object } = row;
        const day = dayOf(row);
        const name = `${content} ${audit} ${day}`;
        if (seen.has(name) || isErasedText(object)) continue;
        seen.add(name);
        if (selectText.get(key, content, audit, day) !== undefined) continue;
        const text = documentOf({ ...row, subject, predicate, row_kind: audit === 0 ? 'current' : 'audit' });
        found.push({ key, partition: { space, subject, predicate }, content, audit, day, text, words: wordsOf(text) });
      }
    }
    return found;
  };
}

interface TextColumns {
  readonly content: Hash;
  readonly audit: 0 | 1;
  readonly asserted_from: string;
  readonly object: string;
}
