import type { Readers } from '../connection/readers.ts';
import type { Statement } from '../connection/session.ts';

/**
 * The trajectories with more pending entries than entries that resolve one, or with a halt, in
 * order of creation. Only a payload whose text has the name `resolves` is parsed. The marker of an
 * archived payload has letters instead (`archive/marker.ts`).
 */
export function prepareToReview(readers: Readers, schema: string): () => Promise<string[]> {
  const statement: Statement = {
    name: 'assize trajectories to review',
    text: `SELECT t.name FROM "${schema}".trajectory AS t JOIN (
        SELECT trajectory, max(strpos(payload, '"assize.halt"') + (payload LIKE '@%h%')::int) AS halts,
          count(*) FILTER (WHERE kind = 'pending_approval') - count(
            CASE WHEN payload LIKE '@%r' THEN payload WHEN strpos(payload, '"resolves":"') > 0 THEN payload::json ->> 'resolves' END
          ) AS open FROM "${schema}".entry GROUP BY trajectory
      ) AS e ON e.trajectory = t.key WHERE e.open > 0 OR e.halts > 0 ORDER BY t.key`,
  };
  return async () => (await readers.run(statement)).map(([name]) => name as string);
}
