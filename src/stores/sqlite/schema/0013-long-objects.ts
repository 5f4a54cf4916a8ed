/** Characters of an object from which on it stands beside its row. */
export const LONG_OBJECT = 256;

/**
 * Long objects, as witnesses are, stand beside their rows, in the order in which they were written. A row of a table without row
 * numbers has room for a quarter of a page, and what is longer takes a page of its own each time that it is written.
 */
export const longObjects: string = `
DROP VIEW facts;

CREATE TABLE fact_object (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

ALTER TABLE fact ADD COLUMN long INTEGER CHECK (long IS NULL OR object = '');

INSERT INTO fact_object (id, text)
SELECT row_number() OVER (ORDER BY key, audit, system_end, valid_from, fact_id, system_start), object
FROM fact WHERE length(object) > ${LONG_OBJECT};

UPDATE fact SET object = '', long = moved.id
FROM (
  SELECT key, audit, system_end, valid_from, fact_id, system_start,
    row_number() OVER (ORDER BY key, audit, system_end, valid_from, fact_id, system_start) AS id
  FROM fact WHERE length(object) > ${LONG_OBJECT}
) AS moved
WHERE fact.key = moved.key AND fact.audit = moved.audit AND fact.system_end = moved.system_end
  AND fact.valid_from = moved.valid_from AND fact.fact_id = moved.fact_id AND fact.system_start = moved.system_start;

CREATE VIEW facts AS
SELECT f.fact_id, p.subject, p.predicate,
  CASE WHEN f.long IS NULL THEN f.object ELSE (SELECT text FROM fact_object WHERE id = f.long) END AS object,
  f.valid_from, f.valid_to, f.system_start AS system_time_start, f.system_end AS system_time_end, f.provenance AS provenance_id,
  f.confidence, f.strategy AS resolution_strategy_id, CASE f.audit WHEN 0 THEN 'current' ELSE 'audit' END AS row_kind
FROM fact AS f JOIN fact_partition AS p ON p.key = f.key WHERE p.branch = '';
`;
