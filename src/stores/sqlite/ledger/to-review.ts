import type { DatabaseSync } from 'node:sqlite';

/**
 * The trajectories with more pending entries than entries that resolve one, or with a halt, in
 * order of creation. Only a payload whose text has the name `resolves` is parsed.
 */
export function prepareToReview(db: DatabaseSync): () => string[] {
  const statement = db.prepare(`
    SELECT t.name FROM trajectory AS t JOIN (
      SELECT trajectory, max(instr(payload, '"assize.halt"')) AS halts, sum(kind = 'pending_approval') - sum(
        CASE WHEN instr(payload, '"resolves":"') = 0 OR NOT json_valid(payload) THEN 0
          ELSE json_extract(payload, '$.resolves') IS NOT NULL END
      ) AS open FROM entry GROUP BY trajectory
    ) AS e ON e.trajectory = t.key WHERE e.open > 0 OR e.halts > 0 ORDER BY t.key`);
  return () => statement.all().map((row) => row['name'] as string);
}
