/**
 * The Merkle log over all entries. `log` gives an entry its place; `entry` is the rowid `position` of the entry, which
 * grows in the order of commits, because SQLite has one writer at a time. `log_node` keeps the hashes of full subtrees above
 * the leaves, so that a proof is read in a few rows and nothing is hashed again.
 */
export const log = `
CREATE TABLE log (
  idx INTEGER PRIMARY KEY CHECK (idx >= 0),
  entry INTEGER NOT NULL UNIQUE,
  leaf BLOB NOT NULL CHECK (length(leaf) = 32)
) STRICT;

CREATE TABLE log_node (
  level INTEGER NOT NULL CHECK (level > 0),
  idx INTEGER NOT NULL CHECK (idx >= 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;
`;
