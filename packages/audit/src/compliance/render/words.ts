import type { Example } from '../evidence/tally.ts';
import { plural, type Status } from '../measures/measure.ts';
import type { ClauseReport, ComplianceReport } from '../report.ts';

/** The first words of a report of a period without entries. Undefined: there are entries. */
export function emptyText({
  scope: { entries },
}: {
  readonly scope: { readonly entries: number };
}): string | undefined {
  return entries > 0 ? undefined : EMPTY;
}

const EMPTY = 'No entry is in the period and trajectories of this report, so it shows nothing.';

export function entriesText(count: number): string {
  return plural(count, 'entry', 'entries');
}

/** `from 2026-01-01T… until 2026-02-01T…`, `all times`. */
export function periodText({ scope: { since, until } }: ComplianceReport): string {
  const ends = [
    ...(since === null ? [] : [`from ${since}`]),
    ...(until === null ? [] : [`until before ${until}`]),
  ];
  return ends.length === 0 ? 'all times' : ends.join(' ');
}

export function trajectoriesText({ scope: { trajectories } }: ComplianceReport): string {
  return trajectories === null ? 'all' : trajectories.join(', ');
}

export function checkpointText({ log: { checkpoint } }: ComplianceReport): string {
  if (checkpoint === null) return 'none verified';
  const { origin, size, root, cosigned } = checkpoint;
  const by = cosigned
    .map(({ name, at }) => (at === undefined ? name : `${name} at ${at}`))
    .join(', ');
  return `of ${origin}, ${entriesText(size)}, root ${root}, ${by === '' ? 'no cosignature' : `cosigned by ${by}`}`;
}

/** `12 clauses: 3 gap, 8 shown, 1 none`. */
export function sumText(clauses: readonly ClauseReport[]): string {
  const count = (status: Status): number =>
    clauses.filter((clause) => clause.status === status).length;
  const results = (['gap', 'shown', 'none'] as const).map((status) => `${count(status)} ${status}`);
  return `${plural(clauses.length, 'clause', 'clauses')}: ${results.join(', ')}`;
}

export function placeText({ trajectory_id, seq, at }: Example): string {
  return `${trajectory_id} seq ${seq}, ${at}`;
}

/** The command that proves one entry offline. */
export function bundleCommand({ id }: Example): string {
  return `assize bundle --entry ${id} --out proof.zip`;
}
