import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Hundreds of processes that tests start load the same sources. The sources are compiled once for
 * all of them, while the tests run.
 */
export default function shareCompiled(): void {
  const folder = mkdtempSync(join(tmpdir(), 'assize-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = folder;
  // Not at the end of the tests: processes of many files end later, and write there as they end.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
