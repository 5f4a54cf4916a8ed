import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
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

/** Milliseconds for what a command has left running to say its last, once the command itself has ended. */
const LEFT_MS = 1_000;

/**
 * Runs a command in a process group of its own, to its end. When the signal says so, the group is killed. What has left the group can't be
 * ended, and is not waited for.
 *
 * @throws DidNothing where it could not be begun; NoAnswer where it was ended by a signal, or can't be ended
 */
export function runCommand(command: Command, signal: AbortSignal): Promise<Ended> {
  if (signal.aborted) throw new DidNothing('it was too late to begin', { why: 'no_time_left' });
  const { argv, outputMax, onStart } = command;
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const child = begun(command);
  const stdout = new Kept(outputMax);
  const stderr = new Kept(outputMax);
  // Where the system has no more open files for them there are none, and it was not begun.
  child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk));
  // Nobody catches what a listener throws. Where it can't be ended, nobody knows what it will still do.
  const end = (): void => {
    try {
      killGroup(child.pid);
    } catch (error) {
      reject(error);
    }
  };
  signal.addEventListener('abort', end);
  child.on('error', (error) => {
    signal.removeEventListener('abort', end);
    reject(child.pid === undefined ? notBegun(error) : error);
  });
  let left: NodeJS.Timeout | undefined;
  child.on('exit', () => {
    // What it left running may hold its outputs open for ever.
    left = setTimeout(() => {
      end();
      child.stdout!.destroy();
      child.stderr!.destroy();
    }, LEFT_MS);
  });
  child.on('close', (code, by) => {
    clearTimeout(left);
    signal.removeEventListener('abort', end);
    // What it left running in the background ends with it: nobody would wait for that.
    end();
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

/** @throws DidNothing for what the system is never asked for, or refuses at once, as arguments that are too long (`E2BIG`) */
function begun({ argv, cwd, env, onStart }: Command): ChildProcess {
  const [program, ...args] = onStart === undefined ? argv : [...WAITING, ...argv];
  const stdin = onStart === undefined ? 'ignore' : 'pipe';
  try {
    return spawn(program!, args, { cwd, env, detached: true, stdio: [stdin, 'pipe', 'pipe'] });
  } catch (error) {
    throw notBegun(error as NodeJS.ErrnoException);
  }
}

/** What a system lacks for the moment. */
const PASSING: ReadonlySet<unknown> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Its program, or the folder where it is to run, is not there, or may not be used: the system's own code says which (`ENOENT`, `EACCES`). */
function notBegun(error: NodeJS.ErrnoException): DidNothing {
  const why = `spawn_${String(error.code).toLowerCase()}`;
  return new DidNothing(error.message, { final: !PASSING.has(error.code), cause: error, why });
}

/** Becomes the command when it is told to begin, and ends when nobody is there any more who could tell. */
const WAITING = ['/bin/sh', '-c', 'read -r go && exec "$@" </dev/null', 'sh'] as const;

/** Ends a process with all that it started. Whether there was any. @throws NoAnswer where all of it is another user's, as of `sudo` */
function killGroup(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, 'SIGKILL');
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    throw new NoAnswer(`The process group ${pid} can't be ended: ${message}.`, { why: 'not_ended', cause: error });
  }
}

/** Ends a process group, and returns when nothing of it is there. @throws Error for one that does not end */
export async function endGroup(pid: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (!killGroup(pid)) return;
    await pause(5);
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
