import type { Json } from 'assize/internal/base';
import type { CallPart } from '#calls';
import { canonicalPath } from './file-path.ts';

/**
 * The parts of a command with their places: each program has the folder that the command begins in,
 * and a program that names no path reads that folder. A path that symbolic links lead elsewhere has
 * both names.
 */
export async function placed(parts: readonly CallPart[], cwd: string): Promise<readonly CallPart[]> {
  const all: CallPart[] = [];
  for (const part of parts) {
    const { path, paths } = part.args;
    if (Array.isArray(paths)) {
      const named = (paths as readonly string[]).length === 0 ? [cwd] : (paths as readonly string[]);
      const found = await Promise.all(named.map(bothNames));
      all.push({ ...part, args: { ...part.args, paths: [...new Set(found.flat())], cwd } });
    } else if (typeof path === 'string') {
      for (const name of await bothNames(path)) all.push({ ...part, args: { ...part.args, path: name } as Args });
    } else all.push(part);
  }
  return all;
}

type Args = { readonly [name: string]: Json };

async function bothNames(name: string): Promise<string[]> {
  if (!name.startsWith('/')) return [name];
  const { resolved } = await canonicalPath(name, '/');
  return resolved === undefined ? [name] : [name, resolved];
}
