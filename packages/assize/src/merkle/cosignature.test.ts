import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signBytes } from '#canon';
import {
  codeOf,
  flipped,
  LOG,
  ORIGIN,
  seed,
  signedNote,
  WITNESSES,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { formatCheckpoint } from './checkpoint.ts';
import { cosign, cosignedAt } from './cosignature.ts';
import { parseNote } from './note.ts';
import { signerKey } from './note-key.ts';
import { openNote, signNote } from './open-note.ts';

const TEXT = formatCheckpoint({ origin: ORIGIN, size: 20852163, root: new Uint8Array(32).fill(7) });
const WITNESS = WITNESSES[0]!;
const TIME = 1_679_315_147;

describe('a cosignature', () => {
  test('is a time and Ed25519 over a header, that time and the text', () => {
    const { name, keyId, value } = cosign(TEXT, WITNESS, TIME);
    expect([name, keyId, value.length]).toEqual([WITNESS.name, WITNESS.id, 72]);
    expect(Buffer.from(value).readBigUInt64BE()).toBe(BigInt(TIME));
    const jwk = {
      kty: 'OKP',
      crv: 'Ed25519',
      x: Buffer.from(WITNESS.publicKey, 'hex').toString('base64url'),
    };
    const message = Buffer.from(`cosignature/v1\ntime 1679315147\n${TEXT}`);
    expect(
      verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), value.subarray(8)),
    ).toBe(true);
    expect(cosignedAt(TEXT, cosign(TEXT, WITNESS, TIME), WITNESS)).toBe(BigInt(TIME));
  });

  test('of the standard has its time in front', () => {
    const line =
      '— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n';
    const [signature] = parseNote(`text\n\n${line}`).signatures;
    expect(signature?.value.length).toBe(72);
    expect(Buffer.from(signature!.value).readBigUInt64BE()).toBe(1_679_315_147n);
  });

  test('holds from 1970 to 2^63-1, and no other time is signed', () => {
    for (const time of [1, 2 ** 31, 2 ** 32, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
      expect(cosignedAt(TEXT, cosign(TEXT, WITNESS, time), WITNESS)).toBe(BigInt(time));
    }
    for (const time of [
      0,
      0n,
      -1,
      -1n,
      1.5,
      Number.NaN,
      2n ** 63n,
      2n ** 64n,
      '1',
      undefined,
      new Date(0),
    ]) {
      expect(saidOf(() => cosign(TEXT, WITNESS, time as never))).toMatch(
        'bad_argument: The time of a cosignature is a whole number of seconds from',
      );
    }
  });

  test('does not hold for another text, time, key or form', () => {
    const signature = cosign(TEXT, WITNESS, TIME);
    const { value } = signature;
    expect(cosignedAt(TEXT.replace('20852163', '20852164'), signature, WITNESS)).toBe(undefined);
    expect(cosignedAt(`${TEXT}extension\n`, signature, WITNESS)).toBe(undefined);
    expect(cosignedAt(TEXT, signature, WITNESSES[1]!)).toBe(undefined);
    for (let bit = 0; bit < 72 * 8; bit++) {
      expect(cosignedAt(TEXT, { ...signature, value: flipped(value, bit) }, WITNESS)).toBe(
        undefined,
      );
    }
    for (const other of [
      value.subarray(8),
      value.subarray(0, 71),
      Buffer.concat([value, Buffer.of(0)]),
      new Uint8Array(0),
    ]) {
      expect(cosignedAt(TEXT, { ...signature, value: other }, WITNESS)).toBe(undefined);
    }
  });

  test('is of checkpoints only', () => {
    for (const text of [
      '',
      'a\n',
      TEXT.slice(0, -1),
      `${TEXT}\n`,
      `time 1\n${TEXT}`.replace(ORIGIN, ''),
    ]) {
      expect(codeOf(() => cosign(text, WITNESS, TIME))).toBe('bad_checkpoint');
      expect(cosignedAt(text, cosign(TEXT, WITNESS, TIME), WITNESS)).toBe(undefined);
    }
  });

  test('is not accepted for a text that is not a checkpoint, or an invalid time', () => {
    const forged = (text: string, time: bigint) => {
      const stamp = Buffer.alloc(8);
      stamp.writeBigUInt64BE(time);
      const signature = signBytes(
        Buffer.from(`cosignature/v1\ntime ${time}\n${text}`),
        WITNESS.privateKey,
      );
      const value = Buffer.concat([stamp, Buffer.from(signature, 'hex')]);
      return cosignedAt(text, { name: WITNESS.name, keyId: WITNESS.id, value }, WITNESS);
    };
    expect(forged(TEXT, 2n ** 63n - 1n)).toBe(2n ** 63n - 1n);
    for (const time of [2n ** 63n, 2n ** 64n - 1n]) expect(forged(TEXT, time)).toBe(undefined);
    for (const text of ['a\n', TEXT.slice(0, -1), TEXT.replace('20852163', '020852163')]) {
      expect(forged(text, 1n)).toBe(undefined);
    }
  });

  test('needs a key that is for cosignatures', () => {
    const note = signerKey(WITNESS.name, 'note', seed(2));
    expect(saidOf(() => cosign(TEXT, note, TIME))).toMatch(
      /^bad_key: .*Pass a key for cosignatures/,
    );
    expect(saidOf(() => cosignedAt(TEXT, cosign(TEXT, WITNESS, TIME), note))).toMatch(
      /^bad_key: .*Pass a key for cosignatures/,
    );
  });

  test('is not a signature of the log, nor the log’s a cosignature', () => {
    const { value } = cosign(TEXT, WITNESS, TIME);
    const bare = { name: WITNESS.name, keyId: WITNESS.id, value: value.subarray(8) };
    const asNote = signerKey(WITNESS.name, 'note', seed(2));
    expect(cosignedAt(TEXT, bare, WITNESS)).toBe(undefined);
    expect(cosignedAt(TEXT, signNote(TEXT, asNote), WITNESS)).toBe(undefined);
  });
});

test('cosignatures are read from a note with their times', () => {
  const verdict = openNote(signedNote(TEXT, WITNESSES), [LOG, ...WITNESSES]);
  expect(verdict.valid && verdict.verified.map(({ key, time }) => [key.name, time])).toEqual([
    [LOG.name, undefined],
    ...WITNESSES.map(({ name }, n) => [name, 1_700_000_000n + BigInt(n)]),
  ]);
});
