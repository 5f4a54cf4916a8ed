/** The three verifiers of proof bundles agree about unusual zips. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, expect, test } from 'vitest';
import { verifyBundle } from '#bundle';
import { Unreadable } from '../../console/verify/bundle/findings.ts';
import { readZip } from '../../console/verify/bundle/read-zip.ts';
import { verify } from '../../console/verify/bundle/verify.ts';
import { bundleLedgers, bundleOf } from '../support/ledger/bundle-ledgers.ts';
import { hasPython, PythonVerifier } from '../support/process/python-verifier.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-zips-'));
const file = join(folder, 'bundle.zip');
const python = new PythonVerifier();
afterAll(() => {
  python.end();
  rmSync(folder, { recursive: true });
});

const ALL = {
  kind: 'period',
  from: '2000-01-01T00:00:00.000000Z',
  to: '2100-01-01T00:00:00.000000Z',
} as const;
const LEDGER = (await bundleLedgers()).find(({ name }) => name === 'every kind')!;
const BUNDLE = Buffer.from((await bundleOf(await LEDGER.make(), ALL)).zip);
const [LOCAL, DIRECTORY, END] = [3, 1, 5].map((digit) =>
  Buffer.from([80, 75, digit, digit + 1]),
) as [Buffer, Buffer, Buffer];

/** The bundle after a change of its bytes, with the places of its first and last records. */
function changed(
  change: (zip: Buffer, at: { local: number; directory: number; end: number }) => void,
): Buffer {
  const zip = Buffer.from(BUNDLE);
  change(zip, {
    local: zip.indexOf(LOCAL),
    directory: zip.lastIndexOf(DIRECTORY),
    end: zip.lastIndexOf(END),
  });
  return zip;
}

async function verdictsOf(zip: Uint8Array): Promise<string[]> {
  const ours = await verifyBundle(zip);
  const verdicts = [ours.valid ? 'valid' : ours.fault.code, await pageVerdict(zip)];
  if (!hasPython) return verdicts;
  writeFileSync(file, zip);
  const said = JSON.parse((await python.verify(file, '--json')).out);
  return [...verdicts, said.valid === true ? 'valid' : said.code];
}

async function pageVerdict(zip: Uint8Array): Promise<string> {
  try {
    return (await verify(readZip(zip))).findings.faults[0]?.code ?? 'valid';
  } catch (error) {
    if (error instanceof Unreadable) return error.fault.code;
    throw error;
  }
}

async function expectVerdict(zip: Uint8Array, wanted: string): Promise<void> {
  const verdicts = await verdictsOf(zip);
  expect(verdicts).toEqual(verdicts.map(() => wanted));
}

test.each([
  [
    'a file that is encrypted',
    changed((zip, { directory }) => zip.writeUInt16LE(1, directory + 8)),
  ],
  ['another method', changed((zip, { directory }) => zip.writeUInt16LE(12, directory + 10))],
  ['a file that is larger', changed((zip, { directory }) => subtract(zip, directory + 24))],
  ['a file that is cut off', changed((zip, { directory }) => subtract(zip, directory + 20))],
  ['two volumes', changed((zip, { end }) => zip.writeUInt16LE(1, end + 4))],
  ['two counts of files', changed((zip, { end }) => zip.writeUInt16LE(1, end + 8))],
  [
    'a file that is not counted',
    changed((zip, { end }) => {
      for (const place of [end + 8, end + 10])
        zip.writeUInt16LE(zip.readUInt16LE(place) - 1, place);
    }),
  ],
  [
    'a name that ends in a zero byte',
    Buffer.from(zipSync({ 'manifest.json\0': new Uint8Array(2) })),
  ],
  ['bytes before it', Buffer.concat([Buffer.from('before'), BUNDLE])],
  ['bytes after it', Buffer.concat([BUNDLE, Buffer.from('after')])],
  ['a cut', BUNDLE.subarray(0, -1)],
])('a zip with %s is refused', (_, zip) => expectVerdict(zip, 'bad_zip'));

test.each([
  ['CRC-32', changed((zip, { directory }) => zip.writeUInt32LE(7, directory + 16))],
  ['name in a local header', changed((zip, { local }) => zip.write('x', local + 30))],
  ['comment', withComment(Buffer.from('a comment'))],
])('a zip with another %s is read', (_, zip) => expectVerdict(zip, 'valid'));

function subtract(zip: Buffer, place: number): void {
  zip.writeUInt32LE(zip.readUInt32LE(place) - 1, place);
}

function withComment(comment: Buffer): Buffer {
  const zip = Buffer.concat([BUNDLE, comment]);
  zip.writeUInt16LE(comment.length, BUNDLE.length - 2);
  return zip;
}
