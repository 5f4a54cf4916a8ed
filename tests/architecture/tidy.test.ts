import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Patterns that must not be in a source, with their replacement. */
const BANS: readonly { where: RegExp; not?: RegExp; what: RegExp; instead: string }[] = [
  {
    where: /^packages\/assize\/src\/(canon|ledger|authority|kernel|memory|runtime|stores)\//,
    what: /\bDate\.now\(|\bnew Date\(\)/,
    instead: 'time comes from a Clock (oracle/clock.ts)',
  },
  {
    where: /^packages\/assize\/src\/(ledger|authority|kernel|memory|runtime|stores)\//,
    what: /\bMath\.random\(|\brandomBytes\(|\brandomUUID\(/,
    instead: 'chance comes from a Random (oracle/random.ts)',
  },
  {
    where: /^(packages|labs)\/(?!(?:\w+\/)?cli\/|command\/|\w+\/src\/commands\/)/,
    // An example is a program, and prints. The configuration has one place that reads variables,
    // the drivers of conformance inherit them, and the keys of an object store are nowhere else.
    not: /\/example\.ts$|^packages\/assize\/src\/config\/environment\.ts$|^packages\/assize\/src\/stores\/archive\/s3-environment\.ts$|^packages\/testing\/src\/conformance\/child-environment\.ts$/,
    what: /\bprocess\.env\b|\bconsole\.(log|error|warn)\(/,
    instead: 'settings are arguments; only commands talk',
  },
  {
    where: /^(packages|examples|labs|bench|scripts)\//,
    what: /catch\s*(\([a-z_]*\))?\s*\{\s*\}/i,
    instead: 'handle the error, or let it pass',
  },
  {
    where: /^(packages|examples|labs|bench|scripts|tests)\//,
    not: /tidy\.test\.ts$/,
    what: /\b(TODO|FIXME|XXX|HACK)\b/,
    instead: 'do it, or say in an issue what is missing',
  },
  {
    where: /^(packages|examples|labs|bench|tests)\//,
    not: /tidy\.test\.ts$/,
    what: /\b(it|test|describe)\.(only|todo)\b/,
    instead: 'run all tests',
  },
  {
    where: /^packages\//,
    // The work of these calls no store, or handles its own failure.
    not: /\/(recurring|follow|engines|shared-coordinator|root-watch|log-tail|watchdog|watchdog-worker|event-stream|await-decision|http-server|stdio-end|http-end)\.ts$/,
    what: /\bsetInterval\(/,
    instead: 'a Recurring (server/recurring.ts) handles the failure of its work',
  },
  { where: /^(packages|labs)\//, what: /export \* from/, instead: 'name what a folder shows' },
];

const files = ['packages', 'examples', 'labs', 'bench', 'scripts', 'tests'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name))),
);

for (const { where, not, what, instead } of BANS) {
  test(`no ${what.source} in ${where.source}: ${instead}`, () => {
    const found = files
      .filter(
        (file) =>
          where.test(file) &&
          !(not?.test(file) ?? false) &&
          !(/\.test\.ts$|\/tests\//.test(file) && !where.source.includes('tests')),
      )
      .filter((file) => what.test(withoutComments(readFileSync(join(root, file), 'utf8'))));
    expect(found).toEqual([]);
  });
}

test('every layer starts with a comment on its guarantees and exclusions', () => {
  const folders = (path: string): string[] =>
    readdirSync(join(root, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(path, name));
  const floors = globSync(
    ['packages/{assize,agents,gate,audit,tools}/src/*/index.ts', 'packages/*/src/index.ts'],
    {
      cwd: root,
    },
  )
    .map((file) => dirname(file))
    .filter((path) => !/^packages\/(cli|testing)\//.test(path));
  const experiments = ['effects', 'memory', 'memory/schedules', 'tables'].map((name) =>
    join('labs/experiments', name),
  );
  const alone = [
    'packages/testing/src/conformance',
    ...folders('packages/cli/src/domains'),
    'examples/domains/disclosure',
  ];
  for (const path of [
    ...floors,
    ...alone,
    'examples/domains',
    'labs/ontology',
    'labs/architectures',
    ...experiments,
  ]) {
    expect(readFileSync(join(root, path, 'index.ts'), 'utf8'), path).toMatch(/^(\/\*\*|\/\/)/);
  }
});

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
