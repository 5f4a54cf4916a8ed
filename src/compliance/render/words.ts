import type { Example } from '../evidence/tally.ts';
import type { Status } from '../measures/measure.ts';
import type { ClauseReport, ComplianceReport } from '../report.ts';

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  shown: 'shown',
  gap: 'GAP',
  not_applicable: 'no such event',
};

/** `from 2026-01-01T… until 2026-02-01T…`, `all times`. */
export function periodText({ scope: { since, until } }: ComplianceReport): string {
  const ends = [...(since === null ? [] : [`from ${since}`]), ...(until === null ? [] : [`until before ${until}`])];
  return ends.length === 0 ? 'all times' : ends.join(' ');
}

export function trajectoriesText({ scope: { trajectories } }: ComplianceReport): string {
  return trajectories === null ? 'all' : trajectories.join(', ');
}

export function checkpointText({ log: { checkpoint } }: ComplianceReport): string {
  if (checkpoint === null) return 'none verified';
  const { origin, size, root, cosigned } = checkpoint;
  const by = cosigned.map(({ name, at }) => (at === undefined ? name : `${name} at ${at}`)).join(', ');
  return `of ${origin}, ${size} entries, root ${root}, ${by === '' ? 'no cosignature' : `cosigned by ${by}`}`;
}

/** `12 clauses: 3 with a gap, 8 shown, 1 without an event`. */
export function sumText(clauses: readonly ClauseReport[]): string {
  const count = (status: Status): number => clauses.filter((clause) => clause.status === status).length;
  return `${clauses.length} clauses: ${count('gap')} with a gap, ${count('shown')} shown, ${count('not_applicable')} without an event`;
}

export function placeText({ trajectory_id, seq, at }: Example): string {
  return `${trajectory_id} seq ${seq}, ${at}`;
}

/** The command that proves one entry offline. */
export function bundleCommand({ id }: Example): string {
  return `assize bundle --entry ${id} --out proof.zip`;
}
