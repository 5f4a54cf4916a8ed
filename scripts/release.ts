/**
 * Releases the version of package.json: `node scripts/release.ts` checks everything, builds, and
 * prints the packed size of each package and the actions of a release; `--publish` performs them.
 * The bill of materials is dist/sbom.cdx.json. A release is the signed tag `vX.Y.Z` and
 * `npm publish --provenance` of each package in dist/. Provenance needs a CI job with an identity
 * token; .github/workflows/release.yml is such a job.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGES } from './layers.ts';
import { billOfMaterials, packPackages } from './packed-packages.ts';

const root = process.cwd();
const dist = join(root, 'dist');

/** Files that the published packages have to have. */
const WANTED = [
  ...[
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'bin/assize.js',
    'src/public/index.js',
    'src/public/index.d.ts',
  ].map((name) => `assize/${name}`),
  ...['cli/bin/assize.js', 'cli/src/main.js', 'console/index.html'],
];

/** An action by its commit, with the version of that commit. */
const PINNED = /\buses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

const { values } = parseArgs({
  options: {
    publish: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
  },
});
if (values.publish && values['dry-run'])
  fail(['--publish and --dry-run exclude each other. Give one of them.']);

const { version, repository } = readManifest(root);
/** Each after the packages that it needs. */
const packages = ['console', 'docs', ...Object.keys(PACKAGES)];
const tag = `v${version}`;

const problems = [
  ...treeProblems(),
  ...tagProblems(),
  ...changelogProblems(),
  ...workflowProblems(),
];
if (problems.length > 0) fail(problems);

run(process.execPath, ['scripts/build.ts', 'dist', '--docs'], root);
const bill = billOfMaterials(root);
const tarballs = mkdtempSync(join(tmpdir(), 'assize-packed-'));
const folders = packages.map((name) => join(dist, name));
const packed = await packPackages(folders, { to: tarballs, repository: repository.url });
rmSync(tarballs, { recursive: true });
const faults = [...packageProblems(), ...packed.problems, ...bill.problems];
if (faults.length > 0) fail(faults);
writeFileSync(join(dist, 'sbom.cdx.json'), bill.text);
for (const [name, size] of packed.sizes)
  console.log(`${name.padEnd(24)}${(size / 1_000).toFixed(0).padStart(8)} kB`);

const tagging = ['tag', '--sign', tag, '--message', `Assize ${version}`];
const publishing = ['publish', '--provenance', '--access', 'public'];

if (values.publish) {
  run('git', tagging, root);
  for (const [n, folder] of packages.entries()) {
    try {
      run('npm', publishing, join(dist, folder));
    } catch (error) {
      // A tag names a published version, so a version that was not published gets none.
      if (n === 0) run('git', ['tag', '--delete', tag], root);
      else
        console.error(
          `release: not published yet: ${packages.slice(n).join(', ')}. Publish them from dist/.`,
        );
      throw error;
    }
  }
  console.log(`Released ${version}. Push the tag: git push origin ${tag}`);
} else {
  console.log(`Release ${version}: every check passes. The release would run:`);
  console.log(`  (in .) git ${tagging.map(quoted).join(' ')}`);
  for (const folder of packages) console.log(`  (in dist/${folder}) npm ${publishing.join(' ')}`);
  console.log('Nothing was tagged or published. To release, run: npm run release -- --publish');
}

function treeProblems(): string[] {
  const changed = git('status', '--porcelain');
  return changed === '' ? [] : [`The working tree has changes. Commit or stash them:\n${changed}`];
}

function tagProblems(): string[] {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    return [
      `package.json has version ${version}, and that is not a semantic version. Write X.Y.Z.`,
    ];
  return git('tag', '--list', tag) === ''
    ? []
    : [`The tag ${tag} exists. Raise the version in package.json.`];
}

/** The changelog has a section of this version with a date and at least one line. */
function changelogProblems(): string[] {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const sections = text.split(/^## /m).slice(1);
  const section = sections.find((each) => each.startsWith(`[${version}]`));
  if (section === undefined)
    return [`CHANGELOG.md has no section for ${version}. Add "## [${version}] - YYYY-MM-DD".`];
  const [heading = '', ...lines] = section.split('\n');
  if (!/^\[[^\]]+\] - \d{4}-\d{2}-\d{2}$/.test(heading))
    return [
      `CHANGELOG.md has no date for ${version} ("## ${heading}"). Write "## [${version}] - YYYY-MM-DD".`,
    ];
  return lines.some((line) => line.startsWith('- '))
    ? []
    : [`CHANGELOG.md lists no change for ${version}. List them.`];
}

/**
 * The workflow asks for the identity that provenance needs, signs tags, and names each action by
 * its commit, because a tag of an action can move.
 */
function workflowProblems(): string[] {
  const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
  const loose = text.split('\n').filter((line) => /\buses:/.test(line) && !PINNED.test(line));
  return [
    ...loose.map((line) => `release.yml names an action by no commit: ${line.trim()}`),
    ...['id-token: write', 'user.signingkey']
      .filter((wanted) => !text.includes(wanted))
      .map((wanted) => `release.yml has no "${wanted}".`),
  ];
}

/**
 * Checks the build, the published packages: the files exist, the versions match, and no
 * source or test is among them.
 */
function packageProblems(): string[] {
  return [
    ...packages.flatMap(manifestProblems),
    ...WANTED.filter((name) => !existsSync(join(dist, name))).map(
      (name) => `dist/${name} is missing. Mend the build.`,
    ),
    ...globSync('*/{bin,src}/**/*.ts', { cwd: dist })
      .filter((name) => !name.endsWith('.d.ts') || name.endsWith('.test.d.ts'))
      .map((name) => `dist/${name} is a source or a test. Mend the build.`),
  ];
}

function manifestProblems(folder: string): string[] {
  const built = readManifest(join(dist, folder));
  return [
    ...(built.version === version
      ? []
      : [`dist/${folder} has version ${built.version}, not ${version}. Mend the build.`]),
    ...(built.private === true
      ? [`dist/${folder} is private, so npm would not publish it. Mend the build.`]
      : []),
  ];
}

function readManifest(folder: string): {
  readonly version: string;
  readonly private?: boolean;
  readonly repository: { readonly url: string };
} {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: 'inherit' });
}

function quoted(arg: string): string {
  return /\s/.test(arg) ? JSON.stringify(arg) : arg;
}

function fail(reasons: readonly string[]): never {
  for (const reason of reasons) console.error(`release: ${reason}`);
  process.exit(1);
}
