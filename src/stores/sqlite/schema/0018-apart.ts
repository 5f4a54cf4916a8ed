import { OPEN_END } from '#memory';

/** The times of facts `f` that are believed now, one value at a time: of all `time` there are, of the partition `key`. */
const believed = (time: string, key: string): string =>
  `${time}.key = ${key} AND ${time}.audit = 0 AND ${time}.system_end = '${OPEN_END}'`;

/**
 * Whether what is believed from `from` to `to` meets something else of its partition that is. Of rows of which none meets another, the last
 * that begins before an end is the last that ends: one look by `fact_time` tells. `more` leaves the row itself out.
 */
const meets = (key: string, from: string, to: string, more: string): string => `(
    SELECT o.valid_to FROM fact_time AS e CROSS JOIN fact AS o ON o.n = e.n
    WHERE ${believed('e', key)} AND e.valid_from < ${to} AND o.single = 1 ${more}
    ORDER BY e.valid_from DESC LIMIT 1
  ) > ${from}`;

const REFUSE =
  "raise(ABORT, 'EXCLUDE constraint failed: facts that are believed overlap, where there is one value at a time')";

/**
 * Of rows that are believed and single-valued none overlaps another of its partition. Until now the writer alone saw to it; who writes past
 * it is refused as well, and so would be a fault of its own. Rows of several values may overlap anything: they may have been written
 * while there was one at a time, or before.
 *
 * A row counts from when its time is there, which comes after it. So of one without a fact nothing can be told, and it is refused, too.
 *
 * Neither the version nor the latest change of a partition goes back.
 */
export const apart: string = `
CREATE TRIGGER fact_time_apart BEFORE INSERT ON fact_time WHEN new.audit = 0 AND new.system_end = '${OPEN_END}'
BEGIN
  SELECT CASE WHEN f.n IS NULL THEN raise(ABORT, 'FOREIGN KEY constraint failed: a time comes after its fact') ELSE ${REFUSE} END
  FROM (SELECT 1) LEFT JOIN fact AS f ON f.n = new.n
  WHERE f.n IS NULL OR (f.single = 1 AND ${meets('new.key', 'new.valid_from', 'f.valid_to', '')});
END;

CREATE TRIGGER fact_time_apart_again BEFORE UPDATE ON fact_time WHEN new.audit = 0 AND new.system_end = '${OPEN_END}'
BEGIN
  SELECT ${REFUSE} FROM fact AS f
  WHERE f.n = new.n AND f.single = 1 AND ${meets('new.key', 'new.valid_from', 'f.valid_to', 'AND e.n <> old.n')};
END;

CREATE TRIGGER fact_apart BEFORE UPDATE OF n, valid_to, single ON fact WHEN new.single = 1
BEGIN
  SELECT ${REFUSE} FROM fact_time AS t
  WHERE ${believed('t', 'new.key')} AND t.n = new.n
    AND ${meets('t.key', 't.valid_from', 'new.valid_to', 'AND e.n <> old.n')};
END;

CREATE TRIGGER fact_partition_onwards BEFORE UPDATE OF version, latest ON fact_partition
WHEN new.version < old.version OR new.latest < old.latest
BEGIN
  SELECT raise(ABORT, 'CHECK constraint failed: a partition goes on from its version and its latest change');
END;
`;
