import { OPEN_END } from '#memory';
import { ID_START } from './0015-rows-in-order.ts';

/**
 * When a version ends stands in `fact_time` alone, which leads to it, and no row is written again where it stands. So a change of a partition
 * writes one page of what was there before, and adds the rest behind all others; it wrote that of the row that ends, and that of its
 * partition, as well. The version and the latest change of a partition are the greatest of what `fact_partition` has and of its open rows:
 * who changes a partition by a row that is open leaves the other alone.
 *
 * That no version ends before it begins is a trigger's, since a check sees one table. Row numbers stay.
 */
export const endsBesideRows: string = `
DROP VIEW facts;
DROP INDEX fact_time;

CREATE TABLE fact_time (
  key INTEGER NOT NULL,
  audit INTEGER NOT NULL CHECK (audit IN (0, 1)),
  system_end TEXT NOT NULL,
  valid_from TEXT NOT NULL,
  id_start TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (key, audit, system_end, valid_from, id_start, n)
) STRICT, WITHOUT ROWID;

INSERT INTO fact_time (key, audit, system_end, valid_from, id_start, n)
SELECT key, audit, system_end, valid_from, ${ID_START}, n FROM fact ORDER BY 1, 2, 3, 4, 5, 6;

CREATE TABLE fact_row (
  n INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  audit INTEGER NOT NULL CHECK (audit IN (0, 1)),
  valid_from TEXT NOT NULL,
  fact_id TEXT NOT NULL,
  system_start TEXT NOT NULL,
  content BLOB NOT NULL CHECK (length(content) = 32),
  content_bytes INTEGER NOT NULL CHECK (content_bytes >= 0),
  valid_to TEXT NOT NULL,
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  seq INTEGER NOT NULL CHECK (seq > 0),
  asserted_seq INTEGER NOT NULL CHECK (asserted_seq >= 0),
  asserted_from TEXT NOT NULL,
  single INTEGER NOT NULL CHECK (single IN (0, 1)),
  strategy TEXT NOT NULL,
  entry BLOB NOT NULL CHECK (length(entry) = 32),
  lineage TEXT NOT NULL,
  resolution TEXT,
  provenance TEXT NOT NULL,
  object TEXT NOT NULL,
  long INTEGER CHECK (long IS NULL OR object = ''),
  CHECK (valid_from < valid_to)
) STRICT;

INSERT INTO fact_row (n, key, audit, valid_from, fact_id, system_start, content, content_bytes, valid_to, confidence, seq,
  asserted_seq, asserted_from, single, strategy, entry, lineage, resolution, provenance, object, long)
SELECT n, key, audit, valid_from, fact_id, system_start, content, content_bytes, valid_to, confidence, seq,
  asserted_seq, asserted_from, single, strategy, entry, lineage, resolution, provenance, object, long
FROM fact ORDER BY n;

DROP TABLE fact;
ALTER TABLE fact_row RENAME TO fact;

CREATE TRIGGER fact_time_insert BEFORE INSERT ON fact_time WHEN new.system_end <> '${OPEN_END}'
BEGIN
  SELECT raise(ABORT, 'CHECK constraint failed: system_start < system_end') FROM fact WHERE n = new.n AND system_start >= new.system_end;
END;

CREATE TRIGGER fact_time_update BEFORE UPDATE ON fact_time
BEGIN
  SELECT raise(ABORT, 'CHECK constraint failed: system_start < system_end') FROM fact WHERE n = new.n AND system_start >= new.system_end;
END;

CREATE VIEW facts AS
SELECT f.fact_id, p.subject, p.predicate,
  CASE WHEN f.long IS NULL THEN f.object ELSE (SELECT text FROM fact_object WHERE id = f.long) END AS object,
  f.valid_from, f.valid_to, f.system_start AS system_time_start, e.system_end AS system_time_end, f.provenance AS provenance_id,
  f.confidence, f.strategy AS resolution_strategy_id, CASE f.audit WHEN 0 THEN 'current' ELSE 'audit' END AS row_kind
FROM fact_time AS e JOIN fact AS f ON f.n = e.n JOIN fact_partition AS p ON p.key = e.key WHERE p.branch = '';
`;
