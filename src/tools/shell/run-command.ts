import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { DidNothing, NoAnswer } from '#effects';

export interface Command {
  /** The program, and its arguments as they are. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Bytes of each of its outputs that are kept: the first ones. */
  readonly outputMax: number;
  /** Told of its process group, and awaited before the command begins: who comes after a crash can end it. */
  readonly onStart?: (pid: number) => Promise<void>;
}

/** How a command ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** There was more output than was kept. */
  readonly isCut: boolean;
}

/**
 * Runs a command in a process group of its own, to its end. When the signal says so, the group is killed.
 *
 * @throws DidNothing where it could not be begun; Error where it was ended by a signal
 */
export function runCommand({ argv, cwd, env, outputMax, onStart }: Command, signal: AbortSignal): Promise<Ended> {
  if (signal.aborted) throw new DidNothing('it was too late to begin', { why: 'no_time_left' });
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const [program, ...args] = onStart === undefined ? argv : [...WAITING, ...argv];
  const stdin = onStart === undefined ? 'ignore' : 'pipe';
  const child = spawn(program!, args, { cwd, env, detached: true, stdio: [stdin, 'pipe', 'pipe'] });
  const stdout = new Kept(outputMax);
  const stderr = new Kept(outputMax);
  child.stdout!.on('data', (chunk: Buffer) => stdout.add(chunk));
  child.stderr!.on('data', (chunk: Buffer) => stderr.add(chunk));
  const end = (): void => {
    killGroup(child.pid);
  };
  signal.addEventListener('abort', end);
  child.on('error', (error) => {
    signal.removeEventListener('abort', end);
    reject(child.pid === undefined ? notBegun(error) : error);
  });
  child.on('close', (code, by) => {
    signal.removeEventListener('abort', end);
    // What it left running in the background ends with it: nobody would wait for that.
    killGroup(child.pid);
    if (code === null)
      reject(new NoAnswer(`${argv[0]} was ended by ${by}.`, { why: `signal_${String(by).toLowerCase()}` }));
    else resolve({ code, stdout: stdout.text, stderr: stderr.text, isCut: stdout.isCut || stderr.isCut });
  });
  if (onStart !== undefined && child.pid !== undefined) {
    // It may have ended before it is told to begin.
    child.stdin!.on('error', () => end());
    onStart(child.pid).then(
      () => child.stdin!.end('go\n'),
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  }
  return promise;
}

/** Its program, or the folder where it is to run, is not there, or may not be used: the system's own code says which (`ENOENT`, `EACCES`). */
function notBegun(error: NodeJS.ErrnoException): DidNothing {
  return new DidNothing(error.message, { final: true, cause: error, why: `spawn_${String(error.code).toLowerCase()}` });
}

/** Becomes the command when it is told to begin, and ends when nobody is there any more who could tell. */
const WAITING = ['/bin/sh', '-c', 'read -r go && exec "$@" </dev/null', 'sh'] as const;

/** Ends a process with all that it started. Whether there was any. */
function killGroup(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, 'SIGKILL');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    return false;
  }
}

/** Ends a process group, and returns when nothing of it is there. @throws Error for one that does not end */
export async function endGroup(pid: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (!killGroup(pid)) return;
    await setTimeout(5);
  }
  throw new Error(`The process group ${pid} does not end.`);
}

/** The beginning of an output. */
class Kept {
  readonly #max: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  isCut = false;

  constructor(max: number) {
    this.#max = max;
  }

  add(chunk: Buffer): void {
    const room = this.#max - this.#length;
    if (chunk.length > room) this.isCut = true;
    const part = chunk.subarray(0, room);
    this.#length += part.length;
    if (part.length > 0) this.#chunks.push(part);
  }

  get text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks));
  }
}
