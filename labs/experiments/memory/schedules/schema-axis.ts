import { Polynomial, type Token, writeToken } from 'assize/internal/memory/provenance';
import { CHAIN_LEVELS, type Level, level, levelText } from '../isolation/index.ts';
import { BOOLEAN, type Carrier, MULTIDEGREE, MULTILINEAR } from '../provenance/index.ts';
import { type Execution, execute, type Version } from './execute.ts';
import { type Bytes, RandomDraws, requireCount } from './random-draws.ts';
import type { Grid, Row } from './row.ts';
import { type Schedule, schedule } from './schedule.ts';

/** The record that a store keeps of a loser (§3.1, C.1): no row, or an audit row. */
export type SchemaMode = 'base' | 'audit_row';
export const SCHEMA_MODES: readonly SchemaMode[] = ['base', 'audit_row'];

/**
 * A row that can be found again: the current row, or an audit row with the loser's whole row as its
 * witness.
 */
export interface RecoverableRow {
  readonly provenance: Polynomial;
  readonly row: Version;
}

/** The row that was overwritten, and whether it can be found again. */
export interface Loser {
  readonly row: Version;
  readonly token: Token;
}

/**
 * Rec_H of Theorem 7 after an execution: the recoverable versions of a row. Each version
 * contradicted the version before it.
 */
export function recovery(
  execution: Execution,
  item: string,
  mode: SchemaMode,
): readonly RecoverableRow[] {
  const rows = rowsOf(execution, item);
  const current = rows.slice(-1).map((row) => ({ row, provenance: provenanceOf(row) }));
  if (mode === 'base') return current;
  const audit = rows.slice(0, -1).map((row, i) => ({
    row,
    provenance: provenanceOf(rows[i + 1]!).plus(provenanceOf(row)),
  }));
  return [...current, ...audit];
}

/** All that was overwritten of a row. */
export function losers(execution: Execution, item: string): readonly Loser[] {
  return rowsOf(execution, item)
    .slice(0, -1)
    .map((row) => ({ row, token: writeToken(row) }));
}

/**
 * N3 in the common sense: a loser's row cannot be found, or the provenance there does not name its
 * write. The paper's own predicate is `isUndominated`.
 */
export function isErased(kept: readonly RecoverableRow[], { row, token }: Loser): boolean {
  return !kept.some((one) => one.row === row && one.provenance.tokens.includes(token));
}

/**
 * N3 as in Theorem 7: no kept provenance dominates the loser's provenance in the carrier. In 𝔹
 * every kept provenance dominates every loser.
 */
export function isUndominated<K>(
  carrier: Carrier<K>,
  kept: readonly RecoverableRow[],
  { token }: Loser,
): boolean {
  const lost = carrier.project(Polynomial.of(token));
  return !kept.some(({ provenance }) => carrier.precedes(lost, carrier.project(provenance)));
}

/** Table 23, "schema axis" (Theorem 7): six levels by two schemas. */
export function schemaAxis(random: Bytes, schedules = 100): Grid {
  requireCount(schedules, 'schedules');
  const chance = new RandomDraws(random);
  const rows = CHAIN_LEVELS.flatMap((of) =>
    SCHEMA_MODES.map(
      (mode): Row => ({
        cell: { level: levelText(of), schema: mode },
        expected: mode === 'base' ? 1 : 0,
        reported: mode === 'base' ? 1 : 0,
        found: partOf(schedules, of, chance, (execution) =>
          losers(execution, 'x').every((one) => isErased(recovery(execution, 'x', mode), one)),
        ),
      }),
    ),
  );
  return { name: 'schema', source: 'Theorem 7, Table 23', isExact: true, rows };
}

/**
 * The paper's predicate for N3, in each carrier. Its verdicts are the same in all three only if an
 * audit row is kept. Proposition 8 states that they always are. The paper has no figure.
 */
export function schemaByCarrier(random: Bytes, schedules = 100): Grid {
  requireCount(schedules, 'schedules');
  const chance = new RandomDraws(random);
  const carriers: readonly Carrier<any>[] = [MULTILINEAR, MULTIDEGREE, BOOLEAN];
  const rows = carriers.flatMap((carrier) =>
    SCHEMA_MODES.map((mode): Row => {
      const isBlind = carrier.name === 'boolean' && mode === 'base';
      const row = {
        cell: { carrier: carrier.name, schema: mode },
        expected: mode === 'base' && !isBlind ? 1 : 0,
        found: partOf(schedules, level('RC'), chance, (execution) =>
          losers(execution, 'x').every((one) =>
            isUndominated(carrier, recovery(execution, 'x', mode), one),
          ),
        ),
      };
      const because =
        'in 𝔹 whatever is kept dominates whatever was lost, so the predicate sees no erasure';
      return isBlind ? { ...row, because } : row;
    }),
  );
  return { name: 'schema by carrier', source: 'Theorem 7, Proposition 8 (2)', isExact: true, rows };
}

function partOf(
  schedules: number,
  of: Level,
  chance: RandomDraws,
  has: (execution: Execution) => boolean,
): number {
  let having = 0;
  for (let i = 0; i < schedules; i++) if (has(execute(contradictions(chance), of))) having += 1;
  return having / schedules;
}

/**
 * S_N3 of B.5.2, w1 c1 w2 c2 r3 c3, with up to four writers that commit, and some between them that
 * do not.
 */
export function contradictions(chance: RandomDraws): Schedule {
  const writers = 2 + chance.below(3);
  const steps: string[] = [];
  for (let tx = 1, written = 0; written < writers; tx++) {
    const isAborted = chance.isSo(0.2);
    steps.push(`w${tx}[x] ${isAborted ? 'a' : 'c'}${tx}`);
    if (!isAborted) written += 1;
  }
  return schedule([...steps, 'r90[x] c90'].join(' '));
}

function rowsOf(execution: Execution, item: string): readonly Version[] {
  return (execution.versions.get(item) ?? []).slice(1);
}

function provenanceOf(row: Version): Polynomial {
  return Polynomial.of(writeToken(row));
}
