import { OPEN_END, OPEN_START } from '#memory';

/**
 * Memory of branches: a partition has the branch that it is of, which is empty where it is shared, and until when it has what the
 * branch's source had. `hash` covers the branch where there is one. A version is unique within a space, or within a branch of it: the
 * text that `id` is made of begins with the branch, and where it is shared with a digit, as it did.
 *
 * The functions of 0008 that look rows up are so written now that no plan can begin at the wrong end. Plans are made once a connection,
 * perhaps when the tables are still empty, and kept: joined freely, the planner then reads all that is believed to find the one row that
 * a change closes. Here each row is looked up for itself, by an index, and what is found is changed where it stands.
 *
 * The view has what is shared, as it had. A partition whose names are erased is of no branch any more: its name is its own.
 */
export const branches: string = `
ALTER TABLE fact_partition
  ADD COLUMN branch TEXT COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN since TEXT COLLATE "C" NOT NULL DEFAULT '${OPEN_START}';

CREATE INDEX fact_partition_branches ON fact_partition (left(branch, 200)) WHERE branch <> '';

CREATE OR REPLACE VIEW facts AS
SELECT f.fact_id, p.subject, p.predicate, f.object, f.valid_from, f.valid_to,
  f.system_start AS system_time_start, f.system_end AS system_time_end, f.provenance AS provenance_id, f.confidence,
  f.strategy AS resolution_strategy_id, CASE WHEN f.audit THEN 'audit' ELSE 'current' END AS row_kind
FROM fact AS f JOIN fact_partition AS p ON p.key = f.key WHERE p.branch = '';

CREATE FUNCTION fact_branch(branch text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN branch = '' THEN '' ELSE 'branch ' || octet_length(branch) || ' ' || branch || ' ' END $$;

DROP FUNCTION fact_states(bytea[], bytea[], text[], text[], text[]);

CREATE FUNCTION fact_states(partitions bytea[], blobs bytea[], ids text[], starts text[], spaces text[], branches text[])
RETURNS json
LANGUAGE sql STABLE SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
  SELECT json_build_object(
    'whole', (SELECT r.whole FROM fact_rebuild AS r),
    'run', (SELECT r.run FROM fact_rebuild AS r),
    'parts', (SELECT r.parts FROM fact_rebuild AS r),
    'erased', (SELECT json_agg(encode(b.hash, 'hex')) FROM blob AS b WHERE b.hash = ANY (blobs) AND b.erased_by IS NOT NULL),
    'versions', (
      SELECT json_agg(x.n) FROM unnest(ids, starts, spaces, branches) WITH ORDINALITY AS x (fact_id, start, space, branch, n)
      CROSS JOIN LATERAL (
        SELECT FROM fact AS f
        WHERE f.id = sha256(convert_to(
          fact_branch(x.branch) || octet_length(x.fact_id) || ' ' || x.fact_id || x.start || x.space, 'UTF8')) OFFSET 0
      ) AS found
    ),
    'partitions', (
      SELECT json_agg(json_build_array(encode(p.hash, 'hex'), encode(p.names, 'hex'), p.names_bytes, p.version, p.latest, p.several, p.since, (
        SELECT json_agg(json_build_array(f.fact_id, f.system_start, f.valid_from, f.valid_to)) FROM fact AS f
        WHERE f.key = p.key AND NOT f.audit AND f.system_end = '${OPEN_END}')))
      FROM fact_partition AS p WHERE p.hash = ANY (partitions)
    )
  )
$$;

CREATE OR REPLACE FUNCTION lock_facts(facts json) RETURNS bigint[]
LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  keys bigint[];
  is_stale boolean;
BEGIN
  PERFORM FROM fact_partition AS p
  WHERE p.hash = ANY (ARRAY (SELECT decode(x.hash, 'hex') FROM json_to_recordset(facts -> 'partitions') AS x (hash text)))
  ORDER BY p.hash FOR UPDATE;
  -- Another statement: it sees what others have committed while the first one waited.
  SELECT array_agg(p.key ORDER BY x.n), bool_or(coalesce(p.version, 0) <> x.before) INTO keys, is_stale
  FROM json_to_recordset(facts -> 'partitions') AS x (n int, hash text, before bigint)
  LEFT JOIN fact_partition AS p ON p.hash = decode(x.hash, 'hex');
  -- What was remembered and not asked names the rebuilding that it is from.
  IF is_stale OR (facts ->> 'run')::bigint <> (SELECT r.run FROM fact_rebuild AS r) OR EXISTS (
    SELECT FROM blob AS b
    WHERE b.hash = ANY (ARRAY (SELECT decode(x.hash, 'hex') FROM json_array_elements_text(facts -> 'present') AS x (hash)))
    AND b.erased_by IS NOT NULL
  ) THEN
    RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN keys;
END
$$;

CREATE OR REPLACE FUNCTION write_facts(facts json, keys bigint[]) RETURNS void
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
    FROM json_to_recordset(facts -> 'partitions') AS y (n int, version bigint, latest text, several boolean)
    CROSS JOIN LATERAL (SELECT q.ctid FROM fact_partition AS q WHERE q.key = keys[y.n] OFFSET 0) AS found
  ) AS x
  WHERE p.ctid = x.ctid;

  IF array_position(keys, NULL) IS NOT NULL THEN
    INSERT INTO fact_partition (hash, space_hash, space, branch, subject, predicate, names, names_bytes, version, latest,
      several, since)
    SELECT decode(x.hash, 'hex'), sha256(convert_to(x.space, 'UTF8')), x.space, x.branch, x.subject, x.predicate, decode(x.names, 'hex'),
      x.bytes, x.version, x.latest, x.several, x.since
    FROM json_to_recordset(facts -> 'partitions') AS x (n int, hash text, space text, branch text, subject text, predicate text,
      names text, bytes bigint, version bigint, latest text, several boolean, since text)
    WHERE keys[x.n] IS NULL ORDER BY decode(x.hash, 'hex');

    keys := (
      SELECT array_agg(coalesce(keys[x.n], p.key) ORDER BY x.n)
      FROM json_to_recordset(facts -> 'partitions') AS x (n int, hash text)
      LEFT JOIN fact_partition AS p ON p.hash = decode(x.hash, 'hex')
    );
  END IF;

  UPDATE fact AS f SET system_end = x.until
  FROM (
    SELECT found.ctid, y.until
    FROM json_to_recordset(facts -> 'close') AS y (n int, fact_id text, start text, valid_from text, until text)
    CROSS JOIN LATERAL (
      SELECT g.ctid FROM fact AS g
      WHERE g.key = keys[y.n] AND NOT g.audit AND g.system_end = '${OPEN_END}' AND g.valid_from = y.valid_from
        AND g.fact_id = y.fact_id AND g.system_start = y.start OFFSET 0
    ) AS found
  ) AS x
  WHERE f.ctid = x.ctid;
  GET DIAGNOSTICS closed = ROW_COUNT;
  IF closed <> json_array_length(facts -> 'close') THEN
    RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
  END IF;

  INSERT INTO fact (id, key, audit, system_start, system_end, valid_from, valid_to, fact_id, content, content_bytes, confidence,
    seq, asserted_seq, asserted_from, single, strategy, entry, lineage, resolution, provenance, object)
  SELECT sha256(convert_to(fact_branch(x.branch) || octet_length(x.fact_id) || ' ' || x.fact_id || x.start || x.space, 'UTF8')), keys[x.n], x.audit,
    x.start, x.until, x.valid_from, x.valid_to, x.fact_id, decode(x.content, 'hex'), x.bytes, x.confidence, x.seq, x.asserted_seq,
    x.asserted_from, x.single, x.strategy, decode(x.entry, 'hex'), x.lineage, x.resolution, x.provenance, x.object
  FROM json_to_recordset(facts -> 'insert') AS x (n int, space text, branch text, audit boolean, start text, until text, valid_from text,
    valid_to text, fact_id text, content text, bytes bigint, confidence double precision, seq bigint, asserted_seq bigint,
    asserted_from text, single boolean, strategy text, entry text, lineage text, resolution text, provenance text, object text);
EXCEPTION WHEN unique_violation THEN
  -- A partition or a version that was not there when it was asked for.
  RAISE EXCEPTION 'facts have changed since they were read' USING ERRCODE = 'serialization_failure';
END
$$;

CREATE OR REPLACE FUNCTION erase_facts(erased bytea[]) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
  UPDATE fact AS f SET object = '{"$erased":"' || encode(f.content, 'hex') || '"}' WHERE f.content = ANY (erased);
  UPDATE fact_partition AS p SET space = x.text, branch = '', since = '${OPEN_START}', subject = x.text, predicate = x.text,
    space_hash = sha256(convert_to(x.text, 'UTF8')),
    hash = sha256(convert_to('[' || x.quoted || ',' || x.quoted || ',' || x.quoted || ']', 'UTF8'))
  FROM (
    SELECT q.key, '{"$erased":"' || encode(q.names, 'hex') || '"}' AS text,
      E'"{\\\\"$erased\\\\":\\\\"' || encode(q.names, 'hex') || E'\\\\"}"' AS quoted
    FROM fact_partition AS q WHERE q.names = ANY (erased)
  ) AS x WHERE p.key = x.key;
  UPDATE fact AS f SET id = sha256(convert_to(octet_length(f.fact_id) || ' ' || f.fact_id || f.system_start || p.space, 'UTF8'))
  FROM fact_partition AS p WHERE p.names = ANY (erased) AND f.key = p.key;
END
$$;
`;
