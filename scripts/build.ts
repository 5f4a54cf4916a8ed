/**
 * Builds the package into dist/: JavaScript, declarations, and a package.json. Its `exports` and
 * `imports` name the built files. In the repository the same names lead to the sources, so work on
 * it needs no build. The first argument can name another folder. Further arguments go to the
 * compiler.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { withBuiltThreads } from './built-threads.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, process.argv[2] ?? 'dist');

rmSync(dist, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    join(root, 'tsconfig.build.json'),
    '--outDir',
    dist,
    ...process.argv.slice(3),
  ],
  {
    stdio: 'inherit',
  },
);
for (const file of globSync('src/**/*.js', { cwd: dist })) {
  const path = join(dist, file);
  const code = readFileSync(path, 'utf8');
  const built = withBuiltThreads(code);
  if (built !== code) writeFileSync(path, built);
}
execFileSync(process.execPath, [join(root, 'scripts/build-console.ts'), join(dist, 'console')], { stdio: 'inherit' });
const REPOSITORY = 'https://github.com/assize/assize';
const TEXTS = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'];
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
for (const name of TEXTS) copyFileSync(join(root, name), join(dist, name));
// The links of the README, and the paths in comments and help, lead to these.
for (const name of ['docs', 'examples', 'verifiers', 'clients'])
  cpSync(join(root, name), join(dist, name), { recursive: true, filter: (path) => !path.includes('__pycache__') });
writeFileSync(join(dist, 'README.md'), withReachableLinks(readFileSync(join(root, 'README.md'), 'utf8')));
chmodSync(join(dist, 'packages/cli/src/main.js'), 0o755);
mkdirSync(join(dist, 'bin'));
copyFileSync(join(root, 'bin/assize.js'), join(dist, 'bin/assize.js'));

/** The README, in which a link to a file of another workspace leads to the repository. */
function withReachableLinks(readme: string): string {
  return readme.replaceAll(/\]\((?!https?:|#)([^)#]+)/g, (link: string, path: string) =>
    existsSync(join(dist, path)) ? link : `](${REPOSITORY}/blob/main/${path}`,
  );
}

/**
 * The repository's manifest, in which every path of a source is the path of the built file.
 * It names no workspace, and no subpath that only workspaces import.
 */
function publishedManifest(): Record<string, unknown> {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, any>;
  const { private: _private, devDependencies, scripts, allowScripts, workspaces, exports, imports, ...rest } = manifest;
  const published = Object.entries<string>(exports).filter(([name]) => !name.startsWith('./internal/'));
  const { dependencies, peerDependencies } = manifest;
  return {
    ...rest,
    // The project's zod makes the schemas, so the package takes that copy if its version is in the
    // range.
    dependencies: { ...dependencies, zod: peerDependencies.zod },
    imports: mapped(imports, (path) => built(path, 'js')),
    exports: mapped(Object.fromEntries(published), (path) =>
      path.endsWith('.ts') ? { types: built(path, 'd.ts'), default: built(path, 'js') } : path,
    ),
  };
}

function mapped<T>(names: Record<string, string>, to: (path: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(names).map(([name, path]) => [name, to(path)]));
}

function built(path: string, extension: string): string {
  return path.replace(/\.ts$/, `.${extension}`);
}
