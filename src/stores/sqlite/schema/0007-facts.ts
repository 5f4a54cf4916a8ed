/**
 * What is believed, clustered by partition: a change then dirties the page of the partition and one or two with its rows, wherever else
 * rows are, and nothing that is in no order. In a partition, rows stand by their end in system time and then by their beginning in
 * valid time: what is believed now is found by one look, and what was believed then is among those that ended later. Periods are
 * texts of one width, because their open ends lie outside of every type of date.
 *
 * `several` is 1 from when a partition first had a row of a predicate with several values: as long as it is 0, one row at most
 * holds a point of both times. Of single-valued rows none overlaps another: no constraint of a table can say that, nor that
 * (fact_id, system_start) is the primary key within a space; the writer sees to both, the only one at a time. For the second there
 * is `fact_version`, which grows at its end, because system time does.
 *
 * `fact_claim_key` is one row: what the ids of claims are hashed with. No ledger has it.
 *
 * `fact_rebuild` is one row: how often facts were made anew, and whether they are whole.
 */
export const facts = `
CREATE TABLE fact_partition (
  key INTEGER PRIMARY KEY,
  space TEXT NOT NULL,
  subject TEXT NOT NULL,
  predicate TEXT NOT NULL,
  names BLOB NOT NULL CHECK (length(names) = 32),
  names_bytes INTEGER NOT NULL CHECK (names_bytes >= 0),
  version INTEGER NOT NULL CHECK (version > 0),
  latest TEXT NOT NULL,
  several INTEGER NOT NULL CHECK (several IN (0, 1)),
  UNIQUE (space, subject, predicate)
) STRICT;

CREATE TABLE fact (
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
  PRIMARY KEY (key, audit, system_end, valid_from, fact_id, system_start),
  CHECK (valid_from < valid_to),
  CHECK (system_start < system_end)
) STRICT, WITHOUT ROWID;

CREATE TABLE fact_version (
  system_start TEXT NOT NULL,
  fact_id TEXT NOT NULL,
  key INTEGER NOT NULL,
  PRIMARY KEY (system_start, fact_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE fact_claim_key (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  key BLOB NOT NULL CHECK (length(key) BETWEEN 16 AND 64)
) STRICT;

CREATE TABLE fact_rebuild (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  run INTEGER NOT NULL CHECK (run >= 0),
  whole INTEGER NOT NULL CHECK (whole IN (0, 1))
) STRICT;

INSERT INTO fact_rebuild (one, run, whole) VALUES (1, 0, 1);

CREATE VIEW facts AS
SELECT f.fact_id, p.subject, p.predicate, f.object, f.valid_from, f.valid_to,
  f.system_start AS system_time_start, f.system_end AS system_time_end, f.provenance AS provenance_id, f.confidence,
  f.strategy AS resolution_strategy_id, CASE f.audit WHEN 0 THEN 'current' ELSE 'audit' END AS row_kind
FROM fact AS f JOIN fact_partition AS p ON p.key = f.key;
`;
