/**
 * Prints the size of each package: files, lines and tokens of its product code, the names that its
 * entries export, and its dependencies. Tests do not count. The calls of a proposal and of
 * a statement follow. Exit status 1 when a figure is above its limit: make it smaller,
 * or say in the commit why the limit rises.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { codePathBench } from '../bench/code-path.ts';
import { formatTable, meetsGoal } from '../bench/measure.ts';

/** Lines and tokens at most, in thousands. The goal of all published packages is 155 and less. */
const LIMITS: Readonly<Record<string, readonly [lines: number, tokens: number]>> = {
  assize: [89.8, 545.2],
  '@assize/postgres': [8.4, 39.5],
  '@assize/command': [5.3, 31.5],
  '@assize/cli': [13.8, 86.9],
  '@assize/server': [14.4, 97.6],
  '@assize/testing': [15.5, 133],
  '@assize/gate': [32.3, 235],
  '@assize/agents': [15.1, 97.3],
  '@assize/tools': [9.3, 59.7],
  '@assize/audit': [17.6, 111],
  '@assize/cells': [3.1, 19],
  '@assize/console': [25.9, 183.9],
};

/** Of each other package: each is one adapter. */
const SMALL = [1.3, 9] as const;

const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|`(?:\\[\s\S]|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|[A-Za-z_$#@][\w$]*|\d[\w.]*|=>|\.\.\.|\?\?=?|\?\.|[=!]==?|&&=?|\|\|=?|[<>+\-*/%]=?|[^\s\w]/g;

const root = process.cwd();
const text = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Row {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
  readonly tokens: number;
  readonly names: number;
  readonly dependencies: number;
}

function measured(folder: string): Row {
  const { name, exports = {}, dependencies = {} } = JSON.parse(text(join(folder, 'package.json')));
  const files = globSync(`${folder}/{bin,src,verify}/**/*.{ts,tsx,js}`, { cwd: root }).filter(
    (file) => !/\.test\.tsx?$|\.d\.ts$/.test(file),
  );
  const texts = files.map(text);
  const entries = Object.entries<string>(exports).filter(
    ([subpath, path]) => path.endsWith('.ts') && !/\*|unstable|internal|host/.test(subpath),
  );
  const names = new Set(entries.flatMap(([, path]) => namesIn(normalize(join(folder, path)))));
  return {
    name,
    files: files.length,
    lines: texts.reduce((sum, each) => sum + each.split('\n').length - 1, 0),
    tokens: texts.reduce((sum, each) => sum + tokensIn(each), 0),
    names: names.size,
    dependencies: Object.keys(dependencies).length,
  };
}

/** Comments do not count. A template is one token, plus three for each value in it. */
function tokensIn(code: string): number {
  return (code.match(TOKEN) ?? []).reduce((sum, token) => {
    if (token.startsWith('/*') || token.startsWith('//')) return sum;
    return sum + 1 + (token.startsWith('`') ? 3 * (token.split('${').length - 1) : 0);
  }, 0);
}

/** The names that an entry exports. It names all of them. */
function namesIn(file: string): string[] {
  const code = text(file).replace(/\/\*[\s\S]*?\*\//g, '');
  const lists = [...code.matchAll(/export\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list.split(','),
  );
  const declared = [
    ...code.matchAll(/export\s+(?:async\s+)?(?:class|function|const|interface|type)\s+(\w+)/g),
  ];
  return [
    ...lists
      .map((each) => each.trim().replace(/^type\s+|^.*\sas\s+/g, ''))
      .filter((each) => each !== ''),
    ...declared.map(([, each = '']) => each),
  ];
}

const rows = [...globSync('packages/*', { cwd: root }), 'console']
  .map((folder) => measured(folder))
  .sort((a, b) => b.tokens - a.tokens);
const columns = ['files', 'lines', 'tokens', 'names', 'dependencies'] as const;
const row = (name: string, values: readonly (string | number)[]): string =>
  name.padEnd(24) + values.map((each) => String(each).padStart(9)).join('');
console.log(row('package', ['files', 'lines', 'tokens', 'names', 'needs']));
for (const each of rows)
  console.log(
    row(
      each.name,
      columns.map((column) => each[column]),
    ),
  );
const product = rows.filter(({ name }) => !['@assize/console', '@assize/testing'].includes(name));
console.log(
  `All but console and testing: ${product.reduce((sum, { lines }) => sum + lines, 0)} lines.`,
);

const large = rows.filter(({ name, lines, tokens }) => {
  const [most, mostTokens] = LIMITS[name] ?? SMALL;
  return lines > most * 1_000 || tokens > mostTokens * 1_000;
});
for (const { name } of large) console.error(`${name} is larger than its limit in scripts/size.ts.`);

const passed = await codePathBench();
console.log(formatTable(passed));
const isLong = !passed.every(meetsGoal);
if (isLong) console.error('An operation makes more calls than its limit in bench/code-path.ts.');
process.exitCode = large.length === 0 && !isLong ? 0 : 1;
