/**
 * What finds entries and blobs by their hashes is kept outside of the commits, by `hash-index.ts`. Hashes are in no order: in an index
 * that each commit adds to, nearly every one of them dirties a page of its own, which was two thirds of all that a commit wrote.
 *
 * `entry_index` and `blob_index` have the rows up to `through`, and, where some are being moved, those up to `run_to` whose prefix is less than
 * `next`. `prefix` is the first 31 bits of the hash: rows are looked at anyway. That no two rows have the same hash is seen to by the writer, the only one at a time. Positions name rows also after VACUUM.
 */
export const hashIndex = `
CREATE TABLE entry_0008 (
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

INSERT INTO entry_0008 (position, trajectory, seq, id, parent, kind, payload)
  SELECT position, trajectory, seq, id, parent, kind, payload FROM entry ORDER BY position;
DROP TABLE entry;
ALTER TABLE entry_0008 RENAME TO entry;

CREATE TABLE blob_0008 (
  position INTEGER PRIMARY KEY,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  text TEXT NOT NULL,
  erased_by BLOB CHECK (erased_by IS NULL OR (length(erased_by) = 32 AND text = ''))
) STRICT;

INSERT INTO blob_0008 (hash, text, erased_by) SELECT hash, text, erased_by FROM blob ORDER BY rowid;
DROP TABLE blob;
ALTER TABLE blob_0008 RENAME TO blob;
CREATE INDEX blob_erased ON blob (erased_by) WHERE erased_by IS NOT NULL;

CREATE TABLE hash_index (
  name TEXT PRIMARY KEY,
  through INTEGER NOT NULL CHECK (through >= 0),
  run_to INTEGER CHECK (run_to > through),
  next INTEGER NOT NULL CHECK (next >= 0)
) STRICT, WITHOUT ROWID;

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

INSERT INTO entry_index (prefix, position) SELECT hash_prefix(id), position FROM entry ORDER BY 1, 2;
INSERT INTO blob_index (prefix, position) SELECT hash_prefix(hash), position FROM blob ORDER BY 1, 2;
INSERT INTO hash_index (name, through, next) SELECT 'entry', coalesce(max(position), 0), 0 FROM entry;
INSERT INTO hash_index (name, through, next) SELECT 'blob', coalesce(max(position), 0), 0 FROM blob;
`;
