/** Snapshots of folded trajectories, one each: a cache, beside the ledger and no part of it. */
export const snapshots = `
CREATE TABLE snapshot (
  trajectory BIGINT PRIMARY KEY,
  seq BIGINT NOT NULL CHECK (seq >= 0),
  hash BYTEA NOT NULL CHECK (octet_length(hash) = 32),
  text TEXT COLLATE "C" NOT NULL
);
`;
