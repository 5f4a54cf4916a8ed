import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The address of the server of a state folder, which outlives this process. */
export async function keptServer<Address>(
  kind: 'postgres' | 'restate' | 'assize',
  folder: string,
): Promise<Address> {
  const file = join(folder, `${kind}.json`);
  if (isFirst(join(folder, `${kind}.started`)))
    spawn(process.execPath, [join(import.meta.dirname, 'keeper.ts'), kind, folder], {
      ...{ detached: true, stdio: 'ignore' },
    }).unref();
  while (!existsSync(file)) await sleep(50);
  return JSON.parse(readFileSync(file, 'utf8')) as Address;
}

/**
 * The name of this process among those over a state folder. It takes over the name of one that has
 * ended, and no living process has the same.
 */
export function placeIn(folder: string): string {
  for (let n = 1; ; n++) {
    const file = join(folder, `driver-${n}`);
    if (existsSync(file) && isAlive(Number(readFileSync(file, 'utf8')))) continue;
    writeFileSync(file, String(process.pid));
    return `driver-${n}`;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether this is the first process that makes the folder. */
export function isFirst(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}
