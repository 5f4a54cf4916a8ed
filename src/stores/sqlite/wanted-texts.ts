import type { SQLInputValue } from 'node:sqlite';
import type { FactQuery } from '#ledger';
import { OPEN_START } from '#memory';
import { ROWS, restrictions } from './facts.ts';

/** Selects id and key of the texts of the rows that a query wants, each once. What is not indexed yet is not among them. */
export function wantedTexts(query: FactQuery): { readonly sql: string; readonly values: SQLInputValue[] } {
  const { where, values } = restrictions(query);
  const sql = `SELECT DISTINCT t.id, t.key FROM fact_partition AS p CROSS JOIN ${ROWS}
    CROSS JOIN fact_text AS t ON t.key = f.key AND t.content = f.content AND t.audit = f.audit
      AND t.day = CASE f.asserted_from WHEN '${OPEN_START}' THEN '' ELSE substr(f.asserted_from, 1, 10) END
    WHERE e.key = p.key AND ${where.join(' AND ')}`;
  return { sql, values };
}
