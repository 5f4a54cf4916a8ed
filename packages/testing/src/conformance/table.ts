import type { FindingKind } from './judge.ts';
import type { ConformanceReport, ScenarioVerdict } from './run-conformance.ts';
import { SCENARIOS } from './scenarios/all.ts';

/** The findings in the words of a table. */
export const FINDING_WORDS: Readonly<Record<FindingKind, string>> = {
  'made-twice': 'made twice',
  'not-approved': 'made without approval',
  'other-arguments': 'made with other arguments',
  'not-made': 'not made',
  'unknown-call': 'a call that was not asked for',
  untrue: 'a success without an effect',
  'lost-change': 'a change is lost',
  'not-taken-back': 'not taken back',
  'not-named': 'a call that stays is not named',
  'not-shown': 'made otherwise than shown',
  'did-not-ask': 'did not ask',
  'not-reached': 'did not go on',
};

/** A verdict in a cell. The same faults of a runtime give the same text in every run. */
export function cellOf({ verdict, findings }: ScenarioVerdict): string {
  const [first] = findings;
  return verdict === 'fail' && first !== undefined ? `fail: ${FINDING_WORDS[first.kind]}` : verdict;
}

/** The verdicts as a table of Markdown: rows are scenarios, columns are drivers. */
export function conformanceMarkdown(reports: readonly ConformanceReport[]): string {
  const names = SCENARIOS.map(({ name }) => name).filter((name) =>
    reports.some(({ verdicts }) => verdicts.some(({ scenario }) => scenario === name)),
  );
  const rows = names.map((name) => [
    `\`${name}\`: ${SCENARIOS.find((each) => each.name === name)?.title}`,
    ...reports.map(({ verdicts }) => {
      const found = verdicts.find(({ scenario }) => scenario === name);
      return found === undefined ? '' : cellOf(found);
    }),
  ]);
  const head = ['', ...reports.map(({ driver }) => driver)];
  const table = [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map(escaped).join(' | ')} |`,
  );
  return `${[...table, '', ...reports.flatMap(notesOf)].join('\n')}\n`;
}

/** The versions of a driver, and its reasons for scenarios that are not applicable. */
function notesOf({ driver, versions, verdicts }: ConformanceReport): string[] {
  const packages = Object.entries(versions).map(([name, version]) => `\`${name}\` ${version}`);
  if (packages.length === 0) packages.push('the driver did not run');
  const reasons = verdicts
    .filter(({ verdict }) => verdict === 'n.a.')
    .map(({ scenario, reasons }) => `\`${scenario}\`: ${reasons.join(', ')}`);
  return [`- **${driver}**: ${[packages.join(', '), ...reasons].join('; ')}.`];
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|');
}
