import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * What waits for a person is taken over with each process that ends, and left again. Of that only the last time is kept, once all have heard
 * it: the claims that were said last, and that it was left. And what is said of many transactions takes as much longer as they are more, and
 * not as the square of that: who joins where a hundred thousand wait held up all others for longer than a lease, or never got there.
 */
export const leftAgain: string = `
/* As say_effect, of many transactions at once, and nothing but that. */
CREATE FUNCTION say_effects(mine bigint, said text, numbers bigint[])
RETURNS void
LANGUAGE sql
SET search_path FROM CURRENT
AS $$
  WITH next AS (UPDATE effect_count SET seq = seq + cardinality(numbers) WHERE cardinality(numbers) > 0 RETURNING seq)
  INSERT INTO effect_event SELECT next.seq - cardinality(numbers) + x.n, mine, said, x.number, NULL
  FROM next, unnest(numbers) WITH ORDINALITY AS x (number, n);
$$;

/* As in 0006, but for say_effects. */
CREATE OR REPLACE FUNCTION take_over_effects(mine bigint, OUT lost boolean)
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
    PERFORM say_effects(mine, 'own', left_behind);
  END LOOP;
END
$$;

/* As in 0006, but for say_effects. */
CREATE OR REPLACE FUNCTION join_effects(lease_ms int, channel text, OUT mine bigint)
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
  PERFORM say_effects(mine, 'resumed', ARRAY(
    SELECT x.epoch FROM effect_open AS x
    WHERE NOT EXISTS (SELECT FROM effect_event AS e WHERE e.number = x.epoch AND e.said <> 'taken') ORDER BY x.epoch
  ));
  PERFORM pg_notify(channel, mine::text);
END
$$;

/* As in 0006, but for what is forgotten of what was left again. */
CREATE OR REPLACE FUNCTION share_effects(
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
    WHERE e.seq <= heard.seq AND (
      e.said = 'taken'
      OR EXISTS (SELECT FROM effect_event AS x WHERE x.number = e.number AND x.said = 'ended' AND x.seq <= heard.seq)
      OR (e.said IN ('left', 'own') AND EXISTS (
        SELECT FROM effect_event AS x
        WHERE x.number = e.number AND x.said = 'left' AND x.seq > e.seq AND x.seq <= heard.seq
          /* Who leaves it without a word of claims, leaves those that were said before. */
          AND (e.said = 'own' OR e.claims IS NULL OR x.claims IS NOT NULL)
      ))
    );
  END IF;
END
$$;
`;
