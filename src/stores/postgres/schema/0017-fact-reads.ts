import { OPEN_END } from '#memory';

/**
 * A change of facts can name partitions that it was planned on and leaves as they are: rows of `partitions` whose version stays, behind
 * those that change by `n`. They are locked and compared as those are, so that whoever changes one waits, and who else reads it.
 *
 * One that was not there, whose key is 0, is to stay so until the change is written, and a row that is not there can't be locked: it is
 * put in, in one order with those that are new, and taken out again, so that whoever makes it meanwhile waits.
 */
export const factReads: string = `
CREATE OR REPLACE FUNCTION lock_facts(rebuilding bigint, present bytea[], partitions fact_partition_row[]) RETURNS fact_locked
LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  locked fact_locked;
  is_stale boolean;
  is_erased boolean;
  current bigint;
BEGIN
  SELECT r.run, EXISTS (SELECT FROM blob AS b WHERE b.hash = ANY (present) AND b.erased_by IS NOT NULL), r.whole, there.*
  INTO current, is_erased, locked.whole, locked.keys, locked.spaces, is_stale
  FROM fact_rebuild AS r, (
    SELECT array_agg(CASE WHEN x.version = 0 THEN 0 ELSE p.key END ORDER BY x.n), array_agg(s.space ORDER BY x.n), bool_or(coalesce(p.version, 0) <> x.before)
    FROM unnest(partitions) AS x
    LEFT JOIN LATERAL (
      SELECT q.key, q.version, q.space_hash FROM fact_partition AS q WHERE q.hash = decode(x.hash, 'hex') FOR UPDATE
    ) AS p ON true
    LEFT JOIN LATERAL (SELECT t.space FROM fact_text_space AS t WHERE t.hash = p.space_hash OFFSET 0) AS s ON true
  ) AS there;
  IF is_stale OR is_erased OR rebuilding <> current THEN
    RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN locked;
END
$$;

CREATE OR REPLACE FUNCTION write_facts(
  partitions fact_partition_row[], closed fact_close_row[], inserted fact_insert_row[], texts fact_text_row[], locked fact_locked
) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  keys bigint[] := locked.keys;
  count bigint;
BEGIN
  UPDATE fact_partition AS p SET version = x.version, latest = x.latest, several = x.several
  FROM (
    SELECT found.ctid, y.version, y.latest, y.several
    FROM unnest(partitions) AS y
    CROSS JOIN LATERAL (SELECT q.ctid FROM fact_partition AS q WHERE q.key = keys[y.n] OFFSET 0) AS found
    WHERE y.version > y.before
  ) AS x
  WHERE p.ctid = x.ctid;

  IF array_position(keys, NULL) IS NOT NULL OR array_position(keys, 0) IS NOT NULL THEN
    INSERT INTO fact_partition (hash, space_hash, space, branch, subject, predicate, names, names_bytes, version, latest,
      several, since)
    SELECT decode(x.hash, 'hex'), sha256(convert_to(x.space, 'UTF8')), x.space, x.branch, x.subject, x.predicate, decode(x.names, 'hex'),
      x.bytes, greatest(x.version, 1), x.latest, x.several, x.since
    FROM unnest(partitions) AS x WHERE coalesce(keys[x.n], 0) = 0 ORDER BY decode(x.hash, 'hex');

    IF array_position(keys, 0) IS NOT NULL THEN
      DELETE FROM fact_partition AS p USING unnest(partitions) AS x
      WHERE keys[x.n] = 0 AND p.hash = decode(x.hash, 'hex');
    END IF;

    keys := (
      SELECT array_agg(coalesce(keys[x.n], p.key) ORDER BY x.n)
      FROM unnest(partitions) AS x LEFT JOIN fact_partition AS p ON p.hash = decode(x.hash, 'hex')
    );
  END IF;

  IF cardinality(closed) > 0 THEN
    UPDATE fact AS f SET system_end = x.until
    FROM (
      SELECT found.ctid, y.until
      FROM unnest(closed) AS y
      CROSS JOIN LATERAL (
        SELECT g.ctid FROM fact AS g
        WHERE g.key = keys[y.n] AND NOT g.audit AND g.system_end = '${OPEN_END}' AND g.valid_from = y.valid_from
          AND g.fact_id = y.fact_id AND g.system_start = y.start OFFSET 0
      ) AS found
    ) AS x
    WHERE f.ctid = x.ctid;
    GET DIAGNOSTICS count = ROW_COUNT;
    IF count <> cardinality(closed) THEN
      RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
    END IF;
  END IF;

  INSERT INTO fact (id, key, audit, system_start, system_end, valid_from, valid_to, fact_id, content, content_bytes, confidence,
    seq, asserted_seq, asserted_from, single, strategy, entry, lineage, resolution, provenance, object)
  SELECT sha256(convert_to(CASE WHEN x.branch = '' THEN '' ELSE fact_branch(x.branch) END
    || octet_length(x.fact_id)::text || ' ' || x.fact_id || x.start || x.space, 'UTF8')), keys[x.n], x.audit,
    x.start, x.until, x.valid_from, x.valid_to, x.fact_id, decode(x.content, 'hex'), x.bytes, x.confidence, x.seq, x.asserted_seq,
    x.asserted_from, x.single, x.strategy, decode(x.entry, 'hex'), x.lineage, x.resolution, x.provenance, x.object
  FROM unnest(inserted) AS x;

  IF cardinality(texts) > 0 THEN
    PERFORM write_texts(texts, keys, locked.spaces);
  END IF;
EXCEPTION WHEN unique_violation THEN
  -- A partition or a version that was not there when it was asked for.
  RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
END
$$;
`;
