import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Hundreds of processes that tests start load the same sources: compiled once, for all of them, while the tests run. */
export default function shareCompiled(): void {
  const folder = mkdtempSync(join(tmpdir(), 'assize-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = folder;
  // Not when the tests are over: processes of many files end after that, and write there as they end.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
