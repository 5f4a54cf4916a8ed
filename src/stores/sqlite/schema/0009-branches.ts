import { OPEN_START } from '#memory';

/**
 * Memory of branches: a partition has the branch that it is of, which is empty where it is shared, and until when it has what the
 * branch's source had. The table is made anew, because what is unique of it is another thing now; keys stay, so rows do.
 *
 * The view has what is shared, as it had.
 */
export const branches: string = `
DROP VIEW facts;

CREATE TABLE fact_partition_of_branches (
  key INTEGER PRIMARY KEY,
  space TEXT NOT NULL,
  branch TEXT NOT NULL,
  subject TEXT NOT NULL,
  predicate TEXT NOT NULL,
  names BLOB NOT NULL CHECK (length(names) = 32),
  names_bytes INTEGER NOT NULL CHECK (names_bytes >= 0),
  version INTEGER NOT NULL CHECK (version > 0),
  latest TEXT NOT NULL,
  several INTEGER NOT NULL CHECK (several IN (0, 1)),
  since TEXT NOT NULL CHECK (since >= '${OPEN_START}'),
  UNIQUE (space, branch, subject, predicate)
) STRICT;

INSERT INTO fact_partition_of_branches
SELECT key, space, '', subject, predicate, names, names_bytes, version, latest, several, '${OPEN_START}' FROM fact_partition;

DROP TABLE fact_partition;
ALTER TABLE fact_partition_of_branches RENAME TO fact_partition;

CREATE VIEW facts AS
SELECT f.fact_id, p.subject, p.predicate, f.object, f.valid_from, f.valid_to,
  f.system_start AS system_time_start, f.system_end AS system_time_end, f.provenance AS provenance_id, f.confidence,
  f.strategy AS resolution_strategy_id, CASE f.audit WHEN 0 THEN 'current' ELSE 'audit' END AS row_kind
FROM fact AS f JOIN fact_partition AS p ON p.key = f.key WHERE p.branch = '';
`;
