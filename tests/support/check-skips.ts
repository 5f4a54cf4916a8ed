// Reads vitest's report in JSON and says by name what was skipped, and why that may be. Fails where something was for no reason that is known.
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
const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('give the report: node tests/support/check-skips.ts REPORT.json');
const report = JSON.parse(readFileSync(path, 'utf8')) as Report;

const skipped: Skipped[] = report.testResults.flatMap(({ name: file, assertionResults }) =>
  assertionResults
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName: name }) => ({ file: relative(root, file).split(sep).join('/'), name })),
);
const { expected, unexpected } = judgeSkips(skipped);
const say = (title: string, tests: readonly Skipped[]): void => {
  console.log(`${title}:\n${tests.map(({ file, name }) => `  ${file} > ${name}`).join('\n')}`);
};
for (const [why, tests] of expected) say(`${tests.length} skipped, as ${why}`, tests);
if (unexpected.length > 0) {
  say(`${unexpected.length} SKIPPED WITHOUT A REASON that tests/support/skips.ts has`, unexpected);
  process.exitCode = 1;
}
console.log(
  `${report.numPassedTests} passed, ${report.numFailedTests} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
);
