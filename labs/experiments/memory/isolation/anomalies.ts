import { IsolationError } from './errors.ts';
import { atLeast, type Iso, isoAt, type Level, type Table } from './level.ts';

/**
 * The anomalies that a level can exclude: seven of Berenson and Adya, and two of Table 3 for judges
 * and partitions.
 */
export const ANOMALIES = ['P0', 'P1', 'P2', 'P3', 'P4', 'A5A', 'A5B', 'N1', 'N2'] as const;
export type Anomaly = (typeof ANOMALIES)[number];

/** The condition that excludes an anomaly: `iso` or stronger, at its table. */
export interface Guard {
  readonly iso: Iso;
  /** For anomalies of one table. The others apply to the requested table. */
  readonly table?: Table;
}

/** Definition 2 and Table 3. N3 is missing because no level excludes it; the audit row does. */
export const GUARDS: Readonly<Record<Anomaly, Guard>> = {
  P0: { iso: 'RC' },
  P1: { iso: 'RC' },
  P2: { iso: 'SI' },
  P3: { iso: 'SR' },
  P4: { iso: 'SI' },
  A5A: { iso: 'SI' },
  A5B: { iso: 'SR' },
  N1: { iso: 'SR', table: 'judge_log' },
  N2: { iso: 'SR', table: 'facts' },
};

/**
 * Theorem 3, Corollaries 5 and 6: whether no schedule of the level has the anomaly at the table.
 * @throws IsolationError `unknown_anomaly`, `bad_level`
 */
export function excludes(level: Level, anomaly: Anomaly, table: Table = 'facts'): boolean {
  if (!ANOMALIES.includes(anomaly))
    throw new IsolationError(
      'unknown_anomaly',
      `The anomaly is not known. Use one of ${ANOMALIES.join(', ')}.`,
      {
        evidence: { anomaly },
      },
    );
  const guard = GUARDS[anomaly];
  return atLeast(isoAt(level, guard.table ?? table), guard.iso);
}
