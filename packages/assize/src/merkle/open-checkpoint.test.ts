import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  damaged,
  flipped,
  LOG,
  ORIGIN,
  RUBBISH,
  STRANGER,
  seed,
  signedNote,
  WITNESSES,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { formatCheckpoint } from './checkpoint.ts';
import { cosign } from './cosignature.ts';
import { emptyRoot } from './hash.ts';
import { formatNote, formatSignatures, parseNote } from './note.ts';
import { signerKey, verifierKey } from './note-key.ts';
import { addCosignatures, type KnownLog, openCheckpoint, witnessCount } from './open-checkpoint.ts';
import { signNote } from './open-note.ts';
import { signCheckpoint } from './sign-checkpoint.ts';

const ROOT = new Uint8Array(32).fill(7);
const TEXT = formatCheckpoint({ origin: ORIGIN, size: 42, root: ROOT });
const KNOWN: KnownLog = { origin: ORIGIN, keys: [LOG] };

describe('a signed checkpoint', () => {
  test('is the log’s own', () => {
    const signed = signCheckpoint({ size: 42, root: ROOT }, LOG);
    expect(signed).toBe(signedNote(TEXT));
    expect(openCheckpoint(signed, KNOWN)).toMatchObject({
      valid: true,
      checkpoint: { origin: ORIGIN, size: 42n, extensions: [] },
      text: TEXT,
      signatures: [{ key: LOG }],
      cosignatures: [],
    });
    expect(saidOf(() => signCheckpoint({ size: 42, root: ROOT }, WITNESSES[0]!))).toMatch(
      /^bad_key: .*Pass a key for notes/,
    );
    expect(codeOf(() => signCheckpoint({ size: 0, root: ROOT }, LOG))).toBe('bad_checkpoint');
  });

  test('may be signed by an old or a new key of the log, and by strangers', () => {
    const next = signerKey(ORIGIN, 'note', seed(20));
    const signed = formatNote({
      text: TEXT,
      signatures: [STRANGER, LOG, next].map((key) => signNote(TEXT, key)),
    });
    for (const keys of [[LOG], [next], [LOG, next]]) {
      expect(openCheckpoint(signed, { origin: ORIGIN, keys })).toMatchObject({ valid: true });
    }
  });

  test('is not shown if it belongs to another log, under any key', () => {
    const text = TEXT.replace(ORIGIN, 'other.example/log');
    expect(openCheckpoint(signedNote(text), KNOWN)).toMatchObject({
      valid: false,
      reason: 'wrong_origin',
    });
  });

  test('is not valid without the log’s signature, under any other signatures', () => {
    const signatures = [signNote(TEXT, STRANGER), ...WITNESSES.map((key) => cosign(TEXT, key, 1))];
    const signed = formatNote({ text: TEXT, signatures });
    expect(openCheckpoint(signed, KNOWN, WITNESSES)).toMatchObject({
      valid: false,
      reason: 'not_signed',
    });
    expect(openCheckpoint(signed, { origin: ORIGIN, keys: [] }, WITNESSES)).toMatchObject({
      reason: 'not_signed',
    });
  });

  test('is refused for a bad log or known witness signature; skips unknown keys', () => {
    const [witness] = WITNESSES;
    const bad = cosign(TEXT, witness!, 1);
    const signatures = [signNote(TEXT, LOG), { ...bad, value: flipped(bad.value, 70) }];
    const signed = formatNote({ text: TEXT, signatures });
    expect(openCheckpoint(signed, KNOWN, [witness!])).toMatchObject({
      valid: false,
      reason: 'bad_signature',
    });
    expect(openCheckpoint(signed, KNOWN, [WITNESSES[1]!])).toMatchObject({
      valid: true,
      cosignatures: [],
    });
  });

  test('is refused if the signed text is not a checkpoint, or size 0 with a root', () => {
    const signed = (text: string) => openCheckpoint(signedNote(text), KNOWN);
    expect(signed('a text\n')).toMatchObject({ valid: false, reason: 'malformed_checkpoint' });
    expect(signed(TEXT.replace('42', '042'))).toMatchObject({ reason: 'malformed_checkpoint' });
    expect(signed(TEXT.replace('42', '0'))).toMatchObject({ reason: 'malformed_checkpoint' });
    expect(signed(formatCheckpoint({ origin: ORIGIN, size: 0, root: emptyRoot() }))).toMatchObject({
      valid: true,
    });
    expect(openCheckpoint(TEXT, KNOWN)).toMatchObject({ reason: 'malformed' });
  });

  test('with altered size, root or extension is refused', () => {
    const signed = signedNote(TEXT, WITNESSES);
    const root = Buffer.from(ROOT).toString('base64');
    const altered = [
      signed.replace('\n42\n', '\n43\n'),
      signed.replace(root, Buffer.alloc(32, 8).toString('base64')),
      signed.replace(`${root}\n`, `${root}\nextension\n`),
      signed.replace(ORIGIN, ORIGIN.toUpperCase()),
    ];
    for (const text of altered) {
      expect(text).not.toBe(signed);
      expect(openCheckpoint(text, KNOWN, WITNESSES).valid).toBe(false);
    }
  });

  test('with damage is refused, or equals the signed text', () => {
    const signed = signedNote(TEXT, WITNESSES);
    fc.assert(
      fc.property(damaged(signed), (text) => {
        const verdict = openCheckpoint(text, KNOWN, WITNESSES);
        if (verdict.valid) expect(verdict.text).toBe(TEXT);
      }),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(RUBBISH, (text) => {
        expect(openCheckpoint(text as string, KNOWN)).toMatchObject({ reason: 'malformed' });
      }),
    );
  });

  test('counts witnesses by their public keys', () => {
    const [one, two] = WITNESSES;
    const alias = signerKey('witness.example/alias', 'cosignature', seed(2));
    const count = (...signers: (typeof LOG)[]) => {
      const signatures = [
        signNote(TEXT, LOG),
        ...signers.map((key, n) => cosign(TEXT, key, n + 1)),
      ];
      const verdict = openCheckpoint(formatNote({ text: TEXT, signatures }), KNOWN, [
        ...WITNESSES,
        alias,
      ]);
      return verdict.valid ? witnessCount(verdict.cosignatures) : undefined;
    };
    expect(count()).toBe(0);
    expect(count(one!)).toBe(1);
    expect(count(one!, one!, one!)).toBe(1);
    expect(count(one!, alias)).toBe(1);
    expect(count(one!, alias, two!)).toBe(2);
    expect(count(...WITNESSES)).toBe(3);
  });

  test('is opened with witnesses that are', () => {
    expect(saidOf(() => openCheckpoint(signedNote(TEXT), KNOWN, [LOG]))).toMatch(
      /^bad_key: .*Pass a key for cosignatures/,
    );
    const twin = { ...STRANGER, name: LOG.name, id: LOG.id };
    expect(
      codeOf(() => openCheckpoint(signedNote(TEXT), { origin: ORIGIN, keys: [LOG, twin] })),
    ).toBe('bad_key');
  });
});

describe('the answer of a witness', () => {
  const [one, two] = WITNESSES as [typeof LOG, typeof LOG];

  test('is added to the checkpoint, once', () => {
    const answer = formatSignatures([cosign(TEXT, one, 5)]);
    const added = addCosignatures(signedNote(TEXT), answer, WITNESSES);
    expect(parseNote(added).signatures.map(({ name }) => name)).toEqual([LOG.name, one.name]);
    const later = addCosignatures(
      added,
      formatSignatures([cosign(TEXT, one, 6), cosign(TEXT, two, 7)]),
      WITNESSES,
    );
    const verdict = openCheckpoint(later, KNOWN, WITNESSES);
    expect(verdict.valid && verdict.cosignatures.map(({ key, time }) => [key.name, time])).toEqual([
      [one.name, 6n],
      [two.name, 7n],
    ]);
  });

  test('is added if it is valid, for the known keys', () => {
    const bad = cosign(TEXT, two, 5);
    const answer = formatSignatures([
      signNote(TEXT, STRANGER),
      cosign(TEXT, signerKey('unknown.example', 'cosignature', seed(30)), 5),
      { ...bad, value: flipped(bad.value, 100) },
      cosign(TEXT.replace('42', '43'), two, 5),
      cosign(TEXT, one, 5),
    ]);
    const added = addCosignatures(signedNote(TEXT), answer, WITNESSES);
    expect(parseNote(added).signatures.map(({ name }) => name)).toEqual([LOG.name, one.name]);
    const flood = formatSignatures(Array.from({ length: 100 }, (_, n) => cosign(TEXT, one, n + 1)));
    expect(parseNote(addCosignatures(signedNote(TEXT), flood, WITNESSES)).signatures.length).toBe(
      2,
    );
  });

  test('is refused if it is invalid', () => {
    for (const answer of [
      '',
      '\n',
      'ok\n',
      formatSignatures([cosign(TEXT, one, 5)]).slice(0, -1),
    ]) {
      expect(saidOf(() => addCosignatures(signedNote(TEXT), answer, WITNESSES))).toMatch(
        'bad_input: The document is not a signed note',
      );
    }
    expect(
      saidOf(() => addCosignatures(TEXT, formatSignatures([cosign(TEXT, one, 5)]), WITNESSES)),
    ).toMatch('bad_input: The document is not a signed note');
    expect(
      codeOf(() =>
        addCosignatures(signedNote(TEXT), 'x\n', [verifierKey('a', 'note', LOG.publicKey)]),
      ),
    ).toBe('bad_key');
  });
});
