/**
 * Builds the published packages into dist/, one folder each: bundled JavaScript, declarations, and
 * a package.json. Its `exports` and `imports` name the built files. In the repository the same
 * names lead to the sources, so work on it needs no build. The first argument can name another
 * folder. `--docs` also builds the documentation, and further arguments go to the compiler.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundlePackage, internalEntries } from './bundle.ts';

const root = join(import.meta.dirname, '..');
const [folderName = 'dist', ...flags] = process.argv.slice(2);
const dist = join(root, folderName);
const REPOSITORY = 'https://github.com/assize/assize';
/** Files of the repository that packages contain, by package. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  assize: ['CHANGELOG.md'],
  cli: ['verifiers/python/verify.py'],
};

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, 'scripts/console-types.ts')], { stdio: 'inherit' });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const project = join(root, 'tsconfig.build.json');
execFileSync(
  process.execPath,
  [compiler, '-p', project, '--outDir', dist, ...flags.filter((flag) => flag !== '--docs')],
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
makeSite('console');
if (flags.includes('--docs')) {
  execFileSync(process.execPath, [join(root, 'scripts/build-docs.ts')], { stdio: 'inherit' });
  cpSync(join(root, 'docs/.vitepress/dist'), join(dist, 'docs'), { recursive: true });
  makeSite('docs');
}

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
  for (const file of globSync('{bin/*.js,src/**/*.{d.ts,ttl,yaml}}', { cwd: join(root, folder) })) {
    mkdirSync(dirname(join(dist, short, file)), { recursive: true });
    copyFileSync(join(root, folder, file), join(dist, short, file));
  }
  for (const file of FILES[short] ?? []) {
    mkdirSync(dirname(join(dist, short, file)), { recursive: true });
    copyFileSync(join(root, file), join(dist, short, file));
  }
  const home = short === 'assize' ? '.' : folder;
  const readme = readFileSync(join(root, home, 'README.md'), 'utf8');
  writeFileSync(join(dist, short, 'README.md'), withReachableLinks(readme, home));
  write(short, publishedManifest(folder));
}

/** The manifest of a folder of built pages. */
function makeSite(folder: string): void {
  const { name, version, description } = readManifest(folder);
  write(folder, { name, version, description, type: 'module', exports: { './*': './*' } });
}

function write(short: string, manifest: object): void {
  const { version, license, homepage, bugs, repository, engines } = readManifest('.');
  const publishConfig = { access: 'public', provenance: true };
  const own = { version, license, homepage, bugs, repository, engines, publishConfig };
  const whole = { ...manifest, ...own };
  writeFileSync(join(dist, short, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(dist, short, 'LICENSE'));
}

/** A README in which links and pictures lead to the files in the repository. */
function withReachableLinks(readme: string, home: string): string {
  const address = (kind: 'blob' | 'raw', path: string): string =>
    `${REPOSITORY}/${kind}/main/${join(home, path)}`;
  return readme
    .replaceAll(/(?<=\]\()(?!https?:|#)[^)]+/g, (path) => address('blob', path))
    .replaceAll(/(?<= (?:src|srcset)=")(?!https?:)[^"]+/g, (path) => address('raw', path));
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
    exports: mapped(inBuild(exports, basename(folder)), (path) =>
      path.endsWith('.ts') ? { types: built(path, 'd.ts'), default: built(path, 'js') } : path,
    ),
  };
}

/** The exports without patterns that no built file fits. */
function inBuild(exports: Record<string, string>, short: string): Record<string, string> {
  const fits = (path: string): boolean =>
    globSync(built(path, 'js').replace('*', '**/*'), { cwd: join(dist, short) }).length > 0;
  return Object.fromEntries(
    Object.entries(exports).filter(([, path]) => !path.includes('*') || fits(path)),
  );
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
