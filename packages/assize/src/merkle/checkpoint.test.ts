import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  damaged,
  hex,
  ORIGIN,
  RUBBISH,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { formatCheckpoint, parseCheckpoint } from './checkpoint.ts';
import { emptyRoot } from './hash.ts';

/** c2sp.org/tlog-checkpoint. */
const EXAMPLE = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`;
const ROOT = new Uint8Array(32).fill(7);

describe('the text of a checkpoint', () => {
  test('of the standard is read and written', () => {
    const checkpoint = parseCheckpoint(EXAMPLE);
    expect(checkpoint).toMatchObject({
      origin: 'example.com/behind-the-sofa',
      size: 20852163n,
      extensions: [],
    });
    expect(hex(checkpoint.root)).toBe(
      '0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62',
    );
    expect(formatCheckpoint(checkpoint)).toBe(EXAMPLE);
  });

  test('has any size up to 2^64-1, given as number or bigint', () => {
    for (const size of [
      1n,
      2n ** 31n,
      2n ** 32n,
      2n ** 53n - 1n,
      2n ** 53n + 1n,
      2n ** 63n - 1n,
      2n ** 64n - 1n,
    ]) {
      const text = formatCheckpoint({ origin: ORIGIN, size, root: ROOT });
      expect(text.split('\n')[1]).toBe(`${size}`);
      expect(parseCheckpoint(text).size).toBe(size);
      if (size < 2n ** 53n)
        expect(formatCheckpoint({ origin: ORIGIN, size: Number(size), root: ROOT })).toBe(text);
    }
  });

  test('may have further lines, and an origin of any kind', () => {
    const text = `go.sum database tree + more\n7\n${EXAMPLE.split('\n')[2]}\n 1\nextension é\n`;
    expect(parseCheckpoint(text)).toMatchObject({
      origin: 'go.sum database tree + more',
      size: 7n,
      extensions: [' 1', 'extension é'],
    });
  });

  const [origin, size, root] = EXAMPLE.split('\n') as [string, string, string];
  test.each<[string, string]>([
    ['nothing', ''],
    ['an empty line', '\n'],
    ['no newline at its end', EXAMPLE.slice(0, -1)],
    ['two lines', `${origin}\n${size}\n`],
    ['no origin', `\n${size}\n${root}\n`],
    ['an empty line at its end', `${EXAMPLE}\n`],
    ['an empty line before an extension', `${EXAMPLE}\nextension\n`],
    ['a leading zero', `${origin}\n0${size}\n${root}\n`],
    ['a double zero', `${origin}\n00\n${root}\n`],
    ['a sign', `${origin}\n+${size}\n${root}\n`],
    ['a negative size', `${origin}\n-1\n${root}\n`],
    ['a broken size', `${origin}\n1.0\n${root}\n`],
    ['a size in hex', `${origin}\n0x10\n${root}\n`],
    ['a size of 2^64', `${origin}\n${2n ** 64n}\n${root}\n`],
    ['no size', `${origin}\n\n${root}\n`],
    ['a space after the size', `${origin}\n${size} \n${root}\n`],
    ['a root of 31 bytes', `${origin}\n${size}\n${Buffer.alloc(31).toString('base64')}\n`],
    ['a root of 33 bytes', `${origin}\n${size}\n${Buffer.alloc(33).toString('base64')}\n`],
    ['a root without padding', `${origin}\n${size}\n${root.slice(0, -1)}\n`],
    ['a root with bits beside', `${origin}\n${size}\n${root.slice(0, -2)}J=\n`],
    ['a root in hex', `${origin}\n${size}\n${'ab'.repeat(32)}\n`],
    ['windows newlines', EXAMPLE.replaceAll('\n', '\r\n')],
    ['a control character', `${EXAMPLE}a\tb\n`],
    ['half a surrogate pair', `\ud800\n${size}\n${root}\n`],
  ])('with %s is refused', (_name, text) => {
    expect(codeOf(() => parseCheckpoint(text))).toBe('bad_checkpoint');
  });

  test('is written only when it can be nothing else', () => {
    const draft = { origin: ORIGIN, size: 3, root: ROOT };
    const write = (change: object) =>
      codeOf(() => formatCheckpoint({ ...draft, ...change } as never));
    expect(write({})).toBe(undefined);
    expect(write({ extensions: ['a', ' '] })).toBe(undefined);
    for (const bad of ['', 'a b', 'a+b', 'a\n', 'a\u00a0', '\ud800', undefined])
      expect(write({ origin: bad })).toBe('bad_checkpoint');
    for (const bad of [-1, -1n, 1.5, 2 ** 53, 2n ** 64n, Number.NaN, '3', undefined])
      expect(write({ size: bad })).toBe('bad_checkpoint');
    for (const bad of [new Uint8Array(31), 'x'.repeat(32), undefined])
      expect(write({ root: bad })).toBe('bad_checkpoint');
    for (const bad of ['', 'a\nb', 'a\n', '\t', '\ud800'])
      expect(write({ extensions: ['a', bad] })).toBe('bad_checkpoint');
    expect(write({ size: 0 })).toBe('bad_checkpoint');
    expect(write({ size: 0, root: emptyRoot() })).toBe(undefined);
  });
});

test('a parsed checkpoint formats to the same text, else it is a MerkleError', () => {
  const same = (source: unknown) => {
    const code = codeOf(() => {
      const { origin, size, root, extensions } = parseCheckpoint(source as string);
      const lines = [origin, `${size}`, Buffer.from(root).toString('base64'), ...extensions];
      expect(lines.map((line) => `${line}\n`).join('')).toBe(source);
    });
    expect(['bad_checkpoint', undefined]).toContain(code);
  };
  fc.assert(fc.property(RUBBISH, same));
  fc.assert(fc.property(damaged(EXAMPLE), same), { numRuns: 3_000 });
});
