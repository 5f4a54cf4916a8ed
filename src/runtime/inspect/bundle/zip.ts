import { unzipSync, zipSync } from 'fflate';
import { BUNDLE_BYTES_MAX, type BundleFiles, FILE_NAME } from './form.ts';

/** Every file has the same date, so that equal files make equal bytes. */
const DATE = '1980-01-01T00:00:00';

export function packFiles(files: BundleFiles): Uint8Array {
  return zipSync(Object.fromEntries([...files].map(([name, bytes]) => [name, [bytes, { mtime: DATE, level: 6 }]])));
}

/** The files of a zip, or the reason why it is none. Never unpacks more than the limit. */
export function unpackFiles(zip: Uint8Array): BundleFiles | string {
  const names = new Set<string>();
  let bytes = 0;
  let wrong: string | undefined;
  try {
    const files = unzipSync(zip, {
      filter: ({ name, originalSize, compression }) => {
        if (names.has(name)) wrong ??= `it has ${JSON.stringify(name)} twice`;
        if (!FILE_NAME.test(name)) wrong ??= `it has the file ${JSON.stringify(name)}`;
        if (compression !== 0 && compression !== 8) wrong ??= 'its files are neither stored nor deflated';
        names.add(name);
        bytes += originalSize;
        if (bytes > BUNDLE_BYTES_MAX) wrong ??= `its files have more than ${BUNDLE_BYTES_MAX} bytes`;
        return wrong === undefined;
      },
    });
    return wrong ?? new Map(Object.entries(files));
  } catch {
    return 'it is no zip file';
  }
}
