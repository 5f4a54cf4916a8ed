import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  damaged,
  hex,
  ORIGIN,
  RUBBISH,
  signedNote,
  WITNESSES,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { formatCheckpoint } from './checkpoint.ts';
import { formatProofFile, PROOF_FILE_BYTES_MAX, parseProofFile } from './proof-file.ts';

const HASH = new Uint8Array(32).fill(3);
const SIGNED = signedNote(formatCheckpoint({ origin: ORIGIN, size: 9, root: HASH }), WITNESSES);
const LINE = Buffer.from(HASH).toString('base64');
const EXTRA = Buffer.from('anything at all');
const FILE = `c2sp.org/tlog-proof@v1\nextra ${EXTRA.toString('base64')}\nindex 5\n${LINE}\n${LINE}\n\n${SIGNED}`;

describe('a proof file', () => {
  test('has the lines of c2sp.org/tlog-proof', () => {
    expect(formatProofFile({ index: 5, proof: [HASH, HASH], signed: SIGNED, extra: EXTRA })).toBe(
      FILE,
    );
    const bare = `c2sp.org/tlog-proof@v1\nindex 0\n\n${SIGNED}`;
    expect(formatProofFile({ index: 0n, proof: [], signed: SIGNED })).toBe(bare);
    expect(parseProofFile(bare)).toEqual({ index: 0n, proof: [], signed: SIGNED });
  });

  test('is read back', () => {
    const { index, proof, signed, extra } = parseProofFile(FILE);
    expect([index, proof.map(hex), signed, extra]).toEqual([
      5n,
      [hex(HASH), hex(HASH)],
      SIGNED,
      EXTRA,
    ]);
    expect(parseProofFile(Buffer.from(FILE))).toEqual(parseProofFile(FILE));
    for (const place of [2n ** 31n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      expect(
        parseProofFile(formatProofFile({ index: place, proof: [], signed: SIGNED })).index,
      ).toBe(place);
    }
    const long = formatProofFile({ index: 0, proof: Array(64).fill(HASH), signed: SIGNED });
    expect(parseProofFile(long).proof.length).toBe(64);
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['another header', FILE.replace('@v1', '@v2')],
    ['no header', FILE.slice(FILE.indexOf('\n') + 1)],
    ['a header with a space', FILE.replace('@v1', '@v1 ')],
    ['an empty line in front', `\n${FILE}`],
    ['an empty extra line', FILE.replace(EXTRA.toString('base64'), '')],
    ['an extra line without Base64', FILE.replace(EXTRA.toString('base64'), 'a b')],
    ['an extra line without padding', FILE.replace(EXTRA.toString('base64'), 'YQ')],
    ['two extra lines', FILE.replace('extra', 'extra YQ==\nextra')],
    ['the extra line after the index', FILE.replace(/(extra .*)\n(index 5)/, '$2\n$1')],
    ['no index', FILE.replace('index 5\n', '')],
    ['two indexes', FILE.replace('index 5\n', 'index 5\nindex 5\n')],
    ['an index with a leading zero', FILE.replace('index 5', 'index 05')],
    ['a negative index', FILE.replace('index 5', 'index -1')],
    ['an empty index', FILE.replace('index 5', 'index ')],
    ['an index of 2^64', FILE.replace('index 5', `index ${2n ** 64n}`)],
    ['capitals', FILE.replace('index', 'Index')],
    ['a short hash', FILE.replace(LINE, LINE.slice(4))],
    ['a hash and a space', FILE.replace(LINE, `${LINE} `)],
    ['65 hashes', FILE.replace(`${LINE}\n`, `${LINE}\n`.repeat(64))],
    ['a hundred thousand lines', FILE.replace(`${LINE}\n`, ' \n'.repeat(400_000))],
    ['no empty line', FILE.replace('\n\n', '\n')],
    ['no checkpoint', FILE.slice(0, FILE.indexOf('\n\n') + 2)],
    ['a checkpoint without signature', FILE.slice(0, FILE.lastIndexOf('\n\n') + 1)],
    ['an invalid checkpoint', FILE.replace('\n9\n', '\n09\n')],
    ['an empty line at its end', `${FILE}\n`],
    ['windows newlines', FILE.replaceAll('\n', '\r\n')],
    ['more bytes than are read', FILE + 'a'.repeat(PROOF_FILE_BYTES_MAX)],
  ])('with %s is refused', (_name, text) => {
    expect(saidOf(() => parseProofFile(text))).toMatch(
      /^bad_input: .*The document is not a proof file/,
    );
  });

  test('is written only when it would be read', () => {
    const draft = { index: 5, proof: [HASH], signed: SIGNED };
    const write = (change: object) =>
      codeOf(() => formatProofFile({ ...draft, ...change } as never));
    expect(write({})).toBe(undefined);
    for (const index of [-1, -1n, 0.5, 2 ** 53, 2n ** 64n, '1', undefined])
      expect(write({ index })).toBe('bad_input');
    for (const proof of [[HASH.subarray(1)], [undefined], Array(65).fill(HASH)])
      expect(write({ proof })).toBe('bad_input');
    for (const signed of ['', 'a\n', `${SIGNED}\n`]) expect(write({ signed })).toBe('bad_input');
    expect(write({ extra: new Uint8Array(0) })).toBe('bad_input');
  });
});

test('a parsed proof file formats to the same text, else it is a MerkleError', () => {
  const same = (source: unknown) => {
    const code = codeOf(() =>
      expect(formatProofFile(parseProofFile(source as string))).toBe(source),
    );
    expect(['bad_input', undefined]).toContain(code);
  };
  fc.assert(fc.property(RUBBISH, same));
  fc.assert(fc.property(damaged(FILE), same), { numRuns: 3_000 });
});
