import type { Ruling } from 'assize/internal/runtime';
import { shortId } from 'assize/internal/views';
import type { Output } from '../terminal/output.ts';
import { line, red, yellow } from '../terminal/printable.ts';

/** Lines of a file that formed one proposal, with an outcome other than a commit. */
export interface RefusedLines {
  readonly lines: readonly [first: number, last: number];
  readonly ruling: Exclude<Ruling, { ruling: 'committed' }>;
  /** Submitted before, and not again. */
  readonly still?: true;
}

export function printRefusedLines(out: Output, others: readonly RefusedLines[]): void {
  for (const { lines, ruling, still } of others) {
    const which = lines[0] === lines[1] ? `line ${lines[0]}` : `lines ${lines[0]} to ${lines[1]}`;
    if (ruling.ruling === 'frozen')
      out.line(line`${which} ${yellow('frozen')} by ${shortId(ruling.by)}: ${ruling.detail}`);
    else if (ruling.ruling === 'rejected')
      out.line(line`${which} ${red('rejected')} as ${shortId(ruling.entry.id)}: ${ruling.detail}`);
    else
      out.line(
        line`${which} ${yellow(still ? 'still pending' : 'pending')} for ${ruling.channel} as ${shortId(ruling.entry.id)}: ${ruling.detail}`,
      );
  }
}

/** The form for programs. */
export function describeRefusedLines({ lines: [from, to], ruling, still }: RefusedLines): object {
  const { detail } = ruling;
  if (ruling.ruling === 'frozen')
    return { lines: { from, to }, ruling: 'frozen', by: ruling.by, detail };
  const { reason, entry } = ruling;
  return {
    lines: { from, to },
    ruling: ruling.ruling,
    entry_id: entry.id,
    reason,
    detail,
    ...(still && { was_pending: true }),
  };
}

/** The number of lines with that outcome. */
export function refusedCount(
  others: readonly RefusedLines[],
  ruling: RefusedLines['ruling']['ruling'],
): number {
  return others
    .filter((each) => each.ruling.ruling === ruling)
    .reduce((sum, { lines: [first, last] }) => sum + last - first + 1, 0);
}
