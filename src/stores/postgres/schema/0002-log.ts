import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * The Merkle log over all entries. `log` gives an entry its place; `entry` is its `position`. `log_node` keeps the hashes of
 * full subtrees above the leaves, so that a proof is read in a few rows and nothing is hashed again.
 */
export const log = `
CREATE TABLE log (
  idx BIGINT PRIMARY KEY CHECK (idx >= 0),
  entry BIGINT NOT NULL UNIQUE,
  leaf BYTEA NOT NULL CHECK (octet_length(leaf) = 32)
);

CREATE TABLE log_node (
  level INTEGER NOT NULL CHECK (level > 0),
  idx BIGINT NOT NULL CHECK (idx >= 0),
  hash BYTEA NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (level, idx)
);

CREATE VIEW append_under_way AS
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'advisory' AND classid = ${APPLICATION_ID} AND objid = 'entry'::regclass AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database());

/*
 * A position up to which nothing can be committed any more: the last one that was taken so far, once every append that was
 * under way then has ended. Those that begin meanwhile are not held up.
 */
CREATE FUNCTION log_horizon() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  horizon bigint;
  under_way text[];
BEGIN
  -- In this order: whoever took a place up to it held the lock before.
  SELECT last_value INTO horizon FROM entry_position_seq;
  under_way := (SELECT array_agg(virtualtransaction) FROM append_under_way);
  WHILE EXISTS (SELECT FROM append_under_way WHERE virtualtransaction = ANY (under_way)) LOOP
    PERFORM pg_sleep(0.002);
  END LOOP;
  RETURN horizon;
END
$$;

/*
 * Gives the entries with these ids the next places; false, and nothing written, unless the log has that size. Of two that
 * do so at once, the primary key of log lets one through.
 */
CREATE FUNCTION integrate(
  size bigint, ids bytea[], leaves bytea[], levels int[], indexes bigint[], nodes bytea[]
) RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
  IF (SELECT coalesce(max(idx) + 1, 0) FROM log) <> size THEN
    RETURN false;
  END IF;
  INSERT INTO log (idx, entry, leaf)
  SELECT size + x.n - 1, (SELECT e.position FROM entry AS e WHERE e.id = x.id), x.leaf
  FROM unnest(ids, leaves) WITH ORDINALITY AS x (id, leaf, n) ORDER BY x.n;
  INSERT INTO log_node (level, idx, hash) SELECT * FROM unnest(levels, indexes, nodes);
  RETURN true;
EXCEPTION WHEN unique_violation THEN
  RETURN false;
END
$$;
`;
