/**
 * Builds the published packages into dist/, one folder each: bundled JavaScript, declarations, and
 * a package.json. Its `exports` and `imports` name the built files. In the repository the same
 * names lead to the sources, so work on it needs no build. The first argument can name another
 * folder. Further arguments go to the compiler.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundlePackage, internalEntries } from './bundle.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, process.argv[2] ?? 'dist');
const REPOSITORY = 'https://github.com/assize/assize';
const TEXTS = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'];
/** Folders of the repository that packages contain, by package. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  // The links of the README, and the paths in comments and help, lead to these.
  assize: ['docs', 'examples/programs', 'verifiers', 'clients'],
  cli: ['verifiers'],
};

rmSync(dist, { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const project = join(root, 'tsconfig.build.json');
execFileSync(
  process.execPath,
  [compiler, '-p', project, '--outDir', dist, ...process.argv.slice(3)],
  {
    stdio: 'inherit',
  },
);
const folders = globSync('packages/*/package.json', { cwd: root }).map((file) => dirname(file));
const internals = internalEntries(root);
await Promise.all(
  folders.map((folder) => {
    const entries = entriesOf(folder);
    return (
      entries.length > 0 && bundlePackage(join(root, folder), entries, join(dist, basename(folder)))
    );
  }),
);
for (const folder of folders) makePackage(folder);
execFileSync(process.execPath, [join(root, 'scripts/build-console.ts'), join(dist, 'console')], {
  stdio: 'inherit',
});
const { name, version, description } = readManifest('console');
write('console', { name, version, description, type: 'module', exports: { './*': './*' } });
for (const text of TEXTS) copyFileSync(join(root, text), join(dist, 'assize', text));
writeFileSync(
  join(dist, 'assize/README.md'),
  withReachableLinks(readFileSync(join(root, 'README.md'), 'utf8')),
);

/** The files that others import of a package, and the one that its command starts. */
function entriesOf(folder: string): string[] {
  const { name, exports } = readManifest(folder);
  const named = Object.entries<string>(exports).flatMap(([subpath, path]) =>
    subpath.startsWith('./internal') || !path.endsWith('.ts')
      ? []
      : globSync(path, { cwd: join(root, folder) }),
  );
  const internal = [...(internals.get(name) ?? [])].map((path) => join('src', path));
  return [...named, ...internal, ...globSync('src/main.ts', { cwd: join(root, folder) })];
}

/** The files of a package beside its code and declarations. */
function makePackage(folder: string): void {
  const short = basename(folder);
  for (const file of globSync('{bin/*.js,src/**/*.{ttl,yaml}}', { cwd: join(root, folder) })) {
    mkdirSync(dirname(join(dist, short, file)), { recursive: true });
    copyFileSync(join(root, folder, file), join(dist, short, file));
  }
  for (const each of FOLDERS[short] ?? [])
    cpSync(join(root, each), join(dist, short, each), {
      recursive: true,
      filter: (path) => !path.includes('__pycache__'),
    });
  const readme = readFileSync(join(root, folder, 'README.md'), 'utf8');
  writeFileSync(
    join(dist, short, 'README.md'),
    readme.replaceAll('](../../', `](${REPOSITORY}/blob/main/`),
  );
  write(short, publishedManifest(folder));
}

function write(short: string, manifest: object): void {
  const { version, license, homepage, bugs, repository, engines } = readManifest('.');
  const whole = { ...manifest, version, license, homepage, bugs, repository, engines };
  writeFileSync(join(dist, short, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(dist, short, 'LICENSE'));
}

/** The README, in which a link to a file of another workspace leads to the repository. */
function withReachableLinks(readme: string): string {
  return readme.replaceAll(/\]\((?!https?:|#)([^)#]+)/g, (link: string, path: string) =>
    existsSync(join(dist, 'assize', path)) ? link : `](${REPOSITORY}/blob/main/${path}`,
  );
}

/** The package's manifest, in which every path of a source is the path of the built file. */
function publishedManifest(folder: string): Record<string, unknown> {
  const {
    private: _private,
    scripts: _scripts,
    exports,
    imports = {},
    dependencies = {},
    ...rest
  } = readManifest(folder);
  const zod = rest['peerDependencies']?.zod;
  return {
    ...rest,
    // The project's zod makes the schemas, so a package takes that copy if its version is in the
    // range.
    dependencies: { ...dependencies, ...(zod !== undefined && { zod }) },
    imports: mapped(imports, (path) => built(path, 'js')),
    exports: mapped(exports, (path) =>
      path.endsWith('.ts') ? { types: built(path, 'd.ts'), default: built(path, 'js') } : path,
    ),
  };
}

function readManifest(folder: string): Record<string, any> {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

function mapped<T>(names: Record<string, string>, to: (path: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(names).map(([name, path]) => [name, to(path)]));
}

function built(path: string, extension: string): string {
  return path.replace(/\.ts$/, `.${extension}`);
}
