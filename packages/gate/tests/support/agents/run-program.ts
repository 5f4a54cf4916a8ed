import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface ProgramRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Whether it had to be ended. */
  readonly timedOut: boolean;
}

export interface ProgramOptions {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs: number;
  /** Is told the id of the process, for a test that ends it. */
  readonly started?: (pid: number) => void;
}

/**
 * Runs a program to its end. Its processes are a group, and the group ends with it or after the
 * time-out, so that none remains.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, input = '', timeoutMs, started }: ProgramOptions,
): Promise<ProgramRun> {
  const child = spawn(program, args, { cwd, env, detached: true, stdio: 'pipe' });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup(child.pid);
  }, timeoutMs);
  if (child.pid !== undefined) started?.(child.pid);
  child.stdin.on('error', () => {}).end(input);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  clearTimeout(timer);
  endGroup(child.pid);
  return { code, out, err, timedOut };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
