import { inflateSync } from 'fflate';
import { must } from './fault.ts';
import { BUNDLE_BYTES_MAX, type BundleFiles, FILE_NAME } from './form.ts';

/** The three records of a zip, and their lengths without names, extra fields and comments. */
const END = 0x06054b50;
const END_BYTES = 22;
const DIRECTORY = 0x02014b50;
const DIRECTORY_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;

const COMMENT_MAX = 65_535;
const STORED = 0;
const DEFLATED = 8;

/** A file as the directory of the zip states it. */
interface Stated {
  readonly name: string;
  readonly method: number;
  readonly packed: number;
  readonly bytes: number;
  readonly offset: number;
}

/**
 * The files of a zip (docs/reference/proof-bundle.md, section 1). Never unpacks more than the
 * limit.
 *
 * @throws BundleRefusal `bad_zip`
 */
export function unpackFiles(zip: Uint8Array): BundleFiles {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const stated = directoryOf(zip, view);
  const names = new Set(stated.map(({ name }) => name));
  must(names.size === stated.length, 'bad_zip', 'it has a file twice');
  const bytes = stated.reduce((sum, one) => sum + one.bytes, 0);
  must(bytes <= BUNDLE_BYTES_MAX, 'bad_zip', `its files have more than ${BUNDLE_BYTES_MAX} bytes`);
  return new Map(stated.map((one) => [one.name, contentOf(zip, view, one)]));
}

function directoryOf(zip: Uint8Array, view: DataView): Stated[] {
  const end = endOf(view);
  must(end >= 0, 'bad_zip', 'it is not a zip file');
  const count = view.getUint16(end + 10, true);
  const isWhole =
    view.getUint32(end + 4, true) === 0 &&
    view.getUint16(end + 8, true) === count &&
    count < 65_535;
  must(isWhole, 'bad_zip', 'it has several volumes, or too many files');
  const stated: Stated[] = [];
  let at = view.getUint32(end + 16, true);
  while (stated.length < count) {
    must(
      at + DIRECTORY_BYTES <= end && view.getUint32(at, true) === DIRECTORY,
      'bad_zip',
      'its directory is damaged',
    );
    const [name, extra, comment] = [28, 30, 32].map((place) =>
      view.getUint16(at + place, true),
    ) as [number, number, number];
    const isEncrypted = view.getUint16(at + 8, true) % 2 === 1;
    stated.push({
      name: nameIn(zip.subarray(at + DIRECTORY_BYTES, at + DIRECTORY_BYTES + name)),
      method: isEncrypted ? -1 : view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      bytes: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    });
    at += DIRECTORY_BYTES + name + extra + comment;
  }
  must(at === end, 'bad_zip', 'its directory is damaged');
  return stated;
}

/** The place of the last record whose comment ends the zip, or -1. */
function endOf(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - COMMENT_MAX); at--)
    if (view.getUint32(at, true) === END && view.getUint16(at + 20, true) === last - at) return at;
  return -1;
}

function nameIn(bytes: Uint8Array): string {
  const name = Buffer.from(bytes).toString('latin1');
  must(FILE_NAME.test(name), 'bad_zip', `it has the file ${JSON.stringify(name)}`);
  return name;
}

function contentOf(
  zip: Uint8Array,
  view: DataView,
  { name, method, packed, bytes, offset }: Stated,
): Uint8Array {
  const isThere = offset + LOCAL_BYTES <= zip.length && view.getUint32(offset, true) === LOCAL;
  must(isThere, 'bad_zip', `${name} is not where the directory says`);
  const from =
    offset + LOCAL_BYTES + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  must(from + packed <= zip.length, 'bad_zip', `${name} is cut off`);
  must(
    method === STORED || method === DEFLATED,
    'bad_zip',
    `${name} is neither stored nor deflated`,
  );
  const raw = zip.subarray(from, from + packed);
  const content = method === STORED ? raw : inflated(raw, bytes);
  must(content?.length === bytes, 'bad_zip', `${name} has another size than the directory says`);
  return content;
}

/** Undefined for bytes that cannot be unpacked. One byte more than stated shows a larger file. */
function inflated(raw: Uint8Array, bytes: number): Uint8Array | undefined {
  try {
    return inflateSync(raw, { out: new Uint8Array(bytes + 1) });
  } catch {
    return undefined;
  }
}
