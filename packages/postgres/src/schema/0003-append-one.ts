/**
 * The append of a lone entry. The statements never change once they are released. They run as those
 * of `0001-schema.ts`.
 */
export const appendOne = `
-- Writes one entry after its parent, without anything else: the commit of a lone caller. Returns
-- false and writes nothing if the parent is not the head, or if the server's time is before
-- not_before. Fails with unique_violation if another writer commits first, or if the id is taken. The caller then asks
-- append(), which says why. It has no block that catches errors, because each takes a
-- subtransaction.
--
-- tell: whether the commit notifies followers of the new head.
CREATE FUNCTION append_one(
  named text, at_seq bigint, new_id bytea, parent_id bytea, new_kind text, new_payload text, tell boolean, not_before text
) RETURNS boolean
LANGUAGE plpgsql
SET search_path FROM CURRENT
SET enable_seqscan = off
AS $$
DECLARE
  place bigint;
BEGIN
  IF to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') COLLATE "C" < not_before THEN
    RETURN false;
  END IF;
  -- Before the entry takes its position: log_horizon waits for this lock.
  PERFORM pg_advisory_xact_lock_shared(1095981637, 'entry'::regclass::oid::int4);
  SELECT t.key INTO place FROM trajectory AS t WHERE t.hash = sha256(convert_to(named, 'UTF8'));
  PERFORM FROM entry AS e WHERE e.trajectory = place AND e.seq = at_seq - 1 AND e.id = parent_id;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  -- Another writer was first. The insert would fail, and leave a dead row and a line in the log.
  PERFORM FROM entry AS e WHERE e.trajectory = place AND e.seq = at_seq;
  IF FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO entry (trajectory, seq, id, parent, kind, payload)
  VALUES (place, at_seq, new_id, parent_id, new_kind, new_payload);
  PERFORM FROM entry AS e WHERE e.id = new_id;
  IF NOT FOUND THEN
    PERFORM refuse_partial_write();
  END IF;
  IF tell THEN
    PERFORM pg_notify(current_schema(), CASE WHEN octet_length(named) < 7900 THEN at_seq || ' ' || named ELSE '' END);
  END IF;
  RETURN true;
END
$$;
`;
