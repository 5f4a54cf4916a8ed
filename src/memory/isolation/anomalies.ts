import { IsolationError } from './errors.ts';
import { atLeast, type Iso, isoAt, type Level, type Table } from './level.ts';

/** What a level can exclude: Berenson's and Adya's seven, and the two of Table 3 that a judge and a partition add. */
export const ANOMALIES = ['P0', 'P1', 'P2', 'P3', 'P4', 'A5A', 'A5B', 'N1', 'N2'] as const;
export type Anomaly = (typeof ANOMALIES)[number];

/** Where an anomaly is excluded: from `iso` on, at the table that it is about. */
export interface Guard {
  readonly iso: Iso;
  /** For those that are about one table; the others are about whichever is asked for. */
  readonly table?: Table;
}

/** Definition 2 and Table 3. N3 is not among them: no level excludes it, the audit row does. */
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
 * Theorem 3, Corollaries 5 and 6: whether no schedule of that level has the anomaly at the table.
 * @throws IsolationError `unknown_anomaly`, `bad_level`
 */
export function excludes(level: Level, anomaly: Anomaly, table: Table = 'facts'): boolean {
  if (!ANOMALIES.includes(anomaly))
    throw new IsolationError('unknown_anomaly', `An anomaly is one of ${ANOMALIES.join(', ')}.`, {
      evidence: { anomaly },
    });
  const guard = GUARDS[anomaly];
  return atLeast(isoAt(level, guard.table ?? table), guard.iso);
}
