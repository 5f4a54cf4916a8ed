import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * Members: several who work on the effects of a store at a time. `effect_member` has those under whose fence something may be written:
 * all members, or the one that has a tenure. `lock`: the number of an advisory lock that its connection holds as long as it lives;
 * `until`: the end of its lease; `heard`: up to which event.
 *
 * `effect_event` is what they have said of their live work, in one order, and `effect_count` the last number and the last epoch that
 * were given. These are not logged: a server that crashes has ended all connections and with them all members, who are fenced then
 * because they are not there any more, and whoever comes next finds what is open in the effect log, which is durable.
 *
 * What is said is said under one lock, and members are taken out under the lock of those who write effects too: so nobody writes
 * under a fence after that was taken over.
 */
export const members: string = `
CREATE UNLOGGED TABLE effect_member (
  fence BIGINT PRIMARY KEY,
  lock BIGINT NOT NULL,
  until TIMESTAMPTZ NOT NULL,
  heard BIGINT NOT NULL
);

CREATE UNLOGGED TABLE effect_event (
  seq BIGINT PRIMARY KEY,
  fence BIGINT NOT NULL,
  said TEXT COLLATE "C" NOT NULL,
  /* The epoch; of what was taken over, the fence that is gone. */
  number BIGINT NOT NULL,
  claims TEXT COLLATE "C"
);

CREATE INDEX effect_event_by_number ON effect_event (number, said);

CREATE UNLOGGED TABLE effect_count (
  seq BIGINT NOT NULL,
  epoch BIGINT NOT NULL
);

/* Whoever has a tenure now, of the time before members, goes on. */
INSERT INTO effect_member SELECT fence, 0, 'infinity', 0 FROM effect_tenure WHERE fence > 0;

DROP FUNCTION hold_effects;
DROP FUNCTION append_effects;

/* Raises the fence, durably: a server that forgot it in a crash would give the same one twice. */
CREATE FUNCTION raise_fence(OUT given bigint)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_tenure'::regclass::oid::int4);
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  UPDATE effect_tenure SET fence = fence + 1 RETURNING fence INTO given;
END
$$;

/* Begins a tenure, of who has the store to itself: it is the only member. */
CREATE FUNCTION hold_effects(OUT given bigint, OUT last_epoch bigint)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_event'::regclass::oid::int4);
  given := raise_fence();
  DELETE FROM effect_member;
  DELETE FROM effect_event;
  INSERT INTO effect_member VALUES (given, 0, 'infinity', 0);
  SELECT coalesce(max(t.epoch), 0) INTO last_epoch FROM effect_transaction AS t;
END
$$;

/* Gives the next number to something that was said. */
CREATE FUNCTION say_effect(mine bigint, said text, number bigint, claims text)
RETURNS void
LANGUAGE sql
SET search_path FROM CURRENT
AS $$
  WITH next AS (UPDATE effect_count SET seq = seq + 1 RETURNING seq)
  INSERT INTO effect_event SELECT next.seq, mine, said, number, claims FROM next;
$$;

/*
 * Takes over what is of members that have ended, or were not heard of for a lease. lost: somebody was a member until now. A tenure
 * (lock 0) has ended where somebody shares.
 */
CREATE FUNCTION take_over_effects(mine bigint, OUT lost boolean)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
  gone bigint;
  left_behind bigint[];
BEGIN
  lost := false;
  FOR gone IN
    SELECT m.fence FROM effect_member AS m
    WHERE m.fence <> mine AND (m.lock = 0 OR m.until < clock_timestamp() OR pg_try_advisory_xact_lock(m.lock))
  LOOP
    lost := true;
    PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_tenure'::regclass::oid::int4);
    DELETE FROM effect_member AS m WHERE m.fence = gone;
  END LOOP;
  FOR gone IN
    SELECT DISTINCT e.fence FROM effect_event AS e
    WHERE e.said <> 'taken' AND NOT EXISTS (SELECT FROM effect_member AS m WHERE m.fence = e.fence)
      AND NOT EXISTS (SELECT FROM effect_event AS x WHERE x.number = e.number AND x.said = 'ended')
  LOOP
    /* Who comes later hears of it as if it had been the new member's from the beginning. */
    left_behind := ARRAY(
      SELECT DISTINCT e.number FROM effect_event AS e
      WHERE e.fence = gone AND e.said = 'left'
        AND NOT EXISTS (SELECT FROM effect_event AS x WHERE x.number = e.number AND x.said IN ('own', 'ended') AND x.seq > e.seq)
      ORDER BY e.number
    );
    UPDATE effect_event SET fence = mine WHERE fence = gone;
    PERFORM say_effect(mine, 'taken', gone, NULL);
    /* It may have waited for a tool or for the store, and not for a person: that is tried again, and else it is left again. */
    PERFORM say_effect(mine, 'own', n, NULL) FROM unnest(left_behind) AS n;
  END LOOP;
END
$$;

/* On a connection of its own, which holds a lock of its own from now on: as long as that is held, the member is there. */
CREATE FUNCTION join_effects(lease_ms int, channel text, OUT mine bigint)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
  lock_key bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_event'::regclass::oid::int4);
  mine := raise_fence();
  lock_key := hashtextextended('assize member ' || current_schema() || ' ' || mine, 0);
  PERFORM pg_advisory_lock(lock_key);
  INSERT INTO effect_member VALUES (mine, lock_key, clock_timestamp() + lease_ms * interval '1 ms', 0);
  IF NOT EXISTS (SELECT FROM effect_count) THEN
    INSERT INTO effect_count VALUES (0, 0);
  END IF;
  UPDATE effect_count SET epoch = greatest(epoch, (SELECT coalesce(max(t.epoch), 0) FROM effect_transaction AS t));
  PERFORM take_over_effects(mine);
  PERFORM say_effect(mine, 'resumed', o.epoch, NULL) FROM (
    SELECT x.epoch FROM effect_open AS x
    WHERE NOT EXISTS (SELECT FROM effect_event AS e WHERE e.number = x.epoch AND e.said <> 'taken') ORDER BY x.epoch
  ) AS o;
  PERFORM pg_notify(channel, mine::text);
END
$$;

/*
 * Says something and answers with all that happened since, what was said last; null for who is a member no more. numbers: epochs;
 * null for work that begins.
 */
CREATE FUNCTION share_effects(
  mine bigint, lease_ms int, heard_before bigint, said text[], numbers bigint[], claims text[], look boolean, channel text,
  OUT happened json
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
  before bigint;
  epoch_given bigint;
  after bigint;
  lost boolean := false;
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_event'::regclass::oid::int4);
  UPDATE effect_member AS m SET until = clock_timestamp() + lease_ms * interval '1 ms', heard = heard_before
  WHERE m.fence = mine;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT c.seq INTO before FROM effect_count AS c;
  IF look THEN
    lost := take_over_effects(mine);
  END IF;
  FOR i IN 1 .. cardinality(said) LOOP
    IF numbers[i] IS NULL THEN
      UPDATE effect_count SET epoch = epoch + 1 RETURNING epoch INTO epoch_given;
      PERFORM say_effect(mine, said[i], epoch_given, claims[i]);
    ELSE
      PERFORM say_effect(mine, said[i], numbers[i], claims[i]);
    END IF;
  END LOOP;
  SELECT coalesce(json_agg(json_build_array(e.seq, e.fence, e.said, e.number, e.claims) ORDER BY e.seq), '[]') INTO happened
  FROM effect_event AS e WHERE e.seq > heard_before;
  SELECT c.seq INTO after FROM effect_count AS c;
  /* By whom, so that it need not ask what it has just said; and to tell those who were lost. */
  IF after > before OR lost THEN
    PERFORM pg_notify(channel, mine::text);
  END IF;
  IF look THEN
    DELETE FROM effect_event AS e USING (SELECT min(m.heard) AS seq FROM effect_member AS m) AS heard
    WHERE e.seq <= heard.seq AND (e.said = 'taken' OR EXISTS (
      SELECT FROM effect_event AS x WHERE x.number = e.number AND x.said = 'ended' AND x.seq <= heard.seq));
  END IF;
END
$$;

/*
 * append (0001) or append_erasing (0004), for a group that also writes effects.
 *
 * tenures: fences under which it is written; each must be a member's. begun, trajectories, bodies: transactions that must not be there. assumed, counts:
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
  tenures bigint[],
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
    OR EXISTS (SELECT FROM unnest(tenures) AS x (fence) WHERE NOT EXISTS (SELECT FROM effect_member AS m WHERE m.fence = x.fence))
    OR EXISTS (SELECT FROM unnest(begun) AS x (epoch) JOIN effect_transaction AS t ON t.epoch = x.epoch)
    OR EXISTS (SELECT FROM unnest(marks) AS x (key) JOIN effect_key AS k ON k.key = x.key)
    OR EXISTS (
      SELECT FROM unnest(assumed, counts) AS x (epoch, count)
      WHERE NOT EXISTS (SELECT FROM effect_open AS o WHERE o.epoch = x.epoch)
        OR x.count <> (SELECT coalesce(max(r.place) + 1, 0) FROM effect_record AS r WHERE r.epoch = x.epoch)
    )
  THEN
    SELECT json_build_object('effects', json_build_object(
      'fences', (SELECT json_agg(m.fence) FROM effect_member AS m),
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
