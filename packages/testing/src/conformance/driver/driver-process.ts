import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { z } from 'zod';
import { childEnvironment } from '../child-environment.ts';
import { ConformanceError } from '../errors.ts';
import { ANSWERS, answerLine, type Operation } from '../protocol/messages.ts';

/** A command line for the shell, or a program with its arguments. */
export type DriverCommand = string | readonly [program: string, ...args: string[]];

export interface DriverStart {
  /** The folder in which the command is started. Default: the folder of this process. */
  readonly cwd?: string | undefined;
  /** The folder in which drivers of Node keep compiled code. Default: that of the environment. */
  readonly compileCache?: string;
}

/** The part of standard error that an error shows. */
const STDERR_CHARS_MAX = 2_000;

interface Waiting {
  readonly op: Operation;
  readonly resolve: (line: {
    readonly answer?: unknown;
    readonly error?: string | undefined;
  }) => void;
  readonly reject: (error: ConformanceError) => void;
}

/** A driver as a child process, with one line of JSON for each request and each answer. */
export class DriverProcess {
  readonly #child: ChildProcess;
  readonly #waiting: Map<number, Waiting> = new Map();
  readonly #exit: Promise<string>;
  #next: number = 1;
  #stderr: string = '';
  #end: string | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, 'exit').then(([code, signal]) =>
      this.#ended(signal ?? `exit code ${code}`),
    );
    child.stderr?.on('data', (part: Buffer) => {
      this.#stderr = (this.#stderr + part.toString('utf8')).slice(-STDERR_CHARS_MAX);
    });
    // A request to a process that has just ended is answered by its end.
    child.stdin?.on('error', () => undefined);
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).on('line', (line) => this.#heard(line));
  }

  /** @throws ConformanceError `unreachable` */
  static async start(
    command: DriverCommand,
    { cwd, compileCache }: DriverStart = {},
  ): Promise<DriverProcess> {
    // Its own group, so that a kill also ends the children of a shell.
    const options = {
      stdio: 'pipe',
      detached: process.platform !== 'win32',
      env: childEnvironment(compileCache),
      ...(cwd !== undefined && { cwd }),
    } as const;
    const child =
      typeof command === 'string'
        ? spawn(command, { ...options, shell: true })
        : spawn(command[0], command.slice(1), options);
    try {
      await once(child, 'spawn');
    } catch (error) {
      const text = `The driver cannot be started: ${(error as Error).message}. Check the command.`;
      throw new ConformanceError('unreachable', text, { cause: error, evidence: { command } });
    }
    return new DriverProcess(child);
  }

  /**
   * Asks for one operation.
   *
   * @throws ConformanceError `driver_ended`, `driver_silent`, `bad_answer`, `function_failed`
   */
  async ask<Op extends Operation>(
    op: Op,
    given: object,
    timeoutMs: number,
  ): Promise<z.infer<(typeof ANSWERS)[Op]>> {
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<Parameters<Waiting['resolve']>[0]>();
    if (this.#end !== undefined) throw this.#endedAt(op);
    this.#waiting.set(id, { op, resolve, reject });
    const timer = setTimeout(() => {
      const text = `The driver did not answer ${op} in ${timeoutMs} ms.`;
      reject(new ConformanceError('driver_silent', text, { evidence: { op, timeoutMs } }));
    }, timeoutMs);
    try {
      this.#child.stdin?.write(`${JSON.stringify({ id, op, ...given })}\n`);
      const { answer, error } = await promise;
      if (error !== undefined)
        throw new ConformanceError('function_failed', `The driver failed at ${op}: ${error}`, {
          evidence: { op },
        });
      const parsed = ANSWERS[op].safeParse(answer);
      if (!parsed.success) throw badAnswer(op, JSON.stringify(answer) ?? '');
      return parsed.data as z.infer<(typeof ANSWERS)[Op]>;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Ends the process immediately, as a crash does, with its children. */
  async kill(): Promise<void> {
    const { pid } = this.#child;
    if (this.#end === undefined && pid !== undefined) {
      try {
        if (process.platform === 'win32') spawn('taskkill', ['/T', '/F', '/PID', String(pid)]);
        else process.kill(-pid, 'SIGKILL');
      } catch (error) {
        // It has ended by itself in the meantime.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    await this.#exit;
  }

  #heard(line: string): void {
    if (!line.startsWith('{')) return;
    const parsed = answerLine.safeParse(jsonOf(line));
    if (parsed.success) this.#waiting.get(parsed.data.id)?.resolve(parsed.data);
    else for (const { op, reject } of this.#waiting.values()) reject(badAnswer(op, line));
  }

  #ended(end: string): string {
    this.#end = end;
    for (const { op, reject } of this.#waiting.values()) reject(this.#endedAt(op));
    return end;
  }

  #endedAt(op: Operation): ConformanceError {
    const end = this.#end as string;
    const stderr = this.#stderr.trim();
    const said = stderr === '' ? '' : ` It said: ${stderr}`;
    const text = `The driver's process ended (${end}) before it answered ${op}.${said}`;
    return new ConformanceError('driver_ended', text, { evidence: { op, end, stderr } });
  }
}

function badAnswer(op: Operation, line: string): ConformanceError {
  const shown = line.slice(0, 500);
  const text = `The driver's answer to ${op} does not have the form of the protocol: ${shown}`;
  return new ConformanceError('bad_answer', text, { evidence: { op, line: shown } });
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
