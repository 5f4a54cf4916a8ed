import { inflateSync } from 'fflate';
import { textOf } from '../bytes/text.ts';
import type { Files } from './files.ts';
import { Unreadable } from './findings.ts';

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const COMMENT_MAX = 0xffff;
const TOTAL_MAX = 268_435_456;
const NAME = /^(?:[A-Za-z0-9_-]+\.[A-Za-z]+|checkpoint|proofs\/[0-9a-f]{64}\.tlog-proof)$/;

/** One file, as the directory of the zip names it. */
interface Listed {
  readonly name: string;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

/** The files of a zip (format's reference, section 1). @throws Unreadable */
export function readZip(bytes: Uint8Array): Files {
  const zip = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const listed = directoryOf(bytes, zip);
    if (new Set(listed.map(({ name }) => name)).size < listed.length)
      throw bad('It has a name twice.');
    if (listed.reduce((sum, { size }) => sum + size, 0) > TOTAL_MAX)
      throw bad('Its files are too large together.');
    return new Map(listed.map((one) => [one.name, contentOf(bytes, zip, one)]));
  } catch (error) {
    if (error instanceof RangeError) throw bad('It is cut off.');
    throw error;
  }
}

function directoryOf(bytes: Uint8Array, zip: DataView): readonly Listed[] {
  const end = endOf(zip);
  const count = zip.getUint16(end + 10, true);
  const isOneVolume = zip.getUint32(end + 4, true) === 0 && zip.getUint16(end + 8, true) === count;
  if (!isOneVolume || count === 0xffff) throw bad('It has several volumes, or too many files.');
  const listed: Listed[] = [];
  let at = zip.getUint32(end + 16, true);
  for (let n = 0; n < count; n += 1) {
    if (zip.getUint32(at, true) !== CENTRAL) throw bad('Its directory is damaged.');
    const nameLength = zip.getUint16(at + 28, true);
    listed.push({
      name: nameOf(bytes.subarray(at + 46, at + 46 + nameLength)),
      method: zip.getUint16(at + 8, true) % 2 === 1 ? -1 : zip.getUint16(at + 10, true),
      packed: zip.getUint32(at + 20, true),
      size: zip.getUint32(at + 24, true),
      at: zip.getUint32(at + 42, true),
    });
    at += 46 + nameLength + zip.getUint16(at + 30, true) + zip.getUint16(at + 32, true);
  }
  if (at !== end) throw bad('Its directory is damaged.');
  return listed;
}

/** The place of the record at the end, below a comment of any length. */
function endOf(zip: DataView): number {
  const last = zip.byteLength - END_BYTES;
  for (let at = last; at >= 0 && at >= last - COMMENT_MAX; at -= 1)
    if (zip.getUint32(at, true) === END && zip.getUint16(at + 20, true) === last - at) return at;
  throw bad('It is not a zip.');
}

function nameOf(bytes: Uint8Array): string {
  const name = textOf(bytes);
  if (name === undefined || !NAME.test(name))
    throw bad('It has a file whose name does not belong in a bundle.');
  return name;
}

function contentOf(
  bytes: Uint8Array,
  zip: DataView,
  { name, method, packed, size, at }: Listed,
): Uint8Array {
  if (zip.getUint32(at, true) !== LOCAL)
    throw bad(`The file ${name} is not where the directory says.`);
  const from = at + 30 + zip.getUint16(at + 26, true) + zip.getUint16(at + 28, true);
  const raw = bytes.subarray(from, from + packed);
  const content = method === 0 ? raw : method === 8 ? inflated(raw, size) : undefined;
  if (content === undefined)
    throw bad(`The file ${name} is encrypted, or packed in another way than deflate.`);
  if (raw.length !== packed || content.length !== size) throw bad(`The file ${name} is cut off.`);
  return content;
}

function inflated(raw: Uint8Array, size: number): Uint8Array {
  try {
    // One byte more than stated shows a file that is larger.
    return inflateSync(raw, { out: new Uint8Array(size + 1) });
  } catch {
    throw bad('A file in it cannot be unpacked.');
  }
}

function bad(reason: string): Unreadable {
  return new Unreadable('bad_zip', reason);
}
