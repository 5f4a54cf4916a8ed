import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dataPath, hasData } from '../../../../../tests/data.ts';
import { assertPublicKey, generateKeys, KeyError, signBytes, verifyBytes } from './ed25519.ts';
import { isLowOrder, isReduced, isScalar, isUsablePoint } from './ed25519-rule.ts';

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const P = 2n ** 255n - 19n;

interface Vector {
  readonly number: number;
  readonly key: string;
  readonly sig: string;
  readonly msg: string;
  readonly flags: readonly string[] | null;
}

const present = hasData('vectors', 'ed25519.json');
const vectors: readonly Vector[] = present
  ? (JSON.parse(readFileSync(dataPath('vectors', 'ed25519.json'), 'utf8')) as Vector[])
  : [];

/**
 * With one of these flags the rule refuses. Without them, it accepts. A part of low order alone is
 * not a reason.
 */
const REASONS = [
  'low_order_A',
  'low_order_R',
  'non_canonical_A',
  'non_canonical_R',
  'low_order_residue',
];

describe('the 914 edge cases of C2SP/CCTV', () => {
  if (!present) test.skip(`no data at ${dataPath('vectors', 'ed25519.json')}`, () => undefined);

  test.runIf(present)('have the verdict that the rule says, by their flags', () => {
    const accepted = vectors.filter(({ number, key, sig, msg, flags }) => {
      const verdict = verifyBytes(Buffer.from(msg), sig, key);
      expect(verdict, `vector ${number}`).toBe(
        !(flags ?? []).some((flag) => REASONS.includes(flag)),
      );
      return verdict;
    });
    expect([vectors.length, accepted.length]).toEqual([914, 43]);
  });

  test.runIf(present)('are refused by the rule itself, independent of the library version', () => {
    for (const { number, key, sig, flags } of vectors) {
      const has = (...names: readonly string[]) => names.some((name) => flags?.includes(name));
      const keyUsable = isUsablePoint(Buffer.from(key, 'hex'));
      const pointUsable = isUsablePoint(Buffer.from(sig.slice(0, 64), 'hex'));
      expect(keyUsable, `A of vector ${number}`).toBe(!has('low_order_A', 'non_canonical_A'));
      expect(pointUsable, `R of vector ${number}`).toBe(!has('low_order_R', 'non_canonical_R'));
    }
  });

  test.runIf(present)('have keys that are refused at registration for the same reasons', () => {
    const refused = new Set<string>();
    for (const { number, key, flags } of vectors) {
      const code = codeOf(() => assertPublicKey(key));
      const hostile = (flags ?? []).some(
        (flag) => flag === 'low_order_A' || flag === 'non_canonical_A',
      );
      expect(code !== undefined, `vector ${number}`).toBe(hostile);
      if (hostile) refused.add(key);
    }
    // The 14 encodings of the eight points of low order.
    expect(refused.size).toBe(14);
  });
});

describe('RFC 8032 section 7.1', () => {
  const CASES = [
    {
      seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      message: '',
      signature:
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
        '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    },
    {
      seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      message: '72',
      signature:
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
        '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    },
  ];

  test.each(CASES)('message "$message"', ({ seed, publicKey, message, signature }) => {
    expect(generateKeys(Buffer.from(seed, 'hex'))).toEqual({ publicKey, privateKey: seed });
    expect(signBytes(Buffer.from(message, 'hex'), seed)).toBe(signature);
    expect(verifyBytes(Buffer.from(message, 'hex'), signature, publicKey)).toBe(true);
  });
});

describe('a signature', () => {
  const keys = generateKeys(new Uint8Array(32).fill(1));
  const message = Buffer.from('message');
  const signature = signBytes(message, keys.privateKey);

  test('is refused with any bit of it, of the key or of the message changed', () => {
    expect(verifyBytes(message, signature, keys.publicKey)).toBe(true);
    for (let bit = 0; bit < 512; bit++)
      expect(verifyBytes(message, flip(signature, bit), keys.publicKey)).toBe(false);
    for (let bit = 0; bit < 256; bit++)
      expect(verifyBytes(message, signature, flip(keys.publicKey, bit))).toBe(false);
    expect(verifyBytes(Buffer.from('Message'), signature, keys.publicKey)).toBe(false);
  });

  test('has no second form with S + L', () => {
    const s = littleEndian(signature.slice(64));
    for (const other of [s + L, s + 2n * L, s + 8n * L, 2n ** 256n - 1n]) {
      const bytes = Buffer.from(other.toString(16).padStart(64, '0'), 'hex').reverse();
      expect(isScalar(bytes)).toBe(false);
      expect(
        verifyBytes(message, signature.slice(0, 64) + bytes.toString('hex'), keys.publicKey),
      ).toBe(false);
    }
  });

  test.each<[string, unknown, unknown]>([
    ['in capitals', signature.toUpperCase(), keys.publicKey],
    ['too short', signature.slice(2), keys.publicKey],
    ['too long', `${signature}00`, keys.publicKey],
    ['not hex', 'g'.repeat(128), keys.publicKey],
    ['with a line break', `${signature.slice(1)}\n`, keys.publicKey],
    ['that is not a string', 7, keys.publicKey],
    ['that is not there', undefined, keys.publicKey],
    ['of zeros', '0'.repeat(128), keys.publicKey],
    ['under a key in capitals', signature, keys.publicKey.toUpperCase()],
    ['under a key that is not a string', signature, null],
    ['under the zero key', '0'.repeat(128), '0'.repeat(64)],
  ])('%s is refused, without an error', (_name, value, key) => {
    expect(verifyBytes(message, value, key)).toBe(false);
  });
});

describe('numbers of the rule', () => {
  test('the group order is the first scalar refused', () => {
    expect(isScalar(bytesOf(L - 1n))).toBe(true);
    expect(isScalar(bytesOf(L))).toBe(false);
    expect(isScalar(bytesOf(0n))).toBe(true);
    expect(isScalar(bytesOf(2n ** 252n))).toBe(true);
  });

  test('the order of the field is the first y refused, for either sign', () => {
    for (const sign of [0n, 2n ** 255n]) {
      expect(isReduced(bytesOf(P - 1n + sign))).toBe(true);
      for (let y = P; y < 2n ** 255n; y++) expect(isReduced(bytesOf(y + sign))).toBe(false);
      expect(isReduced(bytesOf(P - 2n ** 100n + sign))).toBe(true);
    }
  });

  test('for either sign 1, -1, 0 and y of order 8 are low order, neighbours not', () => {
    const eights = [
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    ].map(littleEndian);
    expect(eights[0]! + eights[1]!).toBe(P);
    for (const y of [0n, 1n, P - 1n, ...eights]) {
      expect([isLowOrder(bytesOf(y)), isLowOrder(bytesOf(y + 2n ** 255n))]).toEqual([true, true]);
    }
    for (const y of [2n, P - 2n, eights[0]! + 1n, eights[1]! - 1n])
      expect(isLowOrder(bytesOf(y))).toBe(false);
  });
});

describe('keys', () => {
  test('are made from random numbers when no seed is given', () => {
    const first = generateKeys();
    expect(first).not.toEqual(generateKeys());
    expect(() => assertPublicKey(first.publicKey)).not.toThrow();
    expect(
      verifyBytes(Buffer.from('x'), signBytes(Buffer.from('x'), first.privateKey), first.publicKey),
    ).toBe(true);
  });

  test.each<[string, () => unknown, string]>([
    ['a public key that is too short', () => assertPublicKey('00'), 'A public key is 64'],
    ['a public key in capitals', () => assertPublicKey('A'.repeat(64)), 'A public key is 64'],
    ['a public key that is not hex', () => assertPublicKey('z'.repeat(64)), 'A public key is 64'],
    ['a public key that is not a string', () => assertPublicKey({}), 'A public key is 64'],
    ['a public key with y = p', () => assertPublicKey(`ed${'ff'.repeat(30)}7f`), 'is not encoded'],
    [
      'a public key that is the neutral point',
      () => assertPublicKey(`01${'00'.repeat(31)}`),
      'low order',
    ],
    ['the neutral point with a sign', () => assertPublicKey(`01${'00'.repeat(30)}80`), 'low order'],
    [
      'a private key that is too short',
      () => signBytes(Buffer.alloc(0), '00'),
      'A private key is 64',
    ],
    [
      'a private key in capitals',
      () => signBytes(Buffer.alloc(0), 'A'.repeat(64)),
      'A private key is 64',
    ],
    ['a seed that is too short', () => generateKeys(new Uint8Array(31)), 'A seed is'],
    ['a seed that is a text', () => generateKeys('0'.repeat(32) as never), 'A seed is'],
  ])('%s: refused', (_name, call, part) => {
    expect(call).toThrow(
      expect.objectContaining({ code: 'bad_key', message: expect.stringContaining(part) }),
    );
  });

  test('errors do not show private keys', () => {
    try {
      signBytes(Buffer.alloc(0), `${'5ec2e7'.repeat(11)}`);
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain('5ec2e7');
    }
    expect.assertions(1);
  });
});

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof KeyError) return error.code;
    throw error;
  }
}

function flip(hex: string, bit: number): string {
  const bytes = Buffer.from(hex, 'hex');
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes.toString('hex');
}

function bytesOf(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}

function littleEndian(hex: string): bigint {
  return BigInt('0x' + Buffer.from(hex, 'hex').reverse().toString('hex'));
}
