import { APPLICATION_ID } from './0001-ledger.ts';

/** Ends a membership in order: what is of it is another one's at once, where one is there. */
export const parting = `
CREATE FUNCTION part_effects(mine bigint, channel text)
RETURNS void
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
  heir bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_event'::regclass::oid::int4);
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'effect_tenure'::regclass::oid::int4);
  DELETE FROM effect_member AS m WHERE m.fence = mine;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT min(m.fence) INTO heir FROM effect_member AS m
  WHERE m.lock <> 0 AND m.until > clock_timestamp() AND NOT pg_try_advisory_xact_lock(m.lock);
  IF heir IS NOT NULL THEN
    PERFORM take_over_effects(heir);
    PERFORM pg_notify(channel, mine::text);
  END IF;
END
$$;
`;
