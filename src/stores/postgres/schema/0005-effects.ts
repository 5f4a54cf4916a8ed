import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * The effect log. `effect_open` has the epochs of transactions that have not ended. `effect_tenure` is one row: the fence of the
 * tenure that was given last.
 *
 * Every change of these tables is made under one lock, so that what a write is judged by is what is there when it commits, and
 * nothing is written under a tenure once another was given. Only those who write effects wait for each other there.
 */
export const effects: string = `
CREATE TABLE effect_tenure (
  fence BIGINT NOT NULL CHECK (fence >= 0)
);

INSERT INTO effect_tenure (fence) VALUES (0);

CREATE TABLE effect_transaction (
  epoch BIGINT PRIMARY KEY CHECK (epoch > 0),
  trajectory TEXT COLLATE "C" NOT NULL,
  body TEXT COLLATE "C" NOT NULL
);

CREATE TABLE effect_open (
  epoch BIGINT PRIMARY KEY
);

CREATE TABLE effect_record (
  epoch BIGINT NOT NULL,
  place BIGINT NOT NULL CHECK (place >= 0),
  record TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (epoch, place)
);

CREATE TABLE effect_key (
  key BYTEA PRIMARY KEY CHECK (octet_length(key) = 32),
  epoch BIGINT NOT NULL,
  n BIGINT NOT NULL CHECK (n >= 0)
);

/* Begins a tenure, durably: a server that forgot it in a crash would give the same fence twice. */
CREATE FUNCTION hold_effects(OUT given bigint, OUT last_epoch bigint)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_tenure'::regclass::oid::int4);
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  UPDATE effect_tenure SET fence = fence + 1 RETURNING fence INTO given;
  SELECT coalesce(max(t.epoch), 0) INTO last_epoch FROM effect_transaction AS t;
END
$$;

/*
 * append (0001) or append_erasing (0004), for a group that also writes effects.
 *
 * tenure: under which all of it is written. begun, trajectories, bodies: transactions that must not be there. assumed, counts:
 * transactions that must be open, with so many records where that is said. epochs, positions, records: what is added to
 * them. marks, mark_epochs, ns: keys that must not be there. ended: epochs. asked, asked_marks: transactions and keys
 * that the writer has to know more of before it can say what is to be written.
 *
 * refused: as ever; or, under effects, what is there of all that was named, where it is not what the writer took it for.
 */
CREATE FUNCTION append_effects(
  names text[], head_seqs bigint[], head_ids bytea[],
  places int[], seqs bigint[], ids bytea[], parents bytea[], kinds text[], payloads text[],
  hashes bytea[], texts text[],
  keys bytea[], answers text[], ats text[],
  tell boolean,
  erased bytea[], erasers bytea[],
  tenure bigint,
  begun bigint[], trajectories text[], bodies text[],
  assumed bigint[], counts bigint[],
  epochs bigint[], positions bigint[], records text[],
  marks bytea[], mark_epochs bigint[], ns bigint[],
  ended bigint[], asked bigint[], asked_marks bytea[],
  OUT refused json, OUT kept json
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_tenure'::regclass::oid::int4);
  IF cardinality(asked) > 0
    OR (SELECT t.fence FROM effect_tenure AS t) <> tenure
    OR EXISTS (SELECT FROM unnest(begun) AS x (epoch) JOIN effect_transaction AS t ON t.epoch = x.epoch)
    OR EXISTS (SELECT FROM unnest(marks) AS x (key) JOIN effect_key AS k ON k.key = x.key)
    OR EXISTS (
      SELECT FROM unnest(assumed, counts) AS x (epoch, count)
      WHERE NOT EXISTS (SELECT FROM effect_open AS o WHERE o.epoch = x.epoch)
        OR x.count <> (SELECT coalesce(max(r.place) + 1, 0) FROM effect_record AS r WHERE r.epoch = x.epoch)
    )
  THEN
    SELECT json_build_object('effects', json_build_object(
      'fence', (SELECT t.fence FROM effect_tenure AS t),
      'keys', (
        SELECT json_agg(json_build_array(encode(k.key, 'hex'), k.epoch, k.n))
        FROM (SELECT DISTINCT unnest(marks || asked_marks) AS key) AS x JOIN effect_key AS k ON k.key = x.key
      ),
      'transactions', (
        SELECT json_agg(json_build_array(x.epoch, t.trajectory, t.body,
          EXISTS (SELECT FROM effect_open AS o WHERE o.epoch = x.epoch),
          (SELECT json_agg(r.record ORDER BY r.place) FROM effect_record AS r WHERE r.epoch = x.epoch)))
        FROM (SELECT DISTINCT unnest(begun || assumed || asked) AS epoch) AS x
        LEFT JOIN effect_transaction AS t ON t.epoch = x.epoch
      )
    )) INTO refused;
    RETURN;
  END IF;

  IF cardinality(erased) > 0 THEN
    SELECT a.refused, a.kept INTO refused, kept FROM append_erasing(
      names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell,
      erased, erasers
    ) AS a;
  ELSE
    SELECT a.refused, a.kept INTO refused, kept FROM append(
      names, head_seqs, head_ids, places, seqs, ids, parents, kinds, payloads, hashes, texts, keys, answers, ats, tell
    ) AS a;
  END IF;
  IF refused IS NOT NULL THEN
    RETURN;
  END IF;

  INSERT INTO effect_transaction (epoch, trajectory, body) SELECT * FROM unnest(begun, trajectories, bodies);
  INSERT INTO effect_open (epoch) SELECT x.epoch FROM unnest(begun) AS x (epoch) WHERE x.epoch <> ALL (ended);
  INSERT INTO effect_record (epoch, place, record) SELECT * FROM unnest(epochs, positions, records);
  INSERT INTO effect_key (key, epoch, n) SELECT * FROM unnest(marks, mark_epochs, ns);
  IF cardinality(ended) > 0 THEN
    DELETE FROM effect_open AS o WHERE o.epoch = ANY (ended);
  END IF;
END
$$;
`;
