import { checkArgument } from 'assize/internal/base';
import type { Example } from '../evidence/tally.ts';
import type { ClauseReport, ComplianceReport, MeasureReport } from '../report.ts';
import { markdown } from './escape.ts';
import { REPORT } from './report-form.ts';
import {
  bundleCommand,
  checkpointText,
  emptyText,
  entriesText,
  periodText,
  sumText,
  trajectoriesText,
} from './words.ts';

/**
 * The report as Markdown. Text of the ledger is escaped: it has no links, marks or HTML.
 *
 * @throws ArgumentError `bad_argument`
 */
export function reportMarkdown(report: ComplianceReport): string {
  checkArgument(REPORT, report, 'report');
  const empty = emptyText(report);
  const { note, log, valid, faults, gaps, frameworks } = report;
  return (
    [
      '# Compliance report',
      ...(empty === undefined ? [] : [`**${markdown(empty)}**`]),
      markdown(note),
      [
        `- Period: ${markdown(periodText(report))}`,
        `- Trajectories: ${markdown(trajectoriesText(report))}`,
        `- Log: ${entriesText(log.size)}, root ${markdown(log.root)}`,
        `- Looks to: ${markdown(log.as_of ?? 'no entry')}`,
        `- Checkpoint: ${markdown(checkpointText(report))}`,
        `- Verification: ${valid ? 'all entries in scope verify' : '**the ledger has faults**'}`,
        ...faults.map(({ code, detail }) => `  - ${markdown(`${detail} (${code})`)}`),
        `- Gaps: ${gaps}`,
      ].join('\n'),
      ...frameworks.flatMap(({ title, clauses }) => [
        `## ${markdown(title)}`,
        sumText(clauses),
        ...clauses.map(clauseText),
      ]),
    ].join('\n\n') + '\n'
  );
}

function clauseText({ id, title, asks, status, measures }: ClauseReport): string {
  return [
    `### ${markdown(`${id} ${title}`)}: ${status}`,
    markdown(asks),
    measures.map(measureText).join('\n'),
  ].join('\n\n');
}

function measureText({
  title,
  status,
  figure,
  examples = [],
  remedy,
  proof,
}: MeasureReport): string {
  return [
    `- **${status}**: ${markdown(title)}: ${markdown(figure)}`,
    ...(remedy === undefined ? [] : [`  - To close the gap: ${markdown(remedy)}`]),
    ...examples.map((example) => `  - ${exampleText(example)}`),
    `  - Check: ${code(proof.command)}${proof.api === undefined ? '' : `, or ${code(proof.api)}`}`,
  ].join('\n');
}

function exampleText(example: Example): string {
  const { trajectory_id, seq, at, note } = example;
  const text = note === undefined ? '' : `: ${markdown(note)}`;
  return `${markdown(trajectory_id)} seq ${seq}, ${markdown(at)}${text} (${code(bundleCommand(example))})`;
}

/** The text between marks of code, where no character is special but the mark itself. */
function code(text: string): string {
  return /[`\p{Cc}]/u.test(text) ? markdown(text) : `\`${text}\``;
}
