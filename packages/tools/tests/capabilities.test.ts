import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/design/capabilities.md'), 'utf8');

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The rows of a table, from the head that starts with this cell on. */
function rowsOf(first: string): string[][] {
  const lines = page.split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  const end = lines.findIndex((line, i) => i > head && !line.startsWith('|'));
  return lines.slice(head + 2, end).map(cellsOf);
}

const assize = rowsOf('capability');

test('the page rates Assize in each capability of the paper’s table', () => {
  const [, ...capabilities] = cellsOf(
    page.split('\n').find((line) => line.startsWith('| system |'))!,
  );
  const rated = assize.filter(([capability]) => capability !== '');
  expect(rated.map(([capability]) => capability)).toEqual(capabilities);
  expect(rated.filter(([, mark]) => !['●', '○'].includes(mark!))).toEqual([]);
});

test('each partial capability of Assize is explained', () => {
  const partial = assize
    .filter(([, mark]) => mark === '○')
    .map(([capability]) => capability!.toLowerCase());
  const explained = [...page.matchAll(/^- \*\*(.+?)\.\*\*/gm)].map(([, name]) =>
    name!.toLowerCase(),
  );
  expect(explained).toEqual(partial);
});

test.each(assize.map(([, , shown]) => shown!))('the page names an existing test: %s', (shown) => {
  const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(shown) ?? [];
  expect([file, existsSync(join(root, file))]).toEqual([file, true]);
  expect(readFileSync(join(root, file), 'utf8')).toContain(`'${title}'`);
});

test('the rows of other systems are those of the paper', () => {
  expect(rowsOf('system').map((cells) => cells.join(' '))).toEqual([
    'Atomix ● ● ● ● ● ● –',
    'AgentGit – – – ● – – –',
    'AIOS – – – ○ – – ○',
    'LangGraph – – – ○ – – ●',
    'Temporal – – – ● – – ●',
  ]);
});
