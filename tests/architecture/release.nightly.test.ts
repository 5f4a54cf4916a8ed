/** The release script, in a clone of the last commit with the scripts of the working tree. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGES } from '../../scripts/layers.ts';

const root = join(import.meta.dirname, '../..');
/** Each after the packages that it needs. */
const PUBLISHED = ['console', 'docs', ...Object.keys(PACKAGES)];
let folder: string;
let clone: string;
let version: string;

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
    cwd: clone,
    encoding: 'utf8',
  });

/** Runs the script in the clone, with an `npm` that writes down what it would publish. */
function release(...args: readonly string[]): {
  status: number | null;
  out: string;
  err: string;
  npm: string[];
} {
  const calls = join(folder, 'npm-calls');
  rmSync(calls, { force: true });
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.ts', ...args], {
    cwd: clone,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`,
      GIT_AUTHOR_NAME: 'Test',
      GIT_AUTHOR_EMAIL: 'test@example.com',
      GIT_COMMITTER_NAME: 'Test',
      GIT_COMMITTER_EMAIL: 'test@example.com',
    },
  });
  const npm = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
  return { status, out: stdout, err: stderr, npm };
}

/** Gives the section of this version another heading, and commits that. */
function dateChangelog(heading: string): void {
  const file = join(clone, 'CHANGELOG.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^## \[[^\]]*\].*$/m, `## ${heading}`));
  git('commit', '--all', '--quiet', '--message', 'package: date the release');
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-release-'));
  clone = join(folder, 'clone');
  execFileSync('git', ['clone', '--quiet', '--no-tags', '--shared', root, clone], {
    stdio: 'pipe',
  });
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  // The files under test are those of the working tree, committed there or not.
  for (const name of [
    'scripts/release.ts',
    'scripts/build.ts',
    'scripts/bundle.ts',
    'scripts/layers.ts',
    'scripts/packed-packages.ts',
    '.github/workflows/release.yml',
    'package.json',
    'package-lock.json',
    'CHANGELOG.md',
    'LICENSE',
  ])
    copyFileSync(join(root, name), join(clone, name));
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'package: take the working tree');
  version = (JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as { version: string })
    .version;
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const key = join(folder, 'tag-key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  git('config', 'gpg.format', 'ssh');
  git('config', 'user.signingkey', key);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(
    join(folder, 'bin/npm'),
    `#!/bin/sh
[ "$1" = publish ] || exec '${npm}' "$@"
printf '%s %s\\n' "$(basename "$PWD")" "$*" >> '${folder}/npm-calls'
`,
  );
  chmodSync(join(folder, 'bin/npm'), 0o755);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a version without a section, date or change in CHANGELOG.md is refused', () => {
  dateChangelog('[99.0.0] - 2026-01-01');
  expect(release()).toMatchObject({
    status: 1,
    err: `release: CHANGELOG.md has no section for ${version}. Add "## [${version}] - YYYY-MM-DD".\n`,
  });
  dateChangelog(`[${version}] - unreleased`);
  expect(release('--dry-run')).toMatchObject({
    status: 1,
    out: '',
    err: `release: CHANGELOG.md has no date for ${version} ("## [${version}] - unreleased"). Write "## [${version}] - YYYY-MM-DD".\n`,
  });
});

test('a working tree with changes is refused, and --publish with --dry-run', () => {
  dateChangelog(`[${version}] - 2026-12-01`);
  const workflow = join(clone, '.github/workflows/release.yml');
  const text = readFileSync(workflow, 'utf8');
  writeFileSync(workflow, text.replace(/checkout@\S+/, 'checkout@v5'));
  expect(release().err).toContain('names an action by no commit: - uses: actions/checkout@v5');
  writeFileSync(workflow, text);
  writeFileSync(join(clone, 'left-over.txt'), '');
  const { status, err } = release('--publish');
  rmSync(join(clone, 'left-over.txt'));
  expect(status).toBe(1);
  expect(err).toBe(
    'release: The working tree has changes. Commit or stash them:\n?? left-over.txt\n',
  );
  expect(release('--publish', '--dry-run')).toMatchObject({ status: 1, npm: [] });
});

test('a dry run packs and checks all, shows the plan, never tags or publishes', () => {
  const { status, out, err, npm } = release('--dry-run');
  expect({ status, err, npm }).toEqual({ status: 0, err: '', npm: [] });
  const lines = out.split('\n');
  const sizes = lines.filter((line) => line.endsWith(' kB'));
  expect(sizes).toHaveLength(PUBLISHED.length);
  expect(sizes.find((line) => line.startsWith('assize '))).toMatch(/ \d{3} kB$/);
  const bill = JSON.parse(readFileSync(join(clone, 'dist/sbom.cdx.json'), 'utf8'));
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX' });
  expect(
    lines.slice(lines.indexOf(`Release ${version}: every check passes. The release would run:`)),
  ).toEqual([
    `Release ${version}: every check passes. The release would run:`,
    `  (in .) git tag --sign v${version} --message "Assize ${version}"`,
    ...PUBLISHED.map((name) => `  (in dist/${name}) npm publish --provenance --access public`),
    'Nothing was tagged or published. To release, run: npm run release -- --publish',
    '',
  ]);
  expect(git('tag', '--list')).toBe('');
  // Links of the README to other packages lead to the repository.
  for (const name of ['LICENSE', 'CHANGELOG.md'])
    expect(readFileSync(join(clone, 'dist/assize', name), 'utf8'), name).toBe(
      readFileSync(join(clone, name), 'utf8'),
    );
});

test('a version that npm refuses keeps no tag', () => {
  const npm = join(folder, 'bin/npm');
  const script = readFileSync(npm, 'utf8');
  writeFileSync(npm, `${script}exit 1\n`);
  expect(release('--publish').status).toBe(1);
  expect(git('tag', '--list')).toBe('');
  writeFileSync(npm, script);
});

test('--publish tags and publishes from dist, and a second time refuses', () => {
  const { status, out, npm } = release('--publish');
  expect({ status, npm }).toEqual({
    status: 0,
    npm: PUBLISHED.map((name) => `${name} publish --provenance --access public`),
  });
  expect(out).toBe(`Released ${version}. Push the tag: git push origin v${version}\n`);
  expect(git('cat-file', '-p', `v${version}`)).toContain('BEGIN SSH SIGNATURE');
  expect(release('--publish')).toMatchObject({
    status: 1,
    err: `release: The tag v${version} exists. Raise the version in package.json.\n`,
    npm: [],
  });
});
