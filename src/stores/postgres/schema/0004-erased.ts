import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * A blob that was erased keeps its row, without its text: so it is never taken in again. `erased_by` is the entry that says so.
 * The index is for counting them.
 *
 * `append_erasing` is `append` (0001) for a group that also erases: blobs, and the entries that erase them. What was erased
 * must not live on in snapshots: they go with it, and `put_snapshot` puts none whose fold began with fewer erasures.
 */
export const erased: string = `
ALTER TABLE blob ADD COLUMN erased_by BYTEA CHECK (erased_by IS NULL OR (octet_length(erased_by) = 32 AND text = ''));

CREATE INDEX blob_erased ON blob (erased_by) WHERE erased_by IS NOT NULL;

CREATE FUNCTION append_erasing(
  names text[], head_seqs bigint[], head_ids bytea[],
  places int[], seqs bigint[], ids bytea[], parents bytea[], kinds text[], payloads text[],
  hashes bytea[], texts text[],
  keys bytea[], answers text[], ats text[],
  tell boolean,
  erased bytea[], erasers bytea[],
  OUT refused json, OUT kept json
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
  -- Waits for those who are putting a snapshot; who comes later sees what was erased.
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  SELECT a.refused, a.kept INTO refused, kept FROM append(
    names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell
  ) AS a;
  IF refused IS NOT NULL THEN
    RETURN;
  END IF;
  INSERT INTO blob AS b (hash, text, erased_by)
  SELECT DISTINCT ON (x.hash) x.hash, '', x.eraser FROM unnest(erased, erasers) WITH ORDINALITY AS x (hash, eraser, n)
  ORDER BY x.hash, x.n
  ON CONFLICT (hash) DO UPDATE SET text = '', erased_by = excluded.erased_by WHERE b.erased_by IS NULL;
  DELETE FROM snapshot;
END
$$;

CREATE FUNCTION put_snapshot(key bigint, at bigint, sum bytea, said text, erasures bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  INSERT INTO snapshot (trajectory, seq, hash, text)
  SELECT key, at, sum, said
  WHERE key IS NOT NULL AND (SELECT count(*) FROM blob WHERE erased_by IS NOT NULL) = erasures
  ON CONFLICT (trajectory) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, text = excluded.text;
END
$$;
`;
