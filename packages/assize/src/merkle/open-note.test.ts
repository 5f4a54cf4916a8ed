import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  damaged,
  flipped,
  LOG,
  RUBBISH,
  STRANGER,
  seed,
  WITNESSES,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { formatNote, parseNote } from './note.ts';
import { parseVerifierKey, signerKey, type VerifierKey, verifierKey } from './note-key.ts';
import { openNote, signNote } from './open-note.ts';

describe('signatures of others hold', () => {
  test('the example of c2sp.org/signed-note', () => {
    const key = parseVerifierKey(
      'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
    );
    const note = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
    expect(openNote(note, [key])).toMatchObject({
      valid: true,
      text: 'This is an example message.\n',
      verified: [{ key }],
    });
  });

  test('a tree head of the Go checksum database', () => {
    const key = parseVerifierKey(
      'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8',
    );
    const note = `go.sum database tree
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— sum.golang.org Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;
    expect(openNote(note, [key]).valid).toBe(true);
    expect(openNote(note.replace('20852163', '20852164'), [key])).toMatchObject({
      reason: 'bad_signature',
    });
  });

  test('forgeable ones are refused, also for a key that passed the configuration', () => {
    for (const publicKey of ['00'.repeat(32), `01${'00'.repeat(31)}`, `ec${'ff'.repeat(30)}7f`]) {
      const key: VerifierKey = { name: 'a', use: 'note', id: '01020304', publicKey };
      const value = Buffer.from(publicKey + '00'.repeat(32), 'hex');
      const note = formatNote({ text: TEXT, signatures: [{ name: 'a', keyId: key.id, value }] });
      expect(openNote(note, [key])).toMatchObject({ reason: 'bad_signature' });
    }
  });
});

const TEXT = 'a text\n\nof three lines\n';
const signed = formatNote({
  text: TEXT,
  signatures: [signNote(TEXT, LOG), signNote(TEXT, STRANGER)],
});

describe('a note', () => {
  test('is signed by Ed25519 over its text and nothing else', () => {
    const { value, keyId, name } = signNote(TEXT, LOG);
    const jwk = {
      kty: 'OKP',
      crv: 'Ed25519',
      x: Buffer.from(LOG.publicKey, 'hex').toString('base64url'),
    };
    expect(
      verify(null, Buffer.from(TEXT), createPublicKey({ key: jwk, format: 'jwk' }), value),
    ).toBe(true);
    expect([name, keyId]).toEqual([LOG.name, LOG.id]);
  });

  test('is valid by one known key; the others are passed over', () => {
    for (const keys of [[LOG], [STRANGER], [LOG, STRANGER], [LOG, LOG]]) {
      const verdict = openNote(signed, keys);
      expect(verdict).toMatchObject({ valid: true, text: TEXT });
      expect(verdict.valid && verdict.verified.length).toBe(new Set(keys).size);
    }
  });

  test('is not valid without a known key, and its text is not shown', () => {
    const same = signerKey(LOG.name, 'note', seed(8));
    const sameKey = verifierKey('other.example', 'note', LOG.publicKey);
    for (const keys of [[], [same], [sameKey], WITNESSES]) {
      const verdict = openNote(signed, keys);
      expect(verdict).toEqual({ valid: false, reason: 'not_signed', detail: expect.any(String) });
    }
  });

  test('is refused for any bad signature of a known key, under any other signers', () => {
    const bad = { ...signNote(TEXT, LOG), value: flipped(signNote(TEXT, LOG).value, 3) };
    const good = signNote(TEXT, STRANGER);
    for (const signatures of [
      [bad, good],
      [good, bad],
      [signNote(TEXT, LOG), bad],
      [bad, signNote(TEXT, LOG)],
    ]) {
      const note = formatNote({ text: TEXT, signatures });
      expect(openNote(note, [LOG, STRANGER])).toMatchObject({
        valid: false,
        reason: 'bad_signature',
      });
    }
    expect(openNote(formatNote({ text: TEXT, signatures: [bad, good] }), [STRANGER]).valid).toBe(
      true,
    );
  });

  test('is refused with any signature bit changed or another signature length', () => {
    const { value, ...rest } = signNote(TEXT, LOG);
    for (let bit = 0; bit < 512; bit++) {
      const note = formatNote({
        text: TEXT,
        signatures: [{ ...rest, value: flipped(value, bit) }],
      });
      expect(openNote(note, [LOG])).toMatchObject({ reason: 'bad_signature' });
    }
    for (const other of [
      value.subarray(0, 63),
      Buffer.concat([value, Buffer.of(0)]),
      Buffer.concat([Buffer.alloc(8), value]),
    ]) {
      const note = formatNote({ text: TEXT, signatures: [{ ...rest, value: other }] });
      expect(openNote(note, [LOG])).toMatchObject({ reason: 'bad_signature' });
    }
  });

  test('with a cosignature key is not signed by it', () => {
    const cosigner = signerKey(LOG.name, 'cosignature', seed(1));
    expect(cosigner.id).not.toBe(LOG.id);
    const posing = { ...signNote(TEXT, LOG), keyId: cosigner.id };
    expect(openNote(formatNote({ text: TEXT, signatures: [posing] }), [cosigner])).toMatchObject({
      reason: 'bad_signature',
    });
    expect(saidOf(() => signNote(TEXT, cosigner))).toMatch(
      /^bad_key: .*ledger is for cosignatures/,
    );
  });

  test('of another form is malformed', () => {
    expect(openNote('', [LOG])).toMatchObject({ valid: false, reason: 'malformed' });
    fc.assert(
      fc.property(RUBBISH, (source) => {
        expect(openNote(source as string, [LOG])).toMatchObject({ reason: 'malformed' });
      }),
    );
  });

  test('is signed only when it has a form', () => {
    for (const text of ['', 'a', 'a\t\n', 'a\r\n', '\ud800\n', undefined]) {
      expect(saidOf(() => signNote(text as string, LOG))).toMatch(
        /^bad_input: .*: the text does not end with a newline/,
      );
    }
  });
});

test('two keys of one name and id are a mistake of the configuration', () => {
  const twin: VerifierKey = { ...STRANGER, name: LOG.name, id: LOG.id };
  expect(codeOf(() => openNote(signed, [LOG, twin]))).toBe('bad_key');
  expect(codeOf(() => openNote(signed, [LOG, { ...LOG, use: 'cosignature' }]))).toBe('bad_key');
});

test('a changed note never verifies to another text', () => {
  const one = formatNote({ text: TEXT, signatures: [signNote(TEXT, LOG)] });
  let valid = 0;
  fc.assert(
    fc.property(damaged(one), (note) => {
      const verdict = openNote(note, [LOG]);
      if (!verdict.valid) return;
      valid += 1;
      expect(verdict.text).toBe(TEXT);
      expect(parseNote(note).signatures).toContainEqual(parseNote(one).signatures[0]);
    }),
    { numRuns: 3_000 },
  );
  expect(valid).toBeLessThan(300);
  for (let at = 0; at < one.length; at++) {
    for (const other of ['', 'x', '\n', one[at]!.toUpperCase(), one[at]! + one[at]!]) {
      const changed = one.slice(0, at) + other + one.slice(at + 1);
      const verdict = openNote(changed, [LOG]);
      if (verdict.valid) expect(changed).toBe(one);
    }
  }
});
