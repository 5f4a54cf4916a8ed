import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Disk } from '#tools/files';
import type { Steps } from './effect-sink.ts';

// Folders that tools work in, and a disk with a process that may end at any step.

/** A new folder, in memory if possible: the tests check the order of steps, not the disk. */
export function newFolder(): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'assize-files-'));
}

/**
 * The contents of a folder, by path: contents and mode of files, and folders with `/`. Read by
 * other means than the tools' own.
 */
export type Listing = Readonly<Record<string, string>>;

/** Of the tools' own files, lists only the files that the tools should have removed. */
export function listing(root: string): Listing {
  const found: Record<string, string> = {};
  const visit = (folder: string): void => {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = join(folder, name);
      const stat = statSync(join(root, path));
      if (path === '.assize') continue;
      if (!stat.isDirectory()) {
        found[path] =
          `${(stat.mode & 0o7777).toString(8)} ${readFileSync(join(root, path), 'latin1')}`;
        continue;
      }
      found[`${path}/`] = '';
      visit(path);
    }
  };
  visit('');
  return found;
}

export function put(root: string, path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  chmodSync(join(root, path), mode);
}

const CHANGES: ReadonlySet<string> = new Set([
  'rename',
  'remove',
  'makeFolder',
  'removeFolder',
  'sync',
]);

/** A disk as one process has it: each step is done or not, and a write may have got half way. */
export function diskOf(disk: Disk, steps: Steps): Disk {
  const never = new Promise<never>(() => undefined);
  return new Proxy(disk, {
    get(target, name) {
      const member = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      if (name === 'write')
        return async (path: string, bytes: Uint8Array, mode: number, owner?: string) => {
          await steps.step();
          await target.write(path, bytes.subarray(0, bytes.length / 2), mode);
          await steps.step();
          await target.remove(path);
          await target.write(path, bytes, mode, owner);
          await steps.step();
        };
      if (name === 'lock')
        return async (path: string, signal: AbortSignal) => {
          if (steps.isDead) await never;
          const held = await target.lock!(path, signal);
          // With its process goes what it holds.
          void steps.ended.then(() => held[Symbol.dispose]());
          return held;
        };
      return async (...args: unknown[]) => {
        if (CHANGES.has(String(name))) await steps.step();
        if (steps.isDead) await never;
        const answer = await Reflect.apply(member, target, args);
        if (CHANGES.has(String(name))) await steps.step();
        return answer;
      };
    },
  });
}
