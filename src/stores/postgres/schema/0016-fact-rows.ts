import { OPEN_END } from '#memory';
import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * A change of facts comes as rows, each a value of one of these types, and no longer as one text of JSON, which was a fifth of what
 * contradictions of many writers took on the server: to read a text of JSON is to make a table of each of its objects.
 *
 * What is looked up before a change is written, is looked up in one statement each: by `append` trajectories and their heads, and by
 * `lock_facts` what is there of partitions. To begin a statement takes longer than to find a row. For the same reason functions are called
 * in assignments where they answer something, which begins no statement.
 *
 * As before, each row is looked up for itself, by an index, so that no plan that was made on empty tables can begin at the wrong end.
 */
export const factRows: string = `
CREATE TYPE fact_partition_row AS (n int, hash text, before bigint, space text, branch text, subject text, predicate text, names text,
  bytes bigint, version bigint, latest text, several boolean, since text);
CREATE TYPE fact_close_row AS (n int, fact_id text, start text, valid_from text, until text);
CREATE TYPE fact_insert_row AS (n int, space text, branch text, audit boolean, start text, until text, valid_from text, valid_to text,
  fact_id text, content text, bytes bigint, confidence double precision, seq bigint, asserted_seq bigint, asserted_from text,
  single boolean, strategy text, entry text, lineage text, resolution text, provenance text, object text);
/* words: each as ' @word':1,2 of a tsvector, with @ in place of the number of the space. */
CREATE TYPE fact_text_row AS (n int, content text, audit boolean, day text, length int, words text);

/*
 * whole: whether facts are. Of the partitions of a change, in their order: their keys, null for those that are new, and the numbers of their
 * spaces, null for those without texts.
 */
CREATE TYPE fact_locked AS (whole boolean, keys bigint[], spaces bigint[]);

DROP FUNCTION append_facts, take_in_facts, lock_facts, write_facts, write_texts;
DROP TYPE fact_change;

CREATE OR REPLACE FUNCTION append(
  names text[], head_seqs bigint[], head_ids bytea[],
  places int[], seqs bigint[], ids bytea[], parents bytea[], kinds text[], payloads text[],
  hashes bytea[], texts text[],
  keys bytea[], answers text[], ats text[],
  tell boolean,
  OUT refused json, OUT kept json
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
-- Plans are made once a connection, perhaps when the tables are still empty; each row is always looked up by an index.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  trajectories bigint[];
  is_outrun boolean;
BEGIN
  -- Shows that this append is under way, before it takes places in the order of the store (0002).
  PERFORM pg_advisory_xact_lock_shared(${APPLICATION_ID}, 'entry'::regclass::oid::int4);
  BEGIN
    -- Each head on its own, by the whole of its index: joined, the planner may read all of a trajectory for it.
    SELECT array_agg(found.key ORDER BY x.n), bool_or(coalesce(found.seq, -1) <> x.seq OR found.id IS DISTINCT FROM x.id)
    INTO trajectories, is_outrun
    FROM unnest(names, head_seqs, head_ids) WITH ORDINALITY AS x (name, seq, id, n)
    LEFT JOIN LATERAL (
      SELECT t.key, head.seq, head.id FROM trajectory AS t
      LEFT JOIN LATERAL (
        SELECT e.seq, e.id FROM entry AS e WHERE e.trajectory = t.key ORDER BY e.seq DESC LIMIT 1
      ) AS head ON true
      WHERE t.hash = sha256(convert_to(x.name, 'UTF8')) OFFSET 0
    ) AS found ON true;
    IF is_outrun THEN
      RAISE unique_violation;
    END IF;

    IF -1 = ANY (head_seqs) THEN
      INSERT INTO trajectory (key, hash, name)
      SELECT x.key, x.hash, x.name FROM (
        SELECT nextval('trajectory_key_seq') AS key, sha256(convert_to(g.name, 'UTF8')) AS hash, g.name
        FROM unnest(names, head_seqs) WITH ORDINALITY AS g (name, seq, n) WHERE g.seq = -1 ORDER BY g.n
      ) AS x
      ORDER BY x.hash ON CONFLICT DO NOTHING;

      SELECT array_agg((SELECT t.key FROM trajectory AS t WHERE t.hash = sha256(convert_to(x.name, 'UTF8'))) ORDER BY x.n)
      INTO trajectories FROM unnest(names) WITH ORDINALITY AS x (name, n);
    END IF;

    INSERT INTO entry (position, trajectory, seq, id, parent, kind, payload)
    SELECT x.position, x.trajectory, x.seq, x.id, x.parent, x.kind, x.payload FROM (
      SELECT nextval('entry_position_seq') AS position, trajectories[g.place] AS trajectory,
        g.seq, g.id, g.parent, g.kind, g.payload
      FROM unnest(places, seqs, ids, parents, kinds, payloads) WITH ORDINALITY
        AS g (place, seq, id, parent, kind, payload, n)
      ORDER BY g.n
    ) AS x
    ORDER BY x.trajectory, x.seq;

    IF cardinality(hashes) > 0 THEN
      INSERT INTO blob (hash, text)
      SELECT x.hash, x.text FROM unnest(hashes, texts) AS x (hash, text) ORDER BY x.hash ON CONFLICT DO NOTHING;
    END IF;

    IF cardinality(keys) > 0 THEN
      INSERT INTO oracle (key, answer, at)
      SELECT x.key, x.answer, x.at FROM unnest(keys, answers, ats) AS x (key, answer, at)
      ORDER BY x.key ON CONFLICT DO NOTHING;
    END IF;
  EXCEPTION WHEN unique_violation THEN
    SELECT json_build_object(
      'heads', (
        SELECT json_agg(json_build_array(coalesce(head.seq, -1), encode(head.id, 'hex')) ORDER BY x.n)
        FROM unnest(names) WITH ORDINALITY AS x (name, n)
        LEFT JOIN trajectory AS t ON t.hash = sha256(convert_to(x.name, 'UTF8'))
        LEFT JOIN LATERAL (
          SELECT e.seq, e.id FROM entry AS e WHERE e.trajectory = t.key ORDER BY e.seq DESC LIMIT 1
        ) AS head ON true
      ),
      'taken', (SELECT json_agg(encode(e.id, 'hex')) FROM entry AS e WHERE e.id = ANY (ids))
    ) INTO refused;
    RETURN;
  END;

  IF cardinality(keys) > 0 THEN
    SELECT json_agg(
      CASE WHEN o.answer <> x.answer OR o.at <> x.at THEN json_build_array(o.answer, o.at) END ORDER BY x.n
    ) INTO kept
    FROM unnest(keys, answers, ats) WITH ORDINALITY AS x (key, answer, at, n) JOIN oracle AS o ON o.key = x.key;
  END IF;

  -- Told with the commit: what is told is there to be read, and no commit goes untold. A payload takes 7,999 bytes; of a
  -- longer name only that there is something new.
  IF tell THEN
    PERFORM pg_notify(current_schema(), CASE WHEN octet_length(x.name) < 7900 THEN x.seq || ' ' || x.name ELSE '' END)
    FROM (SELECT names[g.place] AS name, max(g.seq) AS seq FROM unnest(places, seqs) AS g (place, seq) GROUP BY g.place) AS x;
  END IF;
END
$$;

/*
 * Locks the partitions of a change that are there. rebuilding: the one that it was judged by; null where the server was asked. present:
 * texts that must not be erased, as none is while the lock of those who erase is held (0008).
 *
 * They come in the order of their hashes and are locked in it, so that two groups wait for each other one way only. A row that is locked
 * is read as it is once nobody else has it. A partition that comes to be meanwhile is met where the change writes it.
 */
CREATE FUNCTION lock_facts(rebuilding bigint, present bytea[], partitions fact_partition_row[]) RETURNS fact_locked
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
    SELECT array_agg(p.key ORDER BY x.n), array_agg(s.space ORDER BY x.n), bool_or(coalesce(p.version, 0) <> x.before)
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

/* Texts of partitions that are there, each once; n is the place of the partition's key. spaces: as locked, or null where they may be gone. */
CREATE FUNCTION write_texts(texts fact_text_row[], keys bigint[], spaces bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
  IF spaces IS NULL OR array_position(spaces, NULL) IS NOT NULL THEN
    INSERT INTO fact_text_space (hash)
    SELECT DISTINCT p.space_hash FROM unnest(keys) AS x (key) JOIN fact_partition AS p ON p.key = x.key
    WHERE NOT EXISTS (SELECT FROM fact_text_space AS s WHERE s.hash = p.space_hash)
    ORDER BY p.space_hash
    ON CONFLICT DO NOTHING;

    SELECT array_agg(s.space ORDER BY x.n) INTO spaces
    FROM unnest(keys) WITH ORDINALITY AS x (key, n)
    JOIN fact_partition AS p ON p.key = x.key JOIN fact_text_space AS s ON s.hash = p.space_hash;
  END IF;

  INSERT INTO fact_text (key, space, content, audit, day, length, words)
  SELECT keys[x.n], spaces[x.n], decode(x.content, 'hex'), x.audit, x.day, x.length,
    replace(x.words, ' ''@', ' ''' || spaces[x.n] || '_')::tsvector
  FROM unnest(texts) AS x
  ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION write_facts(
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
  ) AS x
  WHERE p.ctid = x.ctid;

  IF array_position(keys, NULL) IS NOT NULL THEN
    INSERT INTO fact_partition (hash, space_hash, space, branch, subject, predicate, names, names_bytes, version, latest,
      several, since)
    SELECT decode(x.hash, 'hex'), sha256(convert_to(x.space, 'UTF8')), x.space, x.branch, x.subject, x.predicate, decode(x.names, 'hex'),
      x.bytes, x.version, x.latest, x.several, x.since
    FROM unnest(partitions) AS x WHERE keys[x.n] IS NULL ORDER BY decode(x.hash, 'hex');

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

/* append, for a group that also changes facts and does nothing else: parameters that nothing is given in take their time, too. */
CREATE FUNCTION append_facts(
  names text[], head_seqs bigint[], head_ids bytea[],
  places int[], seqs bigint[], ids bytea[], parents bytea[], kinds text[], payloads text[],
  hashes bytea[], texts text[],
  keys bytea[], answers text[], ats text[],
  tell boolean,
  rebuilding bigint, present bytea[],
  partitions fact_partition_row[], closed fact_close_row[], inserted fact_insert_row[], fact_texts fact_text_row[],
  OUT refused json, OUT kept json
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
  locked fact_locked;
  answer record;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  locked := lock_facts(rebuilding, present, partitions);
  IF NOT locked.whole THEN
    RAISE EXCEPTION 'facts are being made anew' USING ERRCODE = 'serialization_failure';
  END IF;
  answer := append(
    names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell
  );
  refused := answer.refused;
  kept := answer.kept;
  IF refused IS NULL THEN
    PERFORM write_facts(partitions, closed, inserted, fact_texts, locked);
  END IF;
END
$$;

/* For a group that changes facts, and acts (append_effects, 0006) or erases (append_erasing, 0008). Locks are taken in one order. */
CREATE FUNCTION append_facts_and_more(
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
  acts boolean,
  rebuilding bigint, present bytea[],
  partitions fact_partition_row[], closed fact_close_row[], inserted fact_insert_row[], fact_texts fact_text_row[],
  OUT refused json, OUT kept json
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
  locked fact_locked;
  answer record;
BEGIN
  IF acts THEN
    PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_tenure'::regclass::oid::int4);
  END IF;
  IF cardinality(erased) > 0 THEN
    PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  END IF;
  locked := lock_facts(rebuilding, present, partitions);
  IF NOT locked.whole THEN
    RAISE EXCEPTION 'facts are being made anew' USING ERRCODE = 'serialization_failure';
  END IF;
  IF acts THEN
    answer := append_effects(
      names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell,
      erased, erasers, tenures, begun, trajectories, bodies, assumed, counts, epochs, positions, records,
      marks, mark_epochs, ns, ended, asked, asked_marks
    );
  ELSE
    answer := append_erasing(
      names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell,
      erased, erasers
    );
  END IF;
  refused := answer.refused;
  kept := answer.kept;
  IF refused IS NULL THEN
    -- Of a space that loses its texts the number goes.
    IF cardinality(erased) > 0 THEN
      locked.spaces := NULL;
    END IF;
    PERFORM write_facts(partitions, closed, inserted, fact_texts, locked);
    IF cardinality(erased) > 0 THEN
      PERFORM erase_facts(erased);
    END IF;
  END IF;
END
$$;

/* One part of a rebuilding; false where another one has begun meanwhile. A part that is in already is not taken in again. */
CREATE FUNCTION take_in_facts(
  mine bigint, part bigint, rebuilding bigint, present bytea[],
  partitions fact_partition_row[], closed fact_close_row[], inserted fact_insert_row[], fact_texts fact_text_row[]
) RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  state fact_rebuild;
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  SELECT * INTO state FROM fact_rebuild;
  IF state.run <> mine THEN
    RETURN false;
  END IF;
  IF state.parts < part THEN
    PERFORM write_facts(partitions, closed, inserted, fact_texts, lock_facts(rebuilding, present, partitions));
    UPDATE fact_rebuild SET parts = part;
  END IF;
  RETURN true;
END
$$;
`;
