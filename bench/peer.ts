import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The script's path in a copy of the Python reference of Atomix. */
const SCRIPT = 'scripts/run_overhead_bench.py';
/** Its runs take less than a second. */
const TIMEOUT_MS = 120_000;

/** The reference's times on this machine, in microseconds: means, as its script reports them. */
export interface PeerFigures {
  /** A step of a task, by mode. */
  readonly steps: Readonly<Record<string, number>>;
  /** From the first branch to the commit, by the number of branches. */
  readonly branches: Readonly<Record<number, number>>;
}

/**
 * Runs the script of a copy of the reference, with `python3`. Nothing is written to the copy: its
 * runtime logs to a folder that is removed.
 *
 * @throws Error with the remedy if the script is missing, fails, or prints an unknown result
 */
export async function peerFigures(folder: string): Promise<PeerFigures> {
  const script = resolve(folder, SCRIPT);
  if (!existsSync(script))
    throw new Error(
      `${folder} is not a copy of the reference: ${SCRIPT} is not there. Name the folder of its repository.`,
    );
  const cwd = mkdtempSync(join(tmpdir(), 'assize-peer-'));
  try {
    const env = {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONPATH: resolve(folder, 'src'),
    };
    const { stdout } = await promisify(execFile)('python3', [script], {
      cwd,
      env,
      timeout: TIMEOUT_MS,
    });
    return figuresOf(stdout);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** Reads what the script prints. @throws Error for anything else */
export function figuresOf(printed: string): PeerFigures {
  const steps = [
    ...printed.matchAll(/^ *([A-Z][\w-]+) *: *[\d.]+ us\/task +\( *([\d.]+) us\/step\)/gm),
  ];
  const branches = [...printed.matchAll(/^ +(\d+) +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+ *$/gm)];
  if (steps.length === 0 || branches.length === 0)
    throw new Error(
      `${SCRIPT} has printed no figures that are known; its copy is another version.`,
    );
  return {
    steps: Object.fromEntries(steps.map(([, mode, micros]) => [mode, Number(micros)])),
    branches: Object.fromEntries(branches.map(([, count, micros]) => [count, Number(micros)])),
  };
}
