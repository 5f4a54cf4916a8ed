/**
 * Attacks 17 and 18 of docs/design/threats.md: checkpoints and proofs by an attacker without a key.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { fileSink, makeCheckpoint } from '#checkpoints';
import { type EntryRow, integrateLog } from '#ledger';
import {
  consistencyProof,
  cosign,
  formatNote,
  formatProofFile,
  formatVerifierKey,
  inclusionProof,
  leafHash,
  type NodeReader,
  nodeHash,
  openCheckpoint,
  parseNote,
  rootAt,
  SIZE_MAX,
  type SignerKey,
  signerKey,
  verifyConsistency,
  verifyInclusion,
  verifyProofFile,
} from '#merkle';
import { openStore } from '#stores';
import { allEntries, desk } from '../support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { type Ended, runCommand } from '../support/process/command.ts';

const here = mkdtempSync(join(tmpdir(), 'assize-proofs-'));
afterAll(() => rmSync(here, { recursive: true }));

const key = (name: string, use: 'note' | 'cosignature', seed: number): SignerKey =>
  signerKey(name, use, generateKeys(new Uint8Array(32).fill(seed)).privateKey);
const signer = key('example.com/ledger', 'note', 1);
const witness = key('witness.example', 'cosignature', 2);
const stranger = key('stranger.example', 'cosignature', 3);
const log = { origin: signer.name, keys: [signer] };
const command = (...args: readonly string[]): Promise<Ended> =>
  runCommand(here, 'sqlite:./d.db', ...args, '--log-key', formatVerifierKey(signer));

const SIZE = 13;
let rows: readonly EntryRow[];
/** By the log, and by a witness. */
let signed: string;

beforeAll(async () => {
  const store = await openStore(`sqlite:${join(here, 'd.db')}`);
  const writ = writFor('agent');
  const trajectory = await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [writ],
  });
  // The replacement character itself, for which a reader may take bytes that are not text.
  for (let n = 1; n < SIZE; n++)
    await trajectory.propose(intent('keep', { value: `\ufffd${n}` }, writ));
  rows = await allEntries(store, 't');
  await integrateLog(store);
  const made = await makeCheckpoint(store, {
    signer,
    sinks: [fileSink(join(here, 'd.db.checkpoint'))],
  });
  await store.close();
  const note = parseNote(made.signed);
  signed = formatNote({
    ...note,
    signatures: [...note.signatures, cosign(note.text, witness, 1_800_000_000)],
  });
});

describe('attack 17: altered checkpoints are refused, unknown keys are ignored', () => {
  const opened = (text: string) => openCheckpoint(text, log, [witness]);
  /** In the signature of the n-th line. */
  const badSignature = (n: number): string => {
    const note = parseNote(signed);
    const signatures = note.signatures.map((signature, at) =>
      at === n ? { ...signature, value: flipped(signature.value, 77) } : signature,
    );
    return formatNote({ ...note, signatures });
  };
  const alterations: readonly (readonly [string, () => string])[] = [
    ['size', () => signed.replace(`\n${SIZE}\n`, `\n${SIZE - 1}\n`)],
    [
      'root',
      () =>
        signed.replace(
          /\n[A-Za-z0-9+/]{43}=\n\n/,
          `\n${Buffer.alloc(32, 1).toString('base64')}\n\n`,
        ),
    ],
    ['extension line', () => signed.replace('\n\n', '\nwhat nobody signed\n\n')],
    ['origin', () => signed.replace('example.com/ledger\n', 'example.com/other\n')],
    ['signature of the log', () => badSignature(0)],
    ['signature of a known witness', () => badSignature(1)],
  ];

  test.each(alterations)('another %s', (_what, altered) => {
    expect(opened(signed)).toMatchObject({ valid: true, checkpoint: { size: BigInt(SIZE) } });
    expect(altered()).not.toBe(signed);
    expect(opened(altered())).toMatchObject({ valid: false, reason: 'bad_signature' });
  });

  test('a line by an unknown key, with any content', () => {
    const note = parseNote(signed);
    const odd = cosign(note.text, stranger, 1_800_000_000);
    for (const line of [
      odd,
      { ...odd, value: flipped(odd.value, 77) },
      { ...odd, value: new Uint8Array(1) },
    ]) {
      const text = formatNote({ ...note, signatures: [...note.signatures, line] });
      expect(opened(text)).toMatchObject({
        valid: true,
        cosignatures: [{ key: { name: witness.name } }],
      });
      // Of the unknown alone, nothing is believed.
      expect(opened(formatNote({ ...note, signatures: [line] }))).toMatchObject({ valid: false });
    }
  });

  test('on the command line: exit code 2', async () => {
    for (const [, altered] of alterations.slice(0, 3)) {
      writeFileSync(join(here, 'altered'), altered());
      for (const args of [
        ['verify', '--checkpoint', 'd.db.checkpoint', '--checkpoint', 'altered'],
        ['verify', '--database', '--checkpoint', 'altered'],
      ]) {
        expect(await command(...args)).toMatchObject({
          code: 2,
          out: '',
          err: expect.stringContaining('trusted'),
        });
      }
    }
    writeFileSync(join(here, 'whole'), signed);
    expect(
      await command('verify', '--checkpoint', 'd.db.checkpoint', '--checkpoint', 'whole'),
    ).toMatchObject({
      code: 0,
    });
  });
});

describe('attack 18: a cut, longer, flipped or mis-sized proof: false, no error', () => {
  /** Every node of the log, by level. */
  let read: NodeReader;
  beforeAll(() => {
    const levels = [rows.map(({ payload }) => leafHash(payload))];
    for (let below = levels[0]!; below.length > 1; below = levels.at(-1)!) {
      levels.push(
        Array.from({ length: below.length >> 1 }, (_, n) =>
          nodeHash(below[2 * n]!, below[2 * n + 1]!),
        ),
      );
    }
    read = (level, index) => levels[level]?.[index];
  });

  /** The false proofs that an attacker can derive from the proof. */
  function spoilt(proof: readonly Uint8Array[]): (readonly Uint8Array[])[] {
    const made: (readonly Uint8Array[])[] = [
      [...proof, new Uint8Array(32)],
      [new Uint8Array(32), ...proof],
      [...proof, ...new Array(100_000).fill(new Uint8Array(32))],
    ];
    for (let n = 0; n < proof.length; n++) {
      const twice = proof.toSpliced(n, 0, proof[n]!);
      made.push(
        proof.slice(0, n),
        proof.slice(n + 1),
        twice,
        proof.with(n, proof[n]!.slice(0, 31)),
      );
      for (let bit = 0; bit < 256; bit += 5) made.push(proof.with(n, flipped(proof[n]!, bit)));
    }
    return made;
  }

  const SIZES = [
    0,
    0n,
    SIZE - 1,
    SIZE + 1,
    SIZE_MAX - 1n,
    SIZE_MAX,
    SIZE_MAX + 1n,
    -1,
    0.5,
    Number.NaN,
  ];

  test('of an entry', () => {
    const root = rootAt(SIZE, read);
    for (let index = 0; index < SIZE; index++) {
      const proof = inclusionProof(index, SIZE, read);
      const claim = { index, size: SIZE, leafHash: read(0, index)!, root };
      expect(verifyInclusion(claim, proof)).toBe(true);
      for (const other of spoilt(proof)) expect(verifyInclusion(claim, other)).toBe(false);
      expect(verifyInclusion({ ...claim, root: claim.leafHash, leafHash: root }, proof)).toBe(
        false,
      );
      for (let bit = 0; bit < 256; bit++) {
        expect(verifyInclusion({ ...claim, root: flipped(root, bit) }, proof)).toBe(false);
        expect(verifyInclusion({ ...claim, leafHash: flipped(claim.leafHash, bit) }, proof)).toBe(
          false,
        );
      }
      for (let other = 0; other < SIZE; other++) {
        if (other !== index) expect(verifyInclusion({ ...claim, index: other }, proof)).toBe(false);
      }
      // The path of an early entry has the same form in a tree one larger or smaller. The size is
      // in the signed text.
      for (const size of SIZES.filter((given) => Math.abs(Number(given) - SIZE) !== 1)) {
        expect(verifyInclusion({ ...claim, size }, proof)).toBe(false);
        if (Number(size) !== index)
          expect(verifyInclusion({ ...claim, index: size }, proof)).toBe(false);
      }
    }
  });

  test('a proof of the one entry of a log needs no hash', () => {
    const leaf = read(0, 0)!;
    const claim = { index: 0, size: 1, leafHash: leaf, root: leaf };
    expect(verifyInclusion(claim, [])).toBe(true);
    for (const other of spoilt([])) expect(verifyInclusion(claim, other)).toBe(false);
    for (const index of SIZES.filter((given) => Number(given) !== 0)) {
      expect(verifyInclusion({ ...claim, index }, [])).toBe(false);
    }
    for (const size of SIZES) expect(verifyInclusion({ ...claim, size }, [])).toBe(false);
  });

  test('that a log only grew', () => {
    for (let newer = 1; newer <= SIZE; newer++) {
      const same = { size: newer, root: rootAt(newer, read) };
      expect(verifyConsistency(same, same, [])).toBe(true);
      for (const other of spoilt([])) expect(verifyConsistency(same, same, other)).toBe(false);
      for (let older = 1; older < newer; older++) {
        const proof = consistencyProof(older, newer, read);
        const [a, b] = [older, newer].map((size) => ({ size, root: rootAt(size, read) })) as [
          Head,
          Head,
        ];
        expect(verifyConsistency(a, b, proof)).toBe(true);
        for (const other of spoilt(proof)) expect(verifyConsistency(a, b, other)).toBe(false);
        expect(verifyConsistency(b, a, proof)).toBe(false);
        expect(verifyConsistency({ ...a, root: b.root }, { ...b, root: a.root }, proof)).toBe(
          false,
        );
        for (const size of SIZES.filter(
          (given) => Number.isNaN(given) || given < 1 || given > SIZE + 1,
        )) {
          expect(verifyConsistency({ ...a, size }, b, proof)).toBe(false);
          expect(verifyConsistency(a, { ...b, size }, proof)).toBe(false);
        }
      }
    }
  });
  interface Head {
    readonly size: number;
    readonly root: Uint8Array;
  }

  test('in a file: every byte changed, and cut off at every place', () => {
    const file = Buffer.from(
      formatProofFile({ index: 5, proof: inclusionProof(5, SIZE, read), signed }),
    );
    const trust = { log, witnesses: [witness], quorum: 1 };
    const verdict = (source: Uint8Array) => verifyProofFile(source, rows[5]!.payload, trust).valid;
    expect(verdict(file)).toBe(true);
    for (let at = 0; at < file.length; at++) {
      for (const bit of [0, 1, 2, 3, 4, 5, 6, 7])
        expect(verdict(flipped(file, at * 8 + bit))).toBe(false);
      expect(verdict(file.subarray(0, at))).toBe(false);
    }
  });

  test('on the command line: exit code 1, and 2 for an entry that is not text', async () => {
    expect(await command('bundle', 'proof', rows[5]!.id, '--out', 'proof')).toMatchObject({
      code: 0,
    });
    const proof = readFileSync(join(here, 'proof'));
    const payload = Buffer.from(rows[5]!.payload);
    writeFileSync(join(here, 'entry'), payload);
    const verified = () => command('bundle', 'proof', 'entry', '--verify', 'proof');
    expect(await verified()).toMatchObject({ code: 0 });
    for (const spoiltProof of [proof.subarray(0, -40), flipped(proof, 200 * 8), Buffer.alloc(0)]) {
      writeFileSync(join(here, 'proof'), spoiltProof);
      expect(await verified()).toMatchObject({ code: 1, err: '' });
    }
    writeFileSync(join(here, 'proof'), proof);
    const at = payload.indexOf('\ufffd');
    writeFileSync(
      join(here, 'entry'),
      Buffer.concat([payload.subarray(0, at), Buffer.of(0xff), payload.subarray(at + 3)]),
    );
    expect(await verified()).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not an entry'),
    });
  });
});

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const at = (bit >> 3) % changed.length;
  changed[at] = changed[at]! ^ (1 << (bit & 7));
  return changed;
}
