import { dim, green, line, type Output, type Value } from '@assize/command';
import type { Both } from '@assize/command/operation';
import type { Json } from 'assize/internal/base';
import type { EntryRow, Patch } from 'assize/internal/ledger';
import {
  causeOf,
  type Divergence,
  type Span,
  type Summary,
  shortId,
  shortTime,
} from 'assize/internal/views';
import { changeTable } from './changes.ts';
import { paintedRuling } from './ruling.ts';

/** Maximum number of entries of one side in text; --json has all of them. */
const ENTRIES_MAX = 20;

export interface PlacedSummary extends Summary {
  readonly trajectory_id: string;
}

export interface DiffReport {
  readonly points: Both<EntryRow>;
  readonly divergence: Divergence;
  readonly since: Both<readonly PlacedSummary[]>;
  readonly patch: readonly Patch[];
  readonly before: Json;
}

export function printDiff(
  out: Output,
  { points, divergence, since, patch, before }: DiffReport,
): void {
  const { after } = divergence;
  out.line(
    after === null
      ? line`The chains have no entry in common; they differ from seq 0.`
      : line`The chains are identical up to ${after.trajectory_id} seq ${after.seq} (${shortId(after.id)}).`,
  );
  if (after !== null)
    for (const side of [0, 1] as const)
      printSide(out, points[side], divergence.sides[side], since[side]);
  out.line(line``);
  if (patch.length === 0) out.line(green('The states are equal.'));
  else changeTable(out, 'change', patch, before);
}

function printSide(
  out: Output,
  { trajectory_id, seq }: EntryRow,
  [first]: readonly Span[],
  entries: readonly PlacedSummary[],
): void {
  out.line(line``);
  if (first === undefined) {
    out.line(line`${trajectory_id} seq ${seq} has no later entry.`);
    return;
  }
  const of = first.trajectoryId === trajectory_id ? '' : ` of ${first.trajectoryId}`;
  out.line(line`${trajectory_id} seq ${seq} diverges from seq ${first.from}${of}:`);
  out.table(
    [
      { title: 'entry' },
      { title: 'at' },
      { title: 'action' },
      { title: 'ruling' },
      { title: 'why' },
    ],
    entries
      .slice(0, ENTRIES_MAX)
      .map((entry): Value[] => [
        `${entry.trajectory_id}@${entry.seq}`,
        shortTime(entry.at),
        entry.action ?? '',
        paintedRuling(entry.ruling),
        [causeOf(entry.reason, entry.invariant_id), entry.detail]
          .filter((text) => text !== undefined)
          .join(': '),
      ]),
  );
  if (entries.length > ENTRIES_MAX)
    out.line(dim(line`and ${entries.length - ENTRIES_MAX} more; assize log lists them`));
}
