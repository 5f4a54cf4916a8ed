/** Every path that a page names in backticks exists, and a package's README names its rooms. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...globSync('docs/**/*.md', { cwd: root }),
  ...globSync('{labs,examples,packages}/**/*.md', { cwd: root }),
].filter((page) => !page.includes('node_modules'));

/** Folders of the repository, as a path in a page starts. */
const PATH =
  /^(?:packages|console|tests|labs|examples|scripts|bench|verifiers|clients|docs|\.ci)\/[\w./-]+$/;

/** Paths in the core. Some pages give them from `packages/assize/src/` on. */
const SHORT =
  /^(?:base|canon|traces|merkle|ledger|authority|kernel|oracle|effects|memory|runtime|stores|views|config)\/(?:[\w./-]+(?:\.ts|\/))?$/;

/** Folders that a reader of a guide makes. */
const OF_READERS: readonly string[] = ['examples/domains/library'];

/**
 * The paths that a text has in backticks, outside of its programs. A name in capitals stands for a
 * name of the reader's.
 */
function pathsIn(text: string): string[] {
  const prose = text.replace(/^ *```[\s\S]*?^ *```$/gm, '');
  return [...prose.matchAll(/`([^`\s]+)`/g)]
    .map(([, code = '']) => code)
    .map((code) => (SHORT.test(code) ? `packages/assize/src/${code}` : code))
    .filter(
      (code) =>
        PATH.test(code) && !/[A-Z]{3,}(?!\.md)|NNN/.test(code) && !OF_READERS.includes(code),
    );
}

test('paths are found in prose, and not in programs or placeholders', () => {
  const text =
    'See `packages/assize/src/public/index.ts`, `effects/tool.ts` and `packages/assize/src/stores/NAME/`.\n```sh\ncat `src/none.ts`\n```\n`npm test`, `domains/`';
  expect(pathsIn(text)).toEqual([
    'packages/assize/src/public/index.ts',
    'packages/assize/src/effects/tool.ts',
  ]);
});

test('ARCHITECTURE.md names more than eighty paths', () => {
  expect(pathsIn(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')).length).toBeGreaterThan(80);
});

describe.each(pages)('%s', (page) => {
  test('names paths that exist', () => {
    const missing = pathsIn(readFileSync(join(root, page), 'utf8')).filter(
      (path) => !existsSync(join(root, path)),
    );
    expect([...new Set(missing)]).toEqual([]);
  });

  test('links to pages that exist', () => {
    const text = readFileSync(join(root, page), 'utf8').replace(/^ *```[\s\S]*?^ *```$/gm, '');
    const links = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(
      ([, link = '']) => link,
    );
    expect(links.filter((link) => !existsSync(join(root, page, '..', link)))).toEqual([]);
  });
});

describe.each(globSync('packages/*/README.md', { cwd: root }))('%s', (page) => {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');

  test('has at most 60 lines', () => {
    expect(lines.length - 1).toBeLessThanOrEqual(60);
  });

  test('names each room of the package, and no other', () => {
    const folders = globSync('src/*/', { cwd: join(root, dirname(page)), withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'public')
      .map(({ name }) => name);
    const cells = lines
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split(' | ')[0] ?? '');
    const rooms = cells.flatMap((cell) =>
      [...cell.matchAll(/`([\w-]+)\/`/g)].map(([, name]) => name),
    );
    const entries = cells.flatMap((cell) =>
      [...cell.matchAll(/`@assize\/\w+\/([\w-]+)`/g)].map(([, name]) => name),
    );
    expect(folders.filter((name) => !rooms.includes(name) && !entries.includes(name))).toEqual([]);
    expect(rooms.filter((name) => name === undefined || !folders.includes(name))).toEqual([]);
  });
});
