import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  damaged,
  entries,
  flipped,
  LOG,
  logOf,
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
import { formatNote } from './note.ts';
import { formatVerifierKey, parseVerifierKey, signerKey } from './note-key.ts';
import { signNote } from './open-note.ts';
import { formatProofFile, parseProofFile } from './proof-file.ts';
import { inclusionProof, rootAt } from './tree.ts';
import { type ProofTrust, verifyProofFile } from './verify-proof-file.ts';

const SIZE = 21;
const data = entries(SIZE);
const { read } = logOf(data);
const TEXT = formatCheckpoint({ origin: ORIGIN, size: SIZE, root: rootAt(SIZE, read) });
const TRUST: ProofTrust = {
  log: { origin: ORIGIN, keys: [parseVerifierKey(formatVerifierKey(LOG))] },
  witnesses: WITNESSES.map((key) => parseVerifierKey(formatVerifierKey(key))),
  quorum: 2,
};

function fileOf(index: number, signed = signedNote(TEXT, WITNESSES.slice(0, 2))): string {
  return formatProofFile({ index, proof: inclusionProof(index, SIZE, read), signed });
}

describe('a proof file', () => {
  test('proves every leaf of its log, and no other leaf', () => {
    for (let index = 0; index < SIZE; index++) {
      const file = fileOf(index);
      const verdict = verifyProofFile(file, data[index]!, TRUST);
      expect(verdict).toMatchObject({
        valid: true,
        index: BigInt(index),
        checkpoint: { origin: ORIGIN, size: BigInt(SIZE) },
      });
      expect(verdict.valid && verdict.cosignatures.map(({ time }) => time)).toEqual([
        1_700_000_000n,
        1_700_000_001n,
      ]);
      expect(verifyProofFile(Buffer.from(file), Buffer.from(data[index]!), TRUST)).toEqual(verdict);
      for (const other of [data[(index + 1) % SIZE]!, '', `${data[index]} `]) {
        expect(verifyProofFile(file, other, TRUST)).toMatchObject({
          valid: false,
          reason: 'not_included',
        });
      }
    }
  });

  test('returns its unsigned extra data', () => {
    const extra = Buffer.from('hint');
    const file = formatProofFile({ ...parseProofFile(fileOf(3)), extra });
    expect(verifyProofFile(file, data[3]!, TRUST)).toMatchObject({ valid: true, extra });
    expect(verifyProofFile(fileOf(3), data[3]!, TRUST)).not.toHaveProperty('extra');
  });

  test('with another index, a changed, dropped, added or swapped hash does not', () => {
    for (const index of [0, 6, 19, 20]) {
      const { proof, signed } = parseProofFile(fileOf(index));
      const others = [
        ...proof.flatMap((hash, at) => [
          proof.with(at, flipped(hash, at)),
          proof.toSpliced(at, 1),
          proof.toSpliced(at, 0, hash),
        ]),
        [...proof, proof[0]!],
        proof.toReversed(),
      ];
      for (const other of others) {
        const file = formatProofFile({ index, proof: other, signed });
        expect(verifyProofFile(file, data[index]!, TRUST)).toMatchObject({
          reason: 'not_included',
        });
      }
      for (const place of [index + 1, index ^ 1, SIZE, 2n ** 64n - 1n]) {
        const file = formatProofFile({ index: place, proof, signed });
        expect(verifyProofFile(file, data[index]!, TRUST)).toMatchObject({
          reason: 'not_included',
        });
      }
    }
  });

  const reasonFor = (signed: string, trust: Partial<ProofTrust> = {}) => {
    const verdict = verifyProofFile(fileOf(4, signed), data[4]!, { ...TRUST, ...trust });
    return verdict.valid ? 'valid' : verdict.reason;
  };
  const [one, two, three] = WITNESSES as [typeof LOG, typeof LOG, typeof LOG];

  test('needs as many witnesses as are wanted, each counted once', () => {
    expect(reasonFor(signedNote(TEXT, [one]))).toBe('too_few_witnesses');
    expect(reasonFor(signedNote(TEXT, [one, one, one]))).toBe('too_few_witnesses');
    expect(reasonFor(signedNote(TEXT, [one, three]))).toBe('valid');
    expect(reasonFor(signedNote(TEXT, WITNESSES), { quorum: 3 })).toBe('valid');
    expect(reasonFor(signedNote(TEXT, [one, two]), { quorum: 3 })).toBe('too_few_witnesses');
    expect(reasonFor(signedNote(TEXT), { quorum: 0 })).toBe('valid');
    expect(reasonFor(signedNote(TEXT), { quorum: 0, witnesses: [] })).toBe('valid');
    expect(
      reasonFor(signedNote(TEXT, WITNESSES), {
        quorum: 1,
        witnesses: [signerKey('w', 'cosignature', seed(50))],
      }),
    ).toBe('too_few_witnesses');
  });

  test('counts a key once that has two names', () => {
    const alias = signerKey('witness.example/alias', 'cosignature', seed(2));
    const signed = signedNote(TEXT, [one, alias]);
    expect(reasonFor(signed, { witnesses: [one, alias, two] })).toBe('too_few_witnesses');
    expect(saidOf(() => reasonFor(signed, { witnesses: [one, alias] }))).toMatch(
      'bad_argument: The quorum cannot be',
    );
  });

  test('needs the log’s own signature, and none of the known that fails', () => {
    const cosignatures = WITNESSES.map((key) => cosign(TEXT, key, 5));
    expect(reasonFor(formatNote({ text: TEXT, signatures: cosignatures }))).toBe('not_signed');
    expect(
      reasonFor(
        formatNote({ text: TEXT, signatures: [signNote(TEXT, STRANGER), ...cosignatures] }),
      ),
    ).toBe('not_signed');
    const bad = { ...cosignatures[2]!, value: flipped(cosignatures[2]!.value, 99) };
    const signatures = [signNote(TEXT, LOG), cosignatures[0]!, cosignatures[1]!, bad];
    expect(reasonFor(formatNote({ text: TEXT, signatures }))).toBe('bad_signature');
    const early = { ...cosignatures[0]!, value: flipped(cosignatures[0]!.value, 60) };
    expect(
      reasonFor(
        formatNote({ text: TEXT, signatures: [signNote(TEXT, LOG), early, ...cosignatures] }),
      ),
    ).toBe('bad_signature');
  });

  test('is of the log that is asked for', () => {
    const text = TEXT.replace(ORIGIN, 'other.example');
    expect(reasonFor(signedNote(text, WITNESSES))).toBe('wrong_origin');
    expect(
      reasonFor(signedNote(TEXT, WITNESSES), { log: { origin: 'other.example', keys: [LOG] } }),
    ).toBe('wrong_origin');
    expect(
      reasonFor(signedNote(TEXT, WITNESSES), { log: { origin: ORIGIN, keys: [STRANGER] } }),
    ).toBe('not_signed');
  });

  test('of the tree at another size is not of this one', () => {
    const signed = signedNote(
      formatCheckpoint({ origin: ORIGIN, size: 20, root: rootAt(20, read) }),
      WITNESSES,
    );
    expect(reasonFor(signed)).toBe('not_included');
  });
});

describe('mistakes of the caller are errors', () => {
  test.each([-1, 4, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', undefined, null])(
    'a quorum of %s',
    (quorum) => {
      expect(
        codeOf(() => verifyProofFile(fileOf(1), data[1]!, { ...TRUST, quorum: quorum as never })),
      ).toBe('bad_argument');
    },
  );

  test('a log’s key as a witness, two keys of one name and id, no leaf', () => {
    expect(
      codeOf(() =>
        verifyProofFile(fileOf(1), data[1]!, { ...TRUST, witnesses: [...WITNESSES, LOG] }),
      ),
    ).toBe('bad_key');
    const log = { origin: ORIGIN, keys: [LOG, { ...STRANGER, name: LOG.name, id: LOG.id }] };
    expect(codeOf(() => verifyProofFile(fileOf(1), data[1]!, { ...TRUST, log }))).toBe('bad_key');
    expect(saidOf(() => verifyProofFile(fileOf(1), '\ud800', TRUST))).toMatch(
      'bad_argument: The data of a leaf is bytes, or text without a lone',
    );
  });
});

test('for any file the verdict is that it proves nothing, or the original', () => {
  const file = fileOf(6);
  fc.assert(
    fc.property(damaged(file), (text) => {
      const verdict = verifyProofFile(text, data[6]!, TRUST);
      if (!verdict.valid) return;
      const { index, proof, signed } = parseProofFile(file);
      expect(parseProofFile(text)).toMatchObject({ index, proof });
      expect(verdict.index).toBe(index);
      expect(formatCheckpoint(verdict.checkpoint)).toBe(TEXT);
      expect(signed.startsWith(TEXT)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(RUBBISH, (source) => {
      expect(verifyProofFile(source as string, 'leaf', TRUST)).toMatchObject({
        valid: false,
        reason: 'malformed_file',
      });
    }),
  );
});
