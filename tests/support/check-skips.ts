// Reads vitest’s reports in JSON and prints by file the skipped tests, with the reason. Fails if a
// test is skipped for no known reason.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { judgeSkips, type Skipped } from './skips.ts';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const root = join(import.meta.dirname, '../..');
const paths = process.argv.slice(2);
if (paths.length === 0)
  throw new Error('give the reports: node tests/support/check-skips.ts REPORT.json…');
const reports = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')) as Report);
const total = (of: 'numPassedTests' | 'numFailedTests'): number =>
  reports.reduce((sum, report) => sum + report[of], 0);

const skipped: Skipped[] = reports
  .flatMap(({ testResults }) => testResults)
  .flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ fullName: name }) => ({ file: relative(root, file).split(sep).join('/'), name })),
  );
const { expected, unexpected } = judgeSkips(skipped);
/** By file: that and the reason tell which they are. */
const filesOf = (tests: readonly Skipped[]): string => {
  const files = [...new Set(tests.map(({ file }) => file))];
  return files
    .map((file) => `${file} (${tests.filter((each) => each.file === file).length})`)
    .join(', ');
};
for (const [why, tests] of expected)
  console.log(`${tests.length} skipped, as ${why}: ${filesOf(tests)}`);
if (unexpected.length > 0) {
  console.log(`${unexpected.length} SKIPPED WITHOUT A REASON that tests/support/skips.ts has:`);
  for (const { file, name } of unexpected) console.log(`  ${file} > ${name}`);
  process.exitCode = 1;
}
console.log(
  `${total('numPassedTests')} passed, ${total('numFailedTests')} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
);
