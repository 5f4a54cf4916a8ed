/** A project outside the clone that has installed the packages as they are published. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtPackages } from './built.ts';

const root = join(import.meta.dirname, '../..');

/** npm as it came with the Node that runs this, or the one on the path. */
const npm = (args: string[], cwd: string): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/**
 * The folder of a new project with the packed packages and their dependencies, and without optional
 * peers. The caller removes it.
 */
export function projectWithPackage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assize-package-'));
  const built = readdirSync(builtPackages()).map((name) => join(builtPackages(), name));
  npm(['pack', '--pack-destination', folder, ...built], folder);
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  );
  // The dependencies come from the folder that `npm ci` filled, so that no outside request is
  // needed.
  const needed = built.flatMap((each) =>
    Object.keys(JSON.parse(readFileSync(join(each, 'package.json'), 'utf8')).dependencies ?? {}),
  );
  const isOurs = (name: string): boolean => name === 'assize' || name.startsWith('@assize/');
  const local = installed(needed.filter((name) => !isOurs(name))).map((path) => `file:${path}`);
  // As they are published: a folder would be built again before it is installed.
  const quiet = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--install-links'];
  npm(['install', ...quiet, ...tarballs.map((name) => `./${name}`), ...local], folder);
  return folder;
}

/** The folders of packages and of all they depend on. */
function installed(names: readonly string[], seen: Set<string> = new Set()): string[] {
  for (const name of names) {
    const path = join(root, 'node_modules', name);
    if (seen.has(path) || !existsSync(path)) continue;
    seen.add(path);
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string> | undefined
    >;
    installed(
      [
        ...Object.keys(manifest['dependencies'] ?? {}),
        ...Object.keys(manifest['optionalDependencies'] ?? {}),
      ],
      seen,
    );
  }
  return [...seen];
}
