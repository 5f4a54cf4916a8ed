import { bold, dim, green, line, type Output, type Printable, red, yellow } from '@assize/command';
import { counted, shortId } from 'assize/internal/views';
import { type ComplianceReport, emptyText, type MeasureReport, type Status } from '#compliance';

const MARKS: Readonly<Record<Status, Printable>> = {
  shown: green('shown'),
  gap: red('gap  '),
  none: dim('none '),
};

/** Each clause on one line, with the open questions below it, and the sum last. */
export function printReport(
  out: Output,
  { frameworks, log, faults, gaps, note, ...report }: ComplianceReport,
): void {
  const empty = emptyText(report);
  if (empty !== undefined) out.line(yellow(empty));
  for (const { title, clauses } of frameworks) {
    out.line(bold(line`${title}`));
    for (const { id, title: clause, status, measures } of clauses) {
      out.line(line`  ${MARKS[status]} ${id} ${clause}`);
      for (const measure of measures) printMeasure(out, measure);
    }
  }
  for (const { code, detail } of faults) out.line(red(line`fault: ${detail} (${code})`));
  out.line(dim(line`${note}`));
  const sum = line`${counted(log.size, 'entry')}, root ${log.root.slice(0, 12)}: ${counted(gaps, 'clause')} with a gap`;
  out.line(gaps === 0 && faults.length === 0 ? green(sum) : red(sum));
}

/** A measure on one line. A gap has a second one: the first entry that shows it, and what to do. */
function printMeasure(
  out: Output,
  { status, title, figure, remedy = '', examples: [first] = [] }: MeasureReport,
): void {
  if (status !== 'gap') {
    out.line(line`        ${dim(line`${title}: ${figure}`)}`);
    return;
  }
  out.line(line`        ${title}: ${yellow(figure)}`);
  const example = first === undefined ? '' : `First: ${shortId(first.id)}. `;
  out.line(line`          ${example}${remedy}`);
}
