/**
 * A blob that was erased keeps its row, without its text: so it is never taken in again. `erased_by` is the entry that says so.
 * The index is for counting them.
 *
 * `append_erasing` is `append` (0001) for a group that also erases: blobs, and the entries that erase them. What was erased
 * must not live on in snapshots: they go with it, and because TRUNCATE waits for those who are putting one, and they for it,
 * one that was folded before is not put any more after.
 */
export const erased = `
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
  TRUNCATE snapshot;
END
$$;
`;
