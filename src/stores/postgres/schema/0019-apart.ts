import { OPEN_END } from '#memory';

/**
 * Of rows that are believed and single-valued none overlaps another of its partition. Until now the version of the partition alone kept them
 * apart, for those who raise it; who writes past the functions is refused as well, and so would be a fault of ours. Rows of several
 * values may overlap anything: they may have been written while there was one at a time, or before.
 *
 * No exclusion constraint: over texts it is a second index that each change writes, and a contradiction took a fifth longer. Of rows of
 * which none meets another, the last that begins before an end is the last that ends: one look by `fact_by_time` tells. What another
 * transaction is about to write can't be seen, so the partition is locked before, and looked at after: by then it is committed. Only two
 * that both write past the functions, each in one snapshot (REPEATABLE READ), are not seen by each other.
 *
 * Neither the version nor the latest change of a partition goes back.
 */
export const apart: string = `
CREATE FUNCTION keep_apart() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  ends TEXT COLLATE "C";
BEGIN
  PERFORM FROM fact_partition AS p WHERE p.key = new.key FOR NO KEY UPDATE;
  SELECT f.valid_to INTO ends FROM fact AS f
  WHERE f.key = new.key AND NOT f.audit AND f.system_end = '${OPEN_END}' AND f.valid_from < new.valid_to AND f.single
    AND f.id IS DISTINCT FROM old.id
  ORDER BY f.valid_from DESC LIMIT 1;
  IF ends > new.valid_from THEN
    RAISE EXCEPTION 'facts that are believed overlap, where there is one value at a time' USING ERRCODE = 'exclusion_violation';
  END IF;
  RETURN new;
END
$$;

CREATE TRIGGER keep_apart BEFORE INSERT OR UPDATE OF key, audit, single, system_end, valid_from, valid_to ON fact
FOR EACH ROW WHEN (NOT new.audit AND new.single AND new.system_end = '${OPEN_END}') EXECUTE FUNCTION keep_apart();

CREATE FUNCTION refuse_going_back() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a partition goes on from its version and its latest change' USING ERRCODE = 'check_violation';
END
$$;

CREATE TRIGGER refuse_going_back BEFORE UPDATE OF version, latest ON fact_partition
FOR EACH ROW WHEN (new.version < old.version OR new.latest < old.latest) EXECUTE FUNCTION refuse_going_back();
`;
