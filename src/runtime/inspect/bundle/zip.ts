import { zipSync } from 'fflate';
import type { BundleFiles } from './form.ts';

/** Every file has the same date, so that equal files make equal bytes. */
const DATE = '1980-01-01T00:00:00';

export function packFiles(files: BundleFiles): Uint8Array {
  return zipSync(Object.fromEntries([...files].map(([name, bytes]) => [name, [bytes, { mtime: DATE, level: 6 }]])));
}
