import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** What a command ended with, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Starts the command itself, as a process of its own in that folder. */
export function startCommand(folder: string, store: string, ...args: readonly string[]): ChildProcess {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', ASSIZE_STORE: store };
  return spawn(process.execPath, [main, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs it to its end. */
export async function runCommand(folder: string, store: string, ...args: readonly string[]): Promise<Ended> {
  const child = startCommand(folder, store, ...args);
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}
