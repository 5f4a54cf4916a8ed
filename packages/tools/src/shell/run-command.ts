import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { DidNothing, NoAnswer } from 'assize/internal/effects';

export interface Command {
  /** The program and its literal arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Maximum number of stored bytes of each output, from its start. */
  readonly outputMax: number;
  /**
   * Receives the process group, and is awaited before the command starts, so a process can end the
   * group after a crash.
   */
  readonly onStart?: (pid: number) => Promise<void>;
}

/** The end of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether output beyond the limit was dropped. */
  readonly isCut: boolean;
}

/**
 * Milliseconds for the remaining processes to write their last output, after the command itself has
 * ended.
 */
const LEFT_MS = 1_000;

/**
 * Runs a command to its end, in its own process group. On abort the group is killed. A process that
 * left the group can't be ended, and is not awaited.
 *
 * @throws DidNothing if the command could not start; NoAnswer if a signal ended it, or if it can't
 * be ended
 */
export function runCommand(command: Command, signal: AbortSignal): Promise<CommandResult> {
  if (signal.aborted) throw new DidNothing('the time to start was over', { why: 'no_time_left' });
  const { argv, outputMax, onStart } = command;
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  const child = begun(command);
  const stdout = new OutputHead(outputMax);
  const stderr = new OutputHead(outputMax);
  // If the system has no file descriptors left, the streams are missing and the command did not
  // start.
  child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk));
  // An error in a listener would be uncaught. If the group can't be ended, its further effects are
  // unknown.
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
    // A remaining process may hold the outputs open forever.
    left = setTimeout(() => {
      end();
      child.stdout!.destroy();
      child.stderr!.destroy();
    }, LEFT_MS);
  });
  child.on('close', (code, by) => {
    clearTimeout(left);
    signal.removeEventListener('abort', end);
    // Background processes end with the command, because no code would wait for them.
    end();
    if (code === null)
      reject(
        new NoAnswer(`${argv[0]} was killed by ${by}.`, {
          why: `signal_${String(by).toLowerCase()}`,
        }),
      );
    else
      resolve({
        code,
        stdout: stdout.text,
        stderr: stderr.text,
        isCut: stdout.isCut || stderr.isCut,
      });
  });
  if (onStart !== undefined && child.pid !== undefined) {
    // The process may have ended before it receives the start line.
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

/**
 * @throws DidNothing for a command that the system never receives, or refuses immediately, such as
 * too long arguments (`E2BIG`)
 */
function begun({ argv, cwd, env, onStart }: Command): ChildProcess {
  const [program, ...args] = onStart === undefined ? argv : [...WAITING, ...argv];
  const stdin = onStart === undefined ? 'ignore' : 'pipe';
  try {
    return spawn(program!, args, { cwd, env, detached: true, stdio: [stdin, 'pipe', 'pipe'] });
  } catch (error) {
    throw notBegun(error as NodeJS.ErrnoException);
  }
}

/** Temporary shortages of the system. */
const PASSING: ReadonlySet<unknown> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * The program or its working folder is missing or inaccessible. The system's code tells which
 * (`ENOENT`, `EACCES`).
 */
function notBegun(error: NodeJS.ErrnoException): DidNothing {
  const why = `spawn_${String(error.code).toLowerCase()}`;
  return new DidNothing(error.message, { final: !PASSING.has(error.code), cause: error, why });
}

/** Becomes the command when it receives a line, and ends if its parent has ended. */
const WAITING = ['/bin/sh', '-c', 'read -r go && exec "$@" </dev/null', 'sh'] as const;

/**
 * Kills a process with its group, and returns whether the group existed.
 * @throws NoAnswer if all of its processes belong to another user, as with `sudo`
 */
function killGroup(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, 'SIGKILL');
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    throw new NoAnswer(`The process group ${pid} cannot be killed: ${message}.`, {
      why: 'not_ended',
      cause: error,
    });
  }
}

/**
 * Ends a process group, and returns when no process of it is left.
 * @throws Error for a group that does not end
 */
export async function endGroup(pid: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (!killGroup(pid)) return;
    await pause(5);
  }
  throw new Error(`The process group ${pid} does not end.`);
}

/** The start of an output. */
class OutputHead {
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
