/**
 * The drivers of peers/drivers, each with its framework: those with Assize pass every scenario, and
 * each has the verdicts that docs/reference/conformance.md shows.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ConformanceReport, conformanceMarkdown, runConformance } from '#conformance';

const root = join(import.meta.dirname, '../../..');
const drivers = globSync('peers/drivers/*.driver.ts', { cwd: root }).sort();
const page = readFileSync(join(root, 'docs/reference/conformance.md'), 'utf8');
const shown =
  /<!-- conformance: begin[^\n]*-->\n([\s\S]*?)<!-- conformance: end -->/.exec(page)?.[1] ?? '';

const judged = (file: string): Promise<ConformanceReport> =>
  runConformance({ driver: [process.execPath, join(root, file)] });

function cellsOf(row: string): readonly string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The rows of a table with the column of one driver, and its note. */
function columnOf(markdown: string, driver: string): readonly string[] {
  const rows = markdown.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.map(cellsOf);
  const at = cells[0]?.indexOf(driver) ?? -1;
  const note = markdown.split('\n').filter((line) => line.startsWith(`- **${driver}**`));
  return [...cells.map((row) => `${row[0]} | ${row[at]}`), ...note];
}

test('the first table of the page counts the verdicts of the last one', () => {
  const [head = [], , ...scenarios] = shown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  const counted = page.slice(0, page.indexOf('## ')).match(/^\| .*\d \|$/gm) ?? [];
  const verdicts = (driver: string) => scenarios.map((row) => row[head.indexOf(driver)] ?? '');
  const count = (driver: string, verdict: RegExp) =>
    verdicts(driver).filter((each) => verdict.test(each)).length;
  const kinds = [/^pass/, /^fail/, /^fail: made twice/, /^n\.a\./];
  expect(counted.map(cellsOf).sort()).toEqual(
    head
      .slice(1)
      .map((driver) => [driver, ...kinds.map((kind) => String(count(driver, kind)))])
      .sort(),
  );
});

test.each(['gate', 'gate-http'])('%s passes every scenario, without a framework', async (name) => {
  const { verdicts } = await judged(`peers/drivers/${name}.driver.ts`);
  expect(verdicts.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
});

describe.skipIf(
  !existsSync(join(root, 'peers/node_modules/@langchain/langgraph-checkpoint-sqlite')),
)('with frameworks (absent without npm ci --prefix peers)', () => {
  test.each(drivers)('%s has the verdicts of the guide', async (file) => {
    const report = await judged(file);
    const { driver, versions, verdicts } = report;
    if (versions['assize'] !== undefined)
      expect(verdicts.filter(({ verdict }) => verdict === 'fail' || verdict === 'error')).toEqual(
        [],
      );
    expect(columnOf(conformanceMarkdown([report]), driver)).toEqual(columnOf(shown, driver));
  });

  test('the guide shows every driver, and no other', () => {
    expect(shown.split('\n').filter((line) => line.startsWith('- **'))).toHaveLength(
      drivers.length,
    );
  });
});
