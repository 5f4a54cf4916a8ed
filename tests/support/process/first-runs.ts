import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The variable with the folder that has a file for each command that has run. */
const KEPT = 'ASSIZE_FIRST_RUNS';

/** Once for all processes of a run. */
export default function keepFirstRuns(): void {
  const folder = mkdtempSync(join(tmpdir(), 'assize-first-runs-'));
  process.env[KEPT] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** Whether no process of this run of the tests has asked for the command before. */
export function isFirstRun(command: string): boolean {
  try {
    closeSync(openSync(join(process.env[KEPT]!, encodeURIComponent(command)), 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
