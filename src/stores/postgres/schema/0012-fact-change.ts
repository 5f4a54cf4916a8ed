import { OPEN_END } from '#memory';
import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * A change of facts is taken apart once, and its parts are given on. Each look into a text of JSON reads all of it: done wherever a part
 * was needed, that was a fifth of what a contradiction takes on the server. Texts are written by the keys that their partitions have by
 * then, with plans that are made once.
 */
export const factChange: string = `
CREATE TYPE fact_change AS (run bigint, present json, partitions json, close json, insert json, texts json);

DROP FUNCTION lock_facts(json), write_facts(json, bigint[]), write_fact_rows(json, bigint[]), write_texts(json);

/* The keys of the partitions of a change, in their order and locked; null for those that are new. */
CREATE FUNCTION lock_facts(change fact_change) RETURNS bigint[]
LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  keys bigint[];
  is_stale boolean;
BEGIN
  PERFORM FROM fact_partition AS p
  WHERE p.hash = ANY (ARRAY (SELECT decode(x.hash, 'hex') FROM json_to_recordset(change.partitions) AS x (hash text)))
  ORDER BY p.hash FOR UPDATE;
  -- Another statement: it sees what others have committed while the first one waited.
  SELECT array_agg(p.key ORDER BY x.n), bool_or(coalesce(p.version, 0) <> x.before) INTO keys, is_stale
  FROM json_to_recordset(change.partitions) AS x (n int, hash text, before bigint)
  LEFT JOIN fact_partition AS p ON p.hash = decode(x.hash, 'hex');
  -- What was remembered and not asked names the rebuilding that it is from.
  IF is_stale OR change.run <> (SELECT r.run FROM fact_rebuild AS r) OR EXISTS (
    SELECT FROM blob AS b
    WHERE b.hash = ANY (ARRAY (SELECT decode(x.hash, 'hex') FROM json_array_elements_text(change.present) AS x (hash)))
    AND b.erased_by IS NOT NULL
  ) THEN
    RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN keys;
END
$$;

/* Texts of partitions that are there, each once; n is the place of the partition's key. */
CREATE FUNCTION write_texts(texts json, keys bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
  INSERT INTO fact_text_space (hash)
  SELECT DISTINCT p.space_hash FROM unnest(keys) AS x (key) JOIN fact_partition AS p ON p.key = x.key
  WHERE NOT EXISTS (SELECT FROM fact_text_space AS s WHERE s.hash = p.space_hash)
  ORDER BY p.space_hash
  ON CONFLICT DO NOTHING;

  INSERT INTO fact_text (key, space, content, audit, day, length, words)
  SELECT p.key, s.space, decode(x.content, 'hex'), x.audit, x.day, x.length, (
    SELECT coalesce(string_agg('''' || s.space || '_' || (w ->> 0) || ''':' || (w ->> 1), ' '), '') FROM json_array_elements(x.words) AS w
  )::tsvector
  FROM json_to_recordset(texts) AS x (n int, content text, audit boolean, day text, length int, words json)
  JOIN fact_partition AS p ON p.key = keys[x.n]
  JOIN fact_text_space AS s ON s.hash = p.space_hash
  ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION write_facts(change fact_change, keys bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  closed bigint;
BEGIN
  UPDATE fact_partition AS p SET version = x.version, latest = x.latest, several = x.several
  FROM (
    SELECT found.ctid, y.version, y.latest, y.several
    FROM json_to_recordset(change.partitions) AS y (n int, version bigint, latest text, several boolean)
    CROSS JOIN LATERAL (SELECT q.ctid FROM fact_partition AS q WHERE q.key = keys[y.n] OFFSET 0) AS found
  ) AS x
  WHERE p.ctid = x.ctid;

  IF array_position(keys, NULL) IS NOT NULL THEN
    INSERT INTO fact_partition (hash, space_hash, space, branch, subject, predicate, names, names_bytes, version, latest,
      several, since)
    SELECT decode(x.hash, 'hex'), sha256(convert_to(x.space, 'UTF8')), x.space, x.branch, x.subject, x.predicate, decode(x.names, 'hex'),
      x.bytes, x.version, x.latest, x.several, x.since
    FROM json_to_recordset(change.partitions) AS x (n int, hash text, space text, branch text, subject text, predicate text,
      names text, bytes bigint, version bigint, latest text, several boolean, since text)
    WHERE keys[x.n] IS NULL ORDER BY decode(x.hash, 'hex');

    keys := (
      SELECT array_agg(coalesce(keys[x.n], p.key) ORDER BY x.n)
      FROM json_to_recordset(change.partitions) AS x (n int, hash text)
      LEFT JOIN fact_partition AS p ON p.hash = decode(x.hash, 'hex')
    );
  END IF;

  UPDATE fact AS f SET system_end = x.until
  FROM (
    SELECT found.ctid, y.until
    FROM json_to_recordset(change.close) AS y (n int, fact_id text, start text, valid_from text, until text)
    CROSS JOIN LATERAL (
      SELECT g.ctid FROM fact AS g
      WHERE g.key = keys[y.n] AND NOT g.audit AND g.system_end = '${OPEN_END}' AND g.valid_from = y.valid_from
        AND g.fact_id = y.fact_id AND g.system_start = y.start OFFSET 0
    ) AS found
  ) AS x
  WHERE f.ctid = x.ctid;
  GET DIAGNOSTICS closed = ROW_COUNT;
  IF closed <> json_array_length(change.close) THEN
    RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
  END IF;

  INSERT INTO fact (id, key, audit, system_start, system_end, valid_from, valid_to, fact_id, content, content_bytes, confidence,
    seq, asserted_seq, asserted_from, single, strategy, entry, lineage, resolution, provenance, object)
  SELECT sha256(convert_to(fact_branch(x.branch) || octet_length(x.fact_id) || ' ' || x.fact_id || x.start || x.space, 'UTF8')), keys[x.n], x.audit,
    x.start, x.until, x.valid_from, x.valid_to, x.fact_id, decode(x.content, 'hex'), x.bytes, x.confidence, x.seq, x.asserted_seq,
    x.asserted_from, x.single, x.strategy, decode(x.entry, 'hex'), x.lineage, x.resolution, x.provenance, x.object
  FROM json_to_recordset(change.insert) AS x (n int, space text, branch text, audit boolean, start text, until text, valid_from text,
    valid_to text, fact_id text, content text, bytes bigint, confidence double precision, seq bigint, asserted_seq bigint,
    asserted_from text, single boolean, strategy text, entry text, lineage text, resolution text, provenance text, object text);

  IF json_array_length(change.texts) > 0 THEN
    PERFORM write_texts(change.texts, keys);
  END IF;
EXCEPTION WHEN unique_violation THEN
  -- A partition or a version that was not there when it was asked for.
  RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
END
$$;

CREATE OR REPLACE FUNCTION append_facts(
  names text[], head_seqs bigint[], head_ids bytea[],
  places int[], seqs bigint[], ids bytea[], parents bytea[], kinds text[], payloads text[],
  hashes bytea[], texts text[],
  keys bytea[], answers text[], ats text[],
  tell boolean,
  erased bytea[], erasers bytea[],
  tenures bigint[],
  begun bigint[], trajectories text[], bodies text[],
  assumed bigint[], counts bigint[],
  epochs bigint[], positions bigint[], records text[],
  marks bytea[], mark_epochs bigint[], ns bigint[],
  ended bigint[],
  asked bigint[], asked_marks bytea[],
  acts boolean, facts json,
  OUT refused json, OUT kept json
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
  change fact_change := json_populate_record(NULL::fact_change, facts);
  partitions bigint[];
BEGIN
  IF acts THEN
    PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_tenure'::regclass::oid::int4);
  END IF;
  IF cardinality(erased) > 0 THEN
    PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  END IF;
  IF NOT (SELECT r.whole FROM fact_rebuild AS r) THEN
    RAISE EXCEPTION 'facts are being made anew' USING ERRCODE = 'serialization_failure';
  END IF;
  partitions := lock_facts(change);
  IF acts THEN
    SELECT a.refused, a.kept INTO refused, kept FROM append_effects(
      names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell,
      erased, erasers, tenures, begun, trajectories, bodies, assumed, counts, epochs, positions, records,
      marks, mark_epochs, ns, ended, asked, asked_marks
    ) AS a;
  ELSIF cardinality(erased) > 0 THEN
    SELECT a.refused, a.kept INTO refused, kept FROM append_erasing(
      names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell,
      erased, erasers
    ) AS a;
  ELSE
    SELECT a.refused, a.kept INTO refused, kept FROM append(
      names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell
    ) AS a;
  END IF;
  IF refused IS NULL THEN
    PERFORM write_facts(change, partitions);
    IF cardinality(erased) > 0 THEN
      PERFORM erase_facts(erased);
    END IF;
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION take_in_facts(mine bigint, part bigint, facts json) RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  state fact_rebuild;
  change fact_change := json_populate_record(NULL::fact_change, facts);
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  SELECT * INTO state FROM fact_rebuild;
  IF state.run <> mine THEN
    RETURN false;
  END IF;
  IF state.parts < part THEN
    PERFORM write_facts(change, lock_facts(change));
    UPDATE fact_rebuild SET parts = part;
  END IF;
  RETURN true;
END
$$;
`;
