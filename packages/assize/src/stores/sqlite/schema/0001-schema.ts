/**
 * The schema of a SQLite store, as literal SQL without a value from the code: once released, the
 * statements never change. `schema.test.ts` checks the values that the code repeats.
 */
export const schema = `
-- Ledger: entries, blobs and oracle answers.

CREATE TABLE trajectory (
  key INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- New entries go to the end of the table, in the order of commits. A table clustered by
-- (trajectory, seq) took 2.5 times as long for groups from many trajectories. VACUUM keeps
-- "position". The writer keeps "id" unique; see "hash_index".
CREATE TABLE entry (
  position INTEGER PRIMARY KEY,
  trajectory INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 0),
  id BLOB NOT NULL CHECK (length(id) = 32),
  parent BLOB CHECK (length(parent) = 32),
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (trajectory, seq),
  CHECK ((parent IS NULL) = (seq = 0))
) STRICT;

-- An entry stays as it was written. An erasure changes blobs, answers and facts, and no entry.
CREATE TRIGGER entry_unchanged BEFORE UPDATE ON entry
BEGIN
  SELECT raise(ABORT, 'an entry cannot be changed. Append an entry that corrects it');
END;

CREATE TRIGGER entry_kept BEFORE DELETE ON entry
BEGIN
  SELECT raise(ABORT, 'an entry cannot be deleted. Erase its sensitive values with assize erase');
END;

-- Without "recursive_triggers", INSERT OR REPLACE deletes the earlier row without the trigger above.
CREATE TRIGGER entry_once BEFORE INSERT ON entry
WHEN EXISTS (SELECT 1 FROM entry WHERE position = new.position)
  OR EXISTS (SELECT 1 FROM entry WHERE trajectory = new.trajectory AND seq = new.seq)
BEGIN
  SELECT raise(ABORT, 'an entry cannot be replaced. Append an entry that corrects it');
END;

-- An erased blob keeps its row without its text, so the store never accepts the blob again.
-- "erased_by" is the id of the entry that erased the blob. The index counts erased blobs.
CREATE TABLE blob (
  position INTEGER PRIMARY KEY,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  text TEXT NOT NULL,
  erased_by BLOB CHECK (erased_by IS NULL OR (length(erased_by) = 32 AND text = ''))
) STRICT;

CREATE INDEX blob_erased ON blob (erased_by) WHERE erased_by IS NOT NULL;

-- An erased answer keeps its row without its text, as an erased blob does.
CREATE TABLE oracle (
  key BLOB NOT NULL UNIQUE CHECK (length(key) = 32),
  answer TEXT NOT NULL,
  at TEXT NOT NULL,
  erased_by BLOB CHECK (erased_by IS NULL OR (length(erased_by) = 32 AND answer = ''))
) STRICT;

-- Answers by the memory space or trajectory that asked, to find answers that no entry names.
CREATE TABLE oracle_within (
  within BLOB NOT NULL CHECK (length(within) = 32),
  key BLOB NOT NULL CHECK (length(key) = 32),
  PRIMARY KEY (within, key)
) STRICT, WITHOUT ROWID;

-- Entries and blobs by hash, in indexes that hash-index.ts fills in the background. Hashes have no
-- order: an index that each commit updates has nearly every hash of a commit on a page of its own.
-- Those pages were two thirds of the bytes that a commit wrote.
--
-- "entry_index" and "blob_index" have the rows up to "through". While a run moves into the index,
-- the index also has the rows up to "run_to" whose prefix is less than "next". "prefix" is the
-- first 31 bits of the hash. SQLite allows one writer at a time; the writer keeps hashes unique.
CREATE TABLE hash_index (
  name TEXT PRIMARY KEY,
  through INTEGER NOT NULL CHECK (through >= 0),
  run_to INTEGER CHECK (run_to > through),
  next INTEGER NOT NULL CHECK (next >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO hash_index (name, through, next) VALUES ('entry', 0, 0), ('blob', 0, 0);

CREATE TABLE entry_index (
  prefix INTEGER NOT NULL CHECK (prefix >= 0),
  position INTEGER NOT NULL,
  PRIMARY KEY (prefix, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_index (
  prefix INTEGER NOT NULL CHECK (prefix >= 0),
  position INTEGER NOT NULL,
  PRIMARY KEY (prefix, position)
) STRICT, WITHOUT ROWID;

-- The Merkle log over all entries. "idx" is the index of an entry in the log; "entry" is the
-- "position" of the entry.
CREATE TABLE log (
  idx INTEGER PRIMARY KEY CHECK (idx >= 0),
  entry INTEGER NOT NULL UNIQUE,
  leaf BLOB NOT NULL CHECK (length(leaf) = 32)
) STRICT;

-- Hashes of full subtrees above the leaves: a proof reads a few rows and hashes nothing again.
CREATE TABLE log_node (
  level INTEGER NOT NULL CHECK (level > 0),
  idx INTEGER NOT NULL CHECK (idx >= 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;

-- One snapshot of the folded state per trajectory: a cache, and no part of the ledger.
CREATE TABLE snapshot (
  trajectory INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL CHECK (seq >= 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  text TEXT NOT NULL
) STRICT;

-- One row with three counters: all erasures, the erasures before the last rewrite of the file, and
-- the erasures before the last truncation of the WAL. The counters outlive a crash, so opening the
-- store resumes the rest.
CREATE TABLE scrub (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  erasures INTEGER NOT NULL CHECK (erasures >= 0),
  rewritten INTEGER NOT NULL CHECK (rewritten BETWEEN 0 AND erasures),
  cut INTEGER NOT NULL CHECK (cut BETWEEN 0 AND rewritten)
) STRICT;

INSERT INTO scrub (one, erasures, rewritten, cut) VALUES (1, 0, 0, 0);

-- A row after the store was retired: its entries go on in another store, and no process writes to
-- this one.
CREATE TABLE retired (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;

-- Where the store calls tools. The last row with a place names the file that acts; a copy of the
-- file is at another place. A row with a root lets the store act for an imported trajectory.
CREATE TABLE adoption (
  n INTEGER PRIMARY KEY,
  root BLOB CHECK (root IS NULL OR length(root) = 32),
  place TEXT CHECK ((place IS NULL) <> (root IS NULL)),
  at TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;

-- The side log: rows that are no part of the ledger. A write gives the row a new version, which no
-- row had before.
CREATE TABLE side (
  version INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind <> ''),
  key TEXT NOT NULL CHECK (key <> ''),
  body TEXT NOT NULL,
  UNIQUE (kind, key)
) STRICT;

-- Effect log.

-- One row: the fence of the last lease.
CREATE TABLE effect_tenure (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  fence INTEGER NOT NULL CHECK (fence >= 0)
) STRICT;

INSERT INTO effect_tenure (one, fence) VALUES (1, 0);

-- "first" is the first record of a transaction. Most transactions have one record more, which
-- settles the transaction: a row for each record would double the pages that a group writes.
CREATE TABLE effect_transaction (
  epoch INTEGER PRIMARY KEY CHECK (epoch > 0),
  trajectory TEXT NOT NULL,
  body TEXT NOT NULL,
  first TEXT
) STRICT;

-- The epochs of open transactions: a small table, which saves a second write to the row of each
-- transaction.
CREATE TABLE effect_open (
  epoch INTEGER PRIMARY KEY
) STRICT;

-- Clustered by epoch: records of young transactions share a few pages at the end.
CREATE TABLE effect_record (
  epoch INTEGER NOT NULL,
  place INTEGER NOT NULL CHECK (place >= 0),
  record TEXT NOT NULL,
  PRIMARY KEY (epoch, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE effect_key (
  key BLOB PRIMARY KEY CHECK (length(key) = 32),
  epoch INTEGER NOT NULL,
  n INTEGER NOT NULL CHECK (n >= 0)
) STRICT, WITHOUT ROWID;

-- Facts. Periods are strings of one width, because their open ends lie outside of every date type.

-- "branch" is empty for shared facts. A branch inherits the facts of its source up to "since".
-- "several" becomes 1 with the first row of a multi-valued predicate: while "several" is 0, at most
-- one row covers a point of both times.
--
-- The version of a partition is the greatest of "version" and of the "seq" of its open rows; the
-- time of its latest change follows the same rule. So a change that leaves an open row does not
-- write this table.
CREATE TABLE fact_partition (
  key INTEGER PRIMARY KEY,
  space TEXT NOT NULL,
  branch TEXT NOT NULL,
  subject TEXT NOT NULL,
  predicate TEXT NOT NULL,
  names BLOB NOT NULL CHECK (length(names) = 32),
  names_bytes INTEGER NOT NULL CHECK (names_bytes >= 0),
  version INTEGER NOT NULL CHECK (version > 0),
  latest TEXT NOT NULL,
  several INTEGER NOT NULL CHECK (several IN (0, 1)),
  since TEXT NOT NULL CHECK (since >= '0000-01-01T00:00:00.000000Z'),
  UNIQUE (space, branch, subject, predicate)
) STRICT;

-- The versions of facts, in the order of writing. The end of a version is in "fact_time", so the
-- store never writes a version again in place: a change dirties one page of older rows.
CREATE TABLE fact (
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

-- Long objects, which "fact.long" names. Short objects are in their rows.
CREATE TABLE fact_object (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

-- Versions by partition, end in system time and start in valid time. One search finds the current
-- facts; facts as of an earlier time are among the versions with a later end. "id_start" is the
-- start of the fact id, and separates facts that start together. A whole id would double the table.
CREATE TABLE fact_time (
  key INTEGER NOT NULL,
  audit INTEGER NOT NULL CHECK (audit IN (0, 1)),
  system_end TEXT NOT NULL,
  valid_from TEXT NOT NULL,
  id_start TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (key, audit, system_end, valid_from, id_start, n)
) STRICT, WITHOUT ROWID;

-- The primary key of versions within a space. The table grows at its end, as system time does.
CREATE TABLE fact_version (
  system_start TEXT NOT NULL,
  fact_id TEXT NOT NULL,
  key INTEGER NOT NULL,
  PRIMARY KEY (system_start, fact_id, key)
) STRICT, WITHOUT ROWID;

-- One row: the key that hashes the ids of claims. No ledger contains the key.
CREATE TABLE fact_claim_key (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  key BLOB NOT NULL CHECK (length(key) BETWEEN 16 AND 64)
) STRICT;

-- One row. Facts are "whole" if they are "made" and not "awaited". "made" is 0 during a rebuild.
-- An import of entries without their facts sets "awaited". "run" counts rebuilds.
CREATE TABLE fact_rebuild (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  run INTEGER NOT NULL CHECK (run >= 0),
  whole INTEGER NOT NULL CHECK (whole IN (0, 1)),
  made INTEGER NOT NULL DEFAULT 1 CHECK (made IN (0, 1)),
  awaited INTEGER NOT NULL DEFAULT 0 CHECK (awaited IN (0, 1))
) STRICT;

INSERT INTO fact_rebuild (one, run, whole) VALUES (1, 0, 1);

-- A version ends after its start. Triggers check the rule, because a CHECK reads one table.
CREATE TRIGGER fact_time_insert BEFORE INSERT ON fact_time WHEN new.system_end <> '9999-12-31T00:00:00.000000Z'
BEGIN
  SELECT raise(ABORT, 'CHECK constraint failed: system_start < system_end') FROM fact WHERE n = new.n AND system_start >= new.system_end;
END;

CREATE TRIGGER fact_time_update BEFORE UPDATE ON fact_time
BEGIN
  SELECT raise(ABORT, 'CHECK constraint failed: system_start < system_end') FROM fact WHERE n = new.n AND system_start >= new.system_end;
END;

-- Current single-valued facts of a partition never overlap. The writer checks the rule first; the
-- triggers also reject a write that bypasses the store. Multi-valued rows may overlap any row,
-- because their predicate may have been single-valued before. Among rows without overlap, the last
-- row that starts before an instant is the last row that ends: one search by "fact_time" decides.
--
-- A fact counts once its time is in "fact_time". A time without its fact is rejected.
CREATE TRIGGER fact_time_apart BEFORE INSERT ON fact_time WHEN new.audit = 0 AND new.system_end = '9999-12-31T00:00:00.000000Z'
BEGIN
  SELECT CASE WHEN f.n IS NULL THEN raise(ABORT, 'FOREIGN KEY constraint failed: a time comes after its fact')
    ELSE raise(ABORT, 'EXCLUDE constraint failed: facts that are believed overlap, where there is one value at a time') END
  FROM (SELECT 1) LEFT JOIN fact AS f ON f.n = new.n
  WHERE f.n IS NULL OR (f.single = 1 AND (
    SELECT o.valid_to FROM fact_time AS e CROSS JOIN fact AS o ON o.n = e.n
    WHERE e.key = new.key AND e.audit = 0 AND e.system_end = '9999-12-31T00:00:00.000000Z'
      AND e.valid_from < f.valid_to AND o.single = 1
    ORDER BY e.valid_from DESC LIMIT 1
  ) > new.valid_from);
END;

CREATE TRIGGER fact_time_apart_again BEFORE UPDATE ON fact_time
WHEN new.audit = 0 AND new.system_end = '9999-12-31T00:00:00.000000Z'
BEGIN
  SELECT raise(ABORT, 'EXCLUDE constraint failed: facts that are believed overlap, where there is one value at a time')
  FROM fact AS f
  WHERE f.n = new.n AND f.single = 1 AND (
    SELECT o.valid_to FROM fact_time AS e CROSS JOIN fact AS o ON o.n = e.n
    WHERE e.key = new.key AND e.audit = 0 AND e.system_end = '9999-12-31T00:00:00.000000Z'
      AND e.valid_from < f.valid_to AND o.single = 1 AND e.n <> old.n
    ORDER BY e.valid_from DESC LIMIT 1
  ) > new.valid_from;
END;

CREATE TRIGGER fact_apart BEFORE UPDATE OF n, valid_to, single ON fact WHEN new.single = 1
BEGIN
  SELECT raise(ABORT, 'EXCLUDE constraint failed: facts that are believed overlap, where there is one value at a time')
  FROM fact_time AS t
  WHERE t.key = new.key AND t.audit = 0 AND t.system_end = '9999-12-31T00:00:00.000000Z' AND t.n = new.n AND (
    SELECT o.valid_to FROM fact_time AS e CROSS JOIN fact AS o ON o.n = e.n
    WHERE e.key = t.key AND e.audit = 0 AND e.system_end = '9999-12-31T00:00:00.000000Z'
      AND e.valid_from < new.valid_to AND o.single = 1 AND e.n <> old.n
    ORDER BY e.valid_from DESC LIMIT 1
  ) > t.valid_from;
END;

CREATE TRIGGER fact_partition_onwards BEFORE UPDATE OF version, latest ON fact_partition
WHEN new.version < old.version OR new.latest < old.latest
BEGIN
  SELECT raise(ABORT, 'CHECK constraint failed: a partition goes on from its version and its latest change');
END;

-- The shared facts, for programs that read the file themselves.
CREATE VIEW facts AS
SELECT f.fact_id, p.subject, p.predicate,
  CASE WHEN f.long IS NULL THEN f.object ELSE (SELECT text FROM fact_object WHERE id = f.long) END AS object,
  f.valid_from, f.valid_to, f.system_start AS system_time_start, e.system_end AS system_time_end, f.provenance AS provenance_id,
  f.confidence, f.strategy AS resolution_strategy_id, CASE f.audit WHEN 0 THEN 'current' ELSE 'audit' END AS row_kind
FROM fact_time AS e JOIN fact AS f ON f.n = e.n JOIN fact_partition AS p ON p.key = e.key WHERE p.branch = '';

-- Texts: the search index of facts. A rebuild of facts drops these tables and creates them again
-- (fact-texts.ts).

-- Changes whose texts are not in the index yet, in the order of commits.
CREATE TABLE fact_text_queue (
  n INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  system_start TEXT NOT NULL
) STRICT;

CREATE TABLE fact_text_space (
  space INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  texts INTEGER NOT NULL CHECK (texts > 0),
  words INTEGER NOT NULL CHECK (words >= 0)
) STRICT;

-- A text belongs to a claim and not to a version: (key, content, audit, day) names the text, and
-- closing a version leaves the text unchanged. The writer keeps the names unique. A unique index of
-- whole names was a third of the bytes that a contradiction wrote.
CREATE TABLE fact_text (
  id INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  content BLOB NOT NULL CHECK (length(content) = 32),
  audit INTEGER NOT NULL CHECK (audit IN (0, 1)),
  day TEXT NOT NULL,
  space INTEGER NOT NULL,
  words INTEGER NOT NULL CHECK (words >= 0)
) STRICT;

CREATE INDEX fact_text_name ON fact_text (key, substr(content, 1, 2), unixepoch(day) / 86400);

-- FTS5 over the words that wordsOf() returns, each after the number of its space: a search of one
-- space reads and counts no text of another space. 'secure-delete' also removes the words of a
-- deleted text from the pages of the index, which PRAGMA secure_delete does not. Scores need no
-- positions, so "detail" is none.
CREATE VIRTUAL TABLE fact_words USING fts5(
  words, key UNINDEXED, length UNINDEXED, tokenize = "ascii tokenchars '_-.'", detail = none, columnsize = 0
);

INSERT INTO fact_words (fact_words, rank) VALUES ('secure-delete', 1);

CREATE VIRTUAL TABLE fact_word USING fts5vocab(fact_words, row);

CREATE TABLE fact_embedder (
  embedder INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL CHECK (dimensions > 0)
) STRICT;

-- Vectors have length one, so a cosine is a sum of products.
CREATE TABLE fact_vector (
  text INTEGER NOT NULL,
  embedder INTEGER NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (text, embedder)
) STRICT;
`;
