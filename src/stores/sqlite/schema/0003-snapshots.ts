/** Snapshots of folded trajectories, one each: a cache, beside the ledger and no part of it. */
export const snapshots = `
CREATE TABLE snapshot (
  trajectory INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL CHECK (seq >= 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  text TEXT NOT NULL
) STRICT;
`;
