import { cpSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const WORKSPACES = ['examples', 'labs'];

/**
 * Copies the sources and the workspaces into a folder, with the installed packages of this clone
 * except `without`.
 */
export function copyClone(folder: string, without: readonly string[] = []): void {
  for (const part of ['packages', ...WORKSPACES, 'package.json'])
    cpSync(join(root, part), join(folder, part), {
      recursive: true,
      filter: (path) => !path.endsWith('.test.ts') && !path.endsWith('/node_modules'),
    });
  const [modules, own] = [join(root, 'node_modules'), join(folder, 'node_modules')];
  mkdirSync(own);
  const named = readdirSync(modules).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(modules, name)).map((scoped) => join(name, scoped))
      : [name],
  );
  for (const name of named.filter((one) => !one.startsWith('.') && !without.includes(one))) {
    mkdirSync(dirname(join(own, name)), { recursive: true });
    // The copy imports its own workspaces, and itself, as the clone does.
    const workspace = WORKSPACES.find((one) => name === `@assize/${one}`);
    if (workspace !== undefined) symlinkSync(join(folder, workspace), join(own, name));
    else if (name === 'assize' || (name.startsWith('@assize/') && name !== '@assize/console'))
      symlinkSync(join(folder, 'packages', basename(name)), join(own, name));
    else symlinkSync(realpathSync(join(modules, name)), join(own, name));
  }
}
