import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import {
  codeOf,
  damaged,
  RUBBISH,
  seed,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { sha256 } from '../../../../tests/support/models/naive-tree.ts';
import {
  formatSignerKey,
  formatVerifierKey,
  isKeyName,
  type KeyUse,
  parseSignerKey,
  parseVerifierKey,
  signerKey,
  verifierKey,
} from './note-key.ts';

/** c2sp.org/signed-note, Verifier keys, Example. */
const EXAMPLE = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
/** The key of the Go checksum database, as every Go tool contains it. */
const SUMDB = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8';
const USES: readonly KeyUse[] = ['note', 'cosignature'];

describe('a verifier key', () => {
  test.each([EXAMPLE, SUMDB])('%s is read and written', (text) => {
    const key = parseVerifierKey(text);
    expect(key.use).toBe('note');
    expect(formatVerifierKey(key)).toBe(text);
    expect(`${key.name}+${key.id}`).toBe(text.split('+', 2).join('+'));
  });

  test('has the id of its name, use and key', () => {
    const { publicKey } = generateKeys(Buffer.from(seed(7), 'hex'));
    const id = (use: KeyUse, type: number) => {
      expect(verifierKey('w', use, publicKey).id).toBe(
        sha256('w\n', Buffer.of(type), Buffer.from(publicKey, 'hex')).toString('hex', 0, 4),
      );
    };
    id('note', 0x01);
    id('cosignature', 0x04);
  });

  test('is divided by its first two + only', () => {
    let plusses = 0;
    for (let n = 0; n < 64; n++) {
      const key = signerKey('log.example', USES[n % 2]!, seed(n));
      const text = formatVerifierKey(key);
      plusses += text.split('+').length > 3 ? 1 : 0;
      const { privateKey: _secret, ...open } = key;
      expect(parseVerifierKey(text)).toEqual(open);
      expect(parseSignerKey(formatSignerKey(key))).toEqual(key);
      expect(formatSignerKey(key).startsWith(`PRIVATE+KEY+log.example+${key.id}+`)).toBe(true);
    }
    expect(plusses).toBeGreaterThan(10);
  });

  test.each<[string, string]>([
    ['no key', ''],
    ['a name alone', 'example.com/foo'],
    ['no key material', 'example.com/foo+530d903a'],
    ['another id', EXAMPLE.replace('530d903a', '530d903b')],
    ['another name', EXAMPLE.replace('foo', 'fox')],
    ['an id in capitals', EXAMPLE.replace('530d903a', '530D903A')],
    ['a short id', EXAMPLE.replace('530d903a', '30d903a')],
    ['a newline at the end', `${EXAMPLE}\n`],
    ['a space in the name', EXAMPLE.replace('/foo', ' foo')],
    ['no name', EXAMPLE.replace('example.com/foo', '')],
    ['Base64 without a key', 'example.com/foo+530d903a+'],
    ['Base64 of URLs', SUMDB.replaceAll('+', '-').replace('-', '+').replace('-', '+')],
    ['a type that is not supported', 'a+00000000+' + Buffer.alloc(33, 2).toString('base64')],
    ['an ML-DSA-44 key', 'a+00000000+' + Buffer.alloc(1313, 6).toString('base64')],
    ['a key too short', 'a+00000000+' + Buffer.alloc(32, 1).toString('base64')],
    ['a key too long', 'a+00000000+' + Buffer.alloc(34, 1).toString('base64')],
    ['a private key', 'PRIVATE+KEY+a+00000000+' + Buffer.alloc(33, 1).toString('base64')],
  ])('with %s is refused', (_name, text) => {
    expect(codeOf(() => parseVerifierKey(text))).toBe('bad_key');
  });

  test('of low order is refused, as signatures under it can be forged', () => {
    for (const low of [
      '00'.repeat(32),
      `01${'00'.repeat(31)}`,
      `ec${'ff'.repeat(30)}7f`,
      `ee${'ff'.repeat(30)}7f`,
    ]) {
      for (const use of USES) {
        expect(codeOf(() => verifierKey('a', use, low))).toBe('bad_key');
        const material = Buffer.concat([
          Buffer.of(use === 'note' ? 1 : 4),
          Buffer.from(low, 'hex'),
        ]);
        const id = sha256('a\n', material).toString('hex', 0, 4);
        expect(codeOf(() => parseVerifierKey(`a+${id}+${material.toString('base64')}`))).toBe(
          'bad_key',
        );
      }
    }
  });

  test('has a use that there is', () => {
    const { publicKey } = generateKeys(Buffer.from(seed(7), 'hex'));
    for (const use of ['', 'Note', 'toString', '__proto__', undefined]) {
      expect(codeOf(() => verifierKey('a', use as never, publicKey))).toBe('bad_key');
    }
  });
});

describe('a name', () => {
  test.each(['a', 'example.com/foo', 'log.example:8080/~x', 'é', '\u2014', '\ufeff', 'oid/1.2.3'])(
    'can be "%s"',
    (name) => {
      expect(isKeyName(name)).toBe(true);
      expect(parseVerifierKey(formatVerifierKey(signerKey(name, 'note', seed(1)))).name).toBe(name);
    },
  );

  test.each([
    '',
    ' ',
    'a b',
    'a+b',
    '+',
    'a\n',
    '\na',
    'a\t',
    'a\0',
    '\u00a0',
    'a\u0085',
    '\u2003b',
    '\u2028',
    '\u3000',
    '\ud800',
    '\r',
  ])('cannot be %j', (name) => {
    expect(isKeyName(name)).toBe(false);
    expect(codeOf(() => signerKey(name, 'note', seed(1)))).toBe('bad_key');
  });
});

describe('a private key', () => {
  const secret = signerKey('log.example', 'note', seed(0xab));

  test('is refused when it is not one, and never shown', () => {
    const text = formatSignerKey(secret);
    const hidden = [seed(0xab), text.split('+').at(-1)!, seed(0xab).toUpperCase()];
    const wrong = [
      text.replace(secret.id, '00000000'),
      text.slice(0, -4),
      `${text}\n`,
      text.slice('PRIVATE+KEY+'.length),
      text.toLowerCase(),
      text.replace('log', 'lög'),
      `${text}+`,
    ];
    for (const bad of wrong) {
      expect(codeOf(() => parseSignerKey(bad))).toBe('bad_key');
      try {
        parseSignerKey(bad);
      } catch (error) {
        const shown = JSON.stringify(error) + String(error) + String((error as Error).cause);
        for (const part of hidden) expect(shown).not.toContain(part);
      }
    }
    for (const bad of ['', 'ab', seed(0xab).toUpperCase(), `${seed(1)}00`, 7, undefined]) {
      expect(codeOf(() => signerKey('a', 'note', bad as never))).toBe('bad_key');
    }
  });

  test('is not in the public key', () => {
    expect(formatVerifierKey(secret)).toBe(
      formatVerifierKey(verifierKey('log.example', 'note', secret.publicKey)),
    );
  });
});

test('only a key text is read, and nothing but a MerkleError is thrown', () => {
  const read = (source: unknown) => codeOf(() => parseVerifierKey(source as string));
  fc.assert(
    fc.property(RUBBISH, (source) => {
      expect(read(source)).toBe('bad_key');
    }),
  );
  fc.assert(
    fc.property(fc.oneof(damaged(EXAMPLE), damaged(SUMDB)), (text) => {
      if (read(text) === undefined) expect([EXAMPLE, SUMDB]).toContain(text);
      else expect(read(text)).toBe('bad_key');
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(
      fc.oneof(RUBBISH, damaged(formatSignerKey(signerKey('a', 'note', seed(1))))),
      (source) => {
        expect(['bad_key', undefined]).toContain(codeOf(() => parseSignerKey(source as string)));
      },
    ),
  );
});
