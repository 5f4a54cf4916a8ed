/** Of a row: what tells many values from each other that began at once. Ids begin with a hash, and a whole one would double the index. */
export const ID_START = 'substr(fact_id, 1, 8)';

/**
 * Versions stand in the order in which they were written, and are found by an index of four of their columns and the start of their id.
 * Clustered by partition, eight of them filled a page, and eight a page of the tree above: each change had pages divided and evened out,
 * and so wrote five where it now writes three. What ends is changed where it stands, in as many bytes, and moves in the index alone.
 *
 * That (fact_id, system_start) is there once is said by `fact_version`. The pages of the table before stay in the file, for what comes.
 */
export const rowsInOrder = `
DROP VIEW facts;

CREATE TABLE fact_row (
  n INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  audit INTEGER NOT NULL CHECK (audit IN (0, 1)),
  system_end TEXT NOT NULL,
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
  CHECK (valid_from < valid_to),
  CHECK (system_start < system_end)
) STRICT;

INSERT INTO fact_row (key, audit, system_end, valid_from, fact_id, system_start, content, content_bytes, valid_to, confidence, seq,
  asserted_seq, asserted_from, single, strategy, entry, lineage, resolution, provenance, object, long)
SELECT key, audit, system_end, valid_from, fact_id, system_start, content, content_bytes, valid_to, confidence, seq,
  asserted_seq, asserted_from, single, strategy, entry, lineage, resolution, provenance, object, long
FROM fact ORDER BY system_start, key, audit, valid_from, fact_id;

DROP TABLE fact;
ALTER TABLE fact_row RENAME TO fact;
CREATE INDEX fact_time ON fact (key, audit, system_end, valid_from, ${ID_START});

CREATE VIEW facts AS
SELECT f.fact_id, p.subject, p.predicate,
  CASE WHEN f.long IS NULL THEN f.object ELSE (SELECT text FROM fact_object WHERE id = f.long) END AS object,
  f.valid_from, f.valid_to, f.system_start AS system_time_start, f.system_end AS system_time_end, f.provenance AS provenance_id,
  f.confidence, f.strategy AS resolution_strategy_id, CASE f.audit WHEN 0 THEN 'current' ELSE 'audit' END AS row_kind
FROM fact AS f JOIN fact_partition AS p ON p.key = f.key WHERE p.branch = '';
`;
