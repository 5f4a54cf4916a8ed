import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  damaged,
  ORIGIN,
  RUBBISH,
  signedNote,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import {
  formatAddCheckpoint,
  PROOF_HASHES_MAX,
  parseAddCheckpoint,
  parseRecordedSize,
  REQUEST_BYTES_MAX,
} from './add-checkpoint.ts';
import { formatCheckpoint } from './checkpoint.ts';

/** c2sp.org/tlog-witness, add-checkpoint. */
const EXAMPLE = `old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
`;
const HASH = new Uint8Array(32).fill(3);
const SIGNED = signedNote(formatCheckpoint({ origin: ORIGIN, size: 9, root: HASH }));

describe('a request', () => {
  test('of the standard is read and written', () => {
    const request = parseAddCheckpoint(EXAMPLE);
    expect(request.old).toBe(20852014n);
    expect(request.proof.length).toBe(4);
    expect(Buffer.from(request.proof[3]!).toString('base64')).toBe(
      '/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=',
    );
    expect(request.checkpoint).toMatchObject({
      origin: 'example.com/behind-the-sofa',
      size: 20852163n,
    });
    expect(formatAddCheckpoint(request.old, request.proof, request.signed)).toBe(EXAMPLE);
    expect(parseAddCheckpoint(Buffer.from(EXAMPLE))).toEqual(request);
  });

  test('has 0 to 63 hashes', () => {
    for (const count of [0, 1, PROOF_HASHES_MAX]) {
      expect(
        parseAddCheckpoint(formatAddCheckpoint(7n, Array(count).fill(HASH), SIGNED)).proof.length,
      ).toBe(count);
    }
    expect(PROOF_HASHES_MAX).toBe(63);
    expect(saidOf(() => formatAddCheckpoint(7, Array(64).fill(HASH), SIGNED))).toMatch(
      'bad_input: The document is not an add-checkpoint request',
    );
  });

  test('may have an empty line in the text of the signatures only as a note may', () => {
    const odd = SIGNED.replace('\n\n', '\n\n\n');
    expect(saidOf(() => parseAddCheckpoint(`old 0\n\n${odd}`))).toMatch(
      'bad_input: The document is not an add-checkpoint request',
    );
  });

  const line = `${Buffer.from(HASH).toString('base64')}\n`;
  test.each<[string, string]>([
    ['nothing', ''],
    ['a checkpoint alone', SIGNED],
    ['no old size', `${line}\n${SIGNED}`],
    ['another word', `size 1\n\n${SIGNED}`],
    ['no space', `old1\n\n${SIGNED}`],
    ['two spaces', `old  1\n\n${SIGNED}`],
    ['a leading zero', `old 01\n\n${SIGNED}`],
    ['a negative size', `old -1\n\n${SIGNED}`],
    ['an empty size', `old \n\n${SIGNED}`],
    ['a size of 2^64', `old ${2n ** 64n}\n\n${SIGNED}`],
    ['two old sizes', `old 1\nold 1\n\n${SIGNED}`],
    ['a hash before the old size', `${line}old 1\n\n${SIGNED}`],
    ['a short hash', `old 1\n${line.slice(4)}\n${SIGNED}`],
    ['a long hash', `old 1\nAAAA${line}\n${SIGNED}`],
    ['a hash in hex', `old 1\n${'ab'.repeat(32)}\n\n${SIGNED}`],
    ['a hash and a space', `old 1\n${line.trim()} \n\n${SIGNED}`],
    ['64 hashes', `old 1\n${line.repeat(64)}\n${SIGNED}`],
    ['a million lines', `old 1\n${'\u0020\n'.repeat(400_000)}\n${SIGNED}`],
    ['no empty line', `old 1\n${SIGNED.slice(0, SIGNED.indexOf('\n\n'))}`],
    ['no checkpoint', `old 1\n\n`],
    ['a checkpoint without a signature', `old 1\n\n${SIGNED.slice(0, SIGNED.indexOf('\n\n') + 1)}`],
    ['a note that is not a checkpoint', `old 1\n\n${signedNote('a text\n')}`],
    ['windows newlines', `old 1\n\n${SIGNED}`.replaceAll('\n', '\r\n')],
    ['a newline too much', `old 1\n\n${SIGNED}\n`],
    ['a newline too few', `old 1\n\n${SIGNED.slice(0, -1)}`],
    ['an empty line in front', `\nold 1\n\n${SIGNED}`],
    ['more bytes than are read', `old 1\n\n${'a'.repeat(REQUEST_BYTES_MAX)}`],
  ])('with %s is refused', (_name, body) => {
    expect(saidOf(() => parseAddCheckpoint(body))).toMatch(
      'bad_input: The document is not an add-checkpoint request',
    );
  });

  test('is written only when it would be read', () => {
    for (const old of [-1, -1n, 1.5, 2 ** 53, 2n ** 64n, '1', undefined]) {
      expect(saidOf(() => formatAddCheckpoint(old as never, [], SIGNED))).toMatch(
        'bad_input: The document is not an add-checkpoint request',
      );
    }
    expect(saidOf(() => formatAddCheckpoint(1, [HASH.subarray(1)], SIGNED))).toMatch(
      'bad_input: The document is not an add-checkpoint request',
    );
    expect(saidOf(() => formatAddCheckpoint(1, [], 'nothing'))).toMatch(
      'bad_input: The document is not an add-checkpoint request',
    );
  });
});

test('a parsed request formats to the same text, else it is a MerkleError', () => {
  const same = (source: unknown) => {
    const code = codeOf(() => {
      const { old, proof, signed } = parseAddCheckpoint(source as string);
      expect(formatAddCheckpoint(old, proof, signed)).toBe(source);
    });
    expect(['bad_input', undefined]).toContain(code);
  };
  fc.assert(fc.property(RUBBISH, same));
  fc.assert(fc.property(damaged(EXAMPLE), same), { numRuns: 3_000 });
});

test('the size that a witness has', () => {
  expect(parseRecordedSize('20852014\n')).toBe(20852014n);
  expect(parseRecordedSize('0\n')).toBe(0n);
  for (const bad of ['', '\n', '1', '01\n', '1\n\n', ' 1\n', '-1\n', '1\r\n'])
    expect(parseRecordedSize(bad)).toBe(undefined);
});
