/**
 * The pages about memory in docs/guide: programs print their output blocks, commands print theirs.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/process/command.ts';
import { blocksOf, writeFiles } from '../support/process/guide-files.ts';

const root = join(import.meta.dirname, '../..');
const main = join(root, 'packages/cli/src/main.ts');
let folder: string;

beforeAll(() => {
  // Inside the repository, so that `assize` is this package.
  folder = mkdtempSync(join(root, 'dist-guide-'));
  for (const page of PAGES) writeFiles(page, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PAGES = ['memory.md', 'memory-search.md', 'chat-memory.md'];

const run = (name: string): string =>
  execFileSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' });

test.each(
  PAGES.flatMap((page) =>
    blocksOf(page).flatMap(({ says, code }) =>
      says.startsWith('text ') ? [[says.slice(5), page, code] as const] : [],
    ),
  ),
)('%s of %s prints its output', (name, _, expected) => {
  expect(run(name)).toBe(expected);
});

test('memory-search.md opens a store that searches vectors', () => {
  expect(run('vectors.ts')).toBe('');
  expect(existsSync(join(folder, 'vectors.db'))).toBe(true);
});

test.each([
  ['ward.db', 'memory-search.md'],
  ['chat.db', 'chat-memory.md'],
])('the commands on %s print their output', async (file, page) => {
  const assize = async (line: string): Promise<string> => {
    const [command, ...args] = [...line.matchAll(/"([^"]*)"|\S+/g)].map(
      ([word, quoted]) => quoted ?? word,
    );
    expect(command).toBe('assize');
    const { out, err } = await runCommand(folder, `sqlite:./${file}`, ...args);
    expect(err, line).toBe('');
    return out;
  };
  for (const { says, code } of blocksOf(page)) {
    if (says === 'sh begin') {
      const script = `assize() { "${process.execPath}" "${main}" "$@"; }\n${code}`;
      execFileSync('sh', ['-euc', script], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    }
    if (says === 'sh approve') {
      const [{ id, questions }] = JSON.parse(await assize('assize pending --json')).pending;
      const n =
        questions[0].members.findIndex(({ object }: { object: string }) => object === 'pneumonia') +
        1;
      let printed = '';
      for (const line of code.trimEnd().split('\n'))
        printed += await assize(line.replace('ID', id).replace('--answer N', `--answer ${n}`));
      expect(printed).toMatch(new RegExp(`^${n} +pneumonia +1 +`, 'm'));
      expect(printed).toMatch(/^committed as [0-9a-f]{12}, notes seq 6$/m);
      expect(printed).toMatch(/^patient 9 diagnosis pneumonia, valid /m);
      expect(printed).toMatch(/^lost +flu +0\.7 /m);
    }
    if (says !== 'console') continue;
    for (const step of code
      .replace(/ \\\n */g, ' ')
      .split(/^\$ /m)
      .slice(1)) {
      const [command = '', ...below] = step.trimEnd().split('\n');
      expect(known(await assize(command)), command).toBe(known(below.join('\n')));
    }
  }
});

/** The output without ids, instants and widths. A page breaks a long line with an indent. */
function known(printed: string): string {
  return printed
    .replace(/\n {2,}/g, ' ')
    .replace(/\b[0-9a-f]{12}\b/g, 'ID')
    .replace(/::\S*/g, '::…')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replace(/ +/g, ' ')
    .trimEnd();
}
