import { zip } from 'fflate';
import type { BundleFiles } from './form.ts';

/** Every file has the same date, so that equal files make equal bytes. */
const DATE = '1980-01-01T00:00:00';

/** Large files are deflated in threads of their own. */
export function packFiles(files: BundleFiles): Promise<Uint8Array> {
  const packed = [...files].map(([name, bytes]) => [name, [bytes, { mtime: DATE, level: levelOf(name) }]] as const);
  return new Promise((resolve, reject) => {
    zip(Object.fromEntries(packed) as never, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
  });
}

/** Hashes hardly get smaller, and there are thousands of proofs. */
function levelOf(name: string): 0 | 6 {
  return name.startsWith('proofs/') ? 0 : 6;
}
