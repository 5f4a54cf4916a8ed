/**
 * The programs of docs/guide/tools*.md, as they stand. tests/types/wrong.slow.test.ts compiles them
 * with the other guides.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { chromiumPath } from '@assize/labs/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from '../../../tests/support/process/guide-files.ts';

const root = join(import.meta.dirname, '../../..');
const main = join(root, 'packages/cli/src/main.ts');
const BROWSER = 'labs/browser/README.md';
/** Its folder is that of the guide tools.md. */
const SHARED = 'docs/reference/tools.md';
const pages = [
  ...readdirSync(join(root, 'docs/guide')).filter((name) => /^tools(?:-[a-z-]+)?\.md$/.test(name)),
  BROWSER,
  SHARED,
];
let folder: string;

/** Each page has a folder of its name, so one page can import a file of another page. */
const folderOf = (page: string): string => join(folder, basename(page, '.md'));

// Inside the repository, so that `assize` is this package.
beforeAll(() => {
  folder = mkdtempSync(join(root, 'dist-guide-'));
  for (const page of pages) {
    mkdirSync(folderOf(page), { recursive: true });
    for (const { says, code } of blocksOf(page)) {
      const [language, name] = says.split(' ');
      if (language === 'ts') writeFileSync(join(folderOf(page), name!), code);
    }
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Runs a program of the page that a block `text NAME` follows. A block `text NAME (killed)` expects
 * a killed process.
 */
function run(page: string, name: string, isKilled: boolean): string {
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, [`${name}.ts`], {
    cwd: folderOf(page),
    encoding: 'utf8',
  });
  expect({ status, signal }, stderr).toEqual(
    isKilled ? { status: null, signal: 'SIGKILL' } : { status: 0, signal: null },
  );
  return stdout;
}

/** Runs the commands of a block, and returns each command with its output. */
function type(page: string, code: string): string {
  const env = { ...process.env, NODE: process.execPath, MAIN: main, NO_COLOR: '1' };
  return [...code.matchAll(/^\$ assize ((?:.*\\\n)*.*)$/gm)]
    .map(([line, typed]) => {
      const script = `exec "$NODE" "$MAIN" ${typed}`;
      const { stdout, stderr } = spawnSync('sh', ['-c', script], {
        cwd: folderOf(page),
        env,
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return `${line}\n${stdout}`;
    })
    .join('');
}

const needsBrowser = (page: string): boolean => page === BROWSER;

describe.each(pages)('%s', (page) => {
  const blocks = blocksOf(page);

  test.skipIf(needsBrowser(page) && chromiumPath() === undefined)(
    'prints the output that the page shows',
    () => {
      let steps = 0;
      for (const { says, code } of blocks) {
        const [kind, name = '', state] = says.split(' ');
        if (kind === 'text') expect(run(page, name, state === '(killed)')).toBe(code);
        else if (kind === 'console') expect(type(page, code)).toBe(code);
        else continue;
        steps++;
      }
      expect(steps).toBeGreaterThan(0);
    },
  );

  test('has no program that the test does not run', () => {
    const all = pages.flatMap((each) => blocksOf(each).map(({ code }) => code)).join('\n');
    const printed = new Set(blocks.map(({ says }) => /^text (\S+)/.exec(says)?.[1]));
    for (const { says } of blocks) {
      const [language, name] = says.split(' ');
      if (language !== 'ts') continue;
      expect(name).toMatch(/^[a-z]+\.ts$/);
      const isImported =
        all.includes(`from './${name}'`) ||
        all.includes(`from '../${basename(page, '.md')}/${name}'`);
      expect([name, isImported || printed.has(basename(name!, '.ts'))]).toEqual([name, true]);
    }
  });
});
