import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Hundreds of processes that tests start load the same sources: compiled once, for all of them, while the tests run. */
export default function shareCompiled(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'assize-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
