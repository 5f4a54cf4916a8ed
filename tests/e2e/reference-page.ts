import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Pages that map the numbers of a paper to code and tests: the contents of their tables, and the
// parts of them that exist.

const root = join(import.meta.dirname, '../..');

/** A file by its path from the project's root. */
export function readFile(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The path from the root of a file that a page names. */
export function pathOf(file: string): string {
  return /^(?:packages|tests|bench|examples|labs)\//.test(file)
    ? file
    : `packages/assize/src/${file}`;
}

/**
 * The rows, as cells, of all tables of a page with this first head cell.
 * @throws if there is no such table
 */
export function rowsOf(page: string, head: string): string[][] {
  const tables = page.match(/(?:^\|.*\|\n)+/gm) ?? [];
  const rows = tables
    .map((table) => table.trimEnd().split('\n').map(cellsOf))
    .filter(([first]) => first?.[0] === head)
    .flatMap((table) => table.slice(2));
  if (rows.length === 0) throw new Error(`no table of ${head}`);
  return rows;
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split(' | ')
    .map((cell) => cell.trim());
}

export const codesIn = (cell = ''): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** Whether a source exports a name, or a member of an exported name (`Owner.member`). */
export function exportsName(source: string, name: string): boolean {
  const [owner = '', member] = name.split('.');
  const declared = new RegExp(
    `^export (?:abstract )?(?:async )?(?:class|function\\*?|const|interface|type) ${owner}\\b([\\s\\S]*?)(?:^}|^export )`,
    'm',
  ).exec(`${source}\nexport `);
  if (declared === null) return false;
  return (
    member === undefined ||
    new RegExp(`^ {2}(?:readonly |async |get )*${member}[<(:]`, 'm').test(declared[1] ?? '')
  );
}

/** The titles of the tests of a file, of the laws of a suite, and of the blocks around them. */
export function titlesOf(source: string): string[] {
  const calls = source.matchAll(
    /(?:\b(?:test|describe|law)(?:\.\w+)*\(|\]\)\(|\)\()\s*(['"])(.+?)\1\s*[,:]|^\s*(['"])(.+?)\3:/gm,
  );
  return [...calls].map(([, , title, , key = '']) => title ?? key);
}

/** The titles that a cell names, each with the file that stands before it. */
export function namedTests(cell: string): { readonly file: string; readonly title: string }[] {
  let file = '';
  return [...cell.matchAll(/`([^`]+)`|“([^”]+)”/g)].flatMap(([, path, title]) => {
    if (path !== undefined) file = path;
    return title === undefined ? [] : [{ file, title }];
  });
}

/** A pattern that ends in … goes on. */
export const matches = (title: string, pattern: string): boolean =>
  pattern.endsWith('…') ? title.startsWith(pattern.slice(0, -1)) : title === pattern;
