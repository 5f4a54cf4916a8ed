import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { blockOf, blocksOf } from '../support/guide-files.ts';

const root = join(import.meta.dirname, '../..');
const main = join(root, 'src/cli/main.ts');
let folder: string;

beforeAll(() => {
  // Inside the repository, so that `assize` is this package.
  folder = mkdtempSync(join(root, 'dist-guide-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the program of the guide to memory runs, and prints what stands below it', () => {
  writeFileSync(join(folder, 'example.ts'), blockOf('memory.md', 'ts'));
  const printed = execFileSync(process.execPath, ['example.ts'], { cwd: folder, encoding: 'utf8' });
  expect(printed).toBe(blockOf('memory.md', 'text'));
});

test('so does its program that reads messages', () => {
  writeFileSync(join(folder, 'extract.ts'), blockOf('memory.md', 'ts extract.ts'));
  const printed = execFileSync(process.execPath, ['extract.ts'], { cwd: folder, encoding: 'utf8' });
  expect(printed).toBe(blockOf('memory.md', 'text extract'));
});

test('so does its store that searches vectors by sqlite-vec', () => {
  writeFileSync(join(folder, 'vectors.ts'), blockOf('memory.md', 'ts vectors.ts').replace('ward.db', 'vectors.db'));
  expect(execFileSync(process.execPath, ['vectors.ts'], { cwd: folder, encoding: 'utf8' })).toBe('');
  expect(existsSync(join(folder, 'vectors.db'))).toBe(true);
});

test('its commands run one after another, and print what stands below them', async () => {
  for (const says of [
    'ts ward.ts',
    'ts begin.ts',
    'ts embedder.ts',
    'json letters.jsonl',
    'ts model.ts',
    'json mails.jsonl',
  ])
    writeFileSync(join(folder, says.split(' ')[1]!), blockOf('memory.md', says));
  const assize = async (line: string): Promise<string> => {
    const [command, ...args] = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
    expect(command).toBe('assize');
    const { out, err } = await runCommand(folder, 'sqlite:./ward.db', ...args);
    expect(err, line).toBe('');
    return out;
  };
  for (const { says, code } of blocksOf('memory.md')) {
    if (says === 'sh begin') {
      const script = `assize() { "${process.execPath}" "${main}" "$@"; }\n${code}`;
      const begin = (): void => {
        execFileSync('sh', ['-euc', script], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
      };
      begin();
      const anchors = readFileSync(join(folder, 'ward.db.anchors.json'), 'utf8');
      begin();
      expect(readFileSync(join(folder, 'ward.db.anchors.json'), 'utf8'), 'again').toBe(anchors);
    }
    if (says === 'sh approve') {
      const [{ id, questions }] = JSON.parse(await assize('assize pending --json')).pending;
      const n = questions[0].members.findIndex(({ object }: { object: string }) => object === 'pneumonia') + 1;
      let told = '';
      for (const line of code.trimEnd().split('\n'))
        told += await assize(line.replace('ID', id).replace('--answer N', `--answer ${n}`));
      expect(told).toMatch(new RegExp(`^${n} +pneumonia +1 +`, 'm'));
      expect(told).toMatch(/^committed as [0-9a-f]{12}, notes seq 6$/m);
      expect(told).toMatch(/^patient 9 diagnosis pneumonia, valid /m);
      expect(told).toMatch(/^lost +flu +0\.7 /m);
    }
    if (says !== 'console') continue;
    for (const step of code.split(/^\$ /m).slice(1)) {
      const [command = '', ...below] = step.trimEnd().split('\n');
      expect(known(await assize(command)), command).toBe(known(below.join('\n')));
    }
  }
});

/** Without what is another one each time: ids, instants, and how wide a column is for them. */
function known(printed: string): string {
  return printed
    .replace(/\b[0-9a-f]{12}\b/g, 'ID')
    .replace(/::\S*/g, '::…')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'INSTANT')
    .replace(/ +/g, ' ')
    .trimEnd();
}
