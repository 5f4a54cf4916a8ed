import type { SQLInputValue } from 'node:sqlite';
import type { FactQuery } from '#ledger';
import { OBJECT, ROWS, restrictions } from './fact-rows.ts';
import { isText, TEXT_OF_ROW } from './fact-texts.ts';
import { TEXT_NAME } from './text-writer.ts';

/**
 * Selects id and key of the texts of the rows that a query wants, each once. Texts that are not
 * indexed yet are missing.
 */
export function wantedTexts(query: FactQuery): {
  readonly sql: string;
  readonly values: SQLInputValue[];
} {
  const { where, values } = restrictions(query);
  const sql = `SELECT DISTINCT t.id, t.key FROM fact_partition AS p CROSS JOIN ${ROWS}
    CROSS JOIN fact_text AS t ON ${isText('t', TEXT_OF_ROW)}
    WHERE e.key = p.key AND ${where.join(' AND ')}`;
  return { sql, values };
}

/**
 * Selects the oldest texts of a space that have no vector of an embedder. The parameters are the
 * name of the space, the number of the embedder and the limit.
 *
 * All rows of a text have the same object. The query visits each row of a partition once for all
 * its texts, and looks the texts up by row. A lookup of rows by text would visit all rows of the
 * partition for each text.
 */
export const textsWithoutVector: string = `WITH wanted AS MATERIALIZED (
    SELECT t.id, t.key, t.audit, t.content, t.day FROM fact_text_space AS s JOIN fact_text AS t ON t.space = s.space
    WHERE s.name = ? AND NOT EXISTS (SELECT 1 FROM fact_vector AS v WHERE v.text = t.id AND v.embedder = ?)
    ORDER BY t.id LIMIT ?
  ), part AS MATERIALIZED (SELECT DISTINCT key, audit FROM wanted), said AS MATERIALIZED (
    SELECT w.id, min(f.n) AS n
    FROM part AS a CROSS JOIN fact_time AS e ON e.key = a.key AND e.audit = a.audit CROSS JOIN fact AS f ON f.n = e.n
    CROSS JOIN wanted AS w ON w.key = f.key AND w.audit = f.audit AND w.content = f.content
    GROUP BY w.id
  )
  SELECT ${TEXT_NAME} AS id, p.subject, p.predicate, ${OBJECT} AS object, t.audit, t.day
  FROM wanted AS t CROSS JOIN fact_partition AS p ON p.key = t.key
  LEFT JOIN said AS x ON x.id = t.id LEFT JOIN fact AS f ON f.n = x.n ORDER BY t.id`;
