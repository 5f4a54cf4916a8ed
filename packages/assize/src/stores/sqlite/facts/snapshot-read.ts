import type { DatabaseSync } from 'node:sqlite';
import type { VectorSearch } from '../../options.ts';
import type { FactAnswers } from '../../read-snapshot.ts';
import { FactReader } from './facts.ts';
import { RankedRows } from './ranked-rows.ts';
import { TextReader } from './text-reader.ts';
import { VectorReader } from './vector-reader.ts';

/**
 * The facts in one snapshot, from this call until the connection is closed. `path` names the store
 * in errors.
 */
export function snapshotReads(db: DatabaseSync, path: string, vectors: VectorSearch): FactAnswers {
  db.exec('BEGIN');
  const facts = new FactReader(db, path, { isHeld: true });
  // A transaction holds its snapshot only after the first read.
  facts.atOneMoment(() => undefined);
  const rows = new RankedRows(db);
  const byText = new TextReader(db, facts, rows);
  const byVector = new VectorReader(db, facts, rows, vectors);
  return {
    facts: (query) => facts.facts(query),
    branchPartitions: (query) => facts.branchPartitions(query),
    factsByText: (query) => byText.byText(query),
    factsByVector: (query) => byVector.byVector(query),
  };
}
