import { line, type Printable, type Session, yellow } from '@assize/command';
import type { ErasurePreview } from 'assize/internal/runtime';
import { counted } from 'assize/internal/views';

/** For the help of commands that erase, and below each preview. */
export const RETENTION =
  'A law may require that some of these values are kept, such as records of payments. Check before you erase.';

/** Prints the data that the erasure would erase. */
export function sayPreview(
  { json, out }: Session,
  trajectoryId: string,
  preview: ErasurePreview,
): void {
  const { values, answers, logged, open, unmarked, remaining } = preview;
  if (json) {
    const counts = { erased: values.length, entries: bySeq(preview).size };
    out.document({
      dry_run: true,
      trajectory_id: trajectoryId,
      ...counts,
      values,
      answers,
      logged,
      open,
      remaining,
      unmarked,
    });
    return;
  }
  out.line(line`would erase ${extentOf(preview)} of ${trajectoryId}:`);
  for (const [seq, paths] of bySeq(preview))
    out.line(line`  ${trajectoryId}@${seq}: ${counted(paths.length, 'value')}${placesOf(paths)}`);
  for (const [epoch, texts] of Map.groupBy(logged, ({ epoch }) => epoch))
    out.line(line`  transaction ${epoch}: ${counted(texts.length, 'text')} of the effect log`);
  if (open.length > 0)
    out.line(line`  ${yellow('remaining')}: values of open tool transactions: ${open.join(', ')}`);
  if (remaining.length > 0)
    out.line(line`  ${yellow('remaining')}: facts asserted in ${remaining.join(', ')}`);
  out.line(line`${RETENTION}`);
}

/** `18 values of 18 entries and 2 texts of the effect log`. */
export function extentOf(preview: ErasurePreview): string {
  const { values, answers, logged } = preview;
  return [
    `${counted(values.length, 'value')} of ${counted(bySeq(preview).size, 'entry')}`,
    ...(answers.length === 0 ? [] : [`${counted(answers.length, 'answer')} of the oracle log`]),
    ...(logged.length === 0 ? [] : [`${counted(logged.length, 'text')} of the effect log`]),
  ].join(' and ');
}

/** For each entry, the current paths of its values. An argument or a call has no path. */
function bySeq({ values }: ErasurePreview): Map<number, (string | undefined)[]> {
  const entries = Map.groupBy(values, ({ seq }) => seq);
  return new Map(
    [...entries].sort(([a], [b]) => a - b).map(([seq, of]) => [seq, of.map(({ path }) => path)]),
  );
}

function placesOf(paths: readonly (string | undefined)[]): Printable {
  const known = paths.filter((path) => path !== undefined);
  return known.length === 0 ? line`` : line` (${known.join(', ')})`;
}
