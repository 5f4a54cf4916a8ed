import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { canonFault } from '../../../../../tests/support/canon-fault.ts';
import { thrownBy } from '../../../../../tests/thrown-by.ts';
import { generateKeys, KeyError } from './ed25519.ts';
import { type Purpose, signText, verifyText } from './sign.ts';

const PURPOSES: readonly Purpose[] = ['entry', 'writ', 'checkpoint', 'approval', 'snapshot'];
const keys = generateKeys(new Uint8Array(32).fill(3));
const text = '{"kind":"root","note":"é\u{1f600}"}';

test.each(PURPOSES)(
  'for %s the signed bytes are the prefix and the text, and nothing else',
  (purpose) => {
    const signature = signText(purpose, text, keys.privateKey);
    const jwk = {
      kty: 'OKP',
      crv: 'Ed25519',
      x: Buffer.from(keys.publicKey, 'hex').toString('base64url'),
    };
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    expect(
      verify(
        null,
        Buffer.from(`assize/${purpose}/v1\n${text}`),
        key,
        Buffer.from(signature, 'hex'),
      ),
    ).toBe(true);
    expect(verifyText(purpose, text, signature, keys.publicKey)).toBe(true);
    expect(signText(purpose, text, keys.privateKey)).toBe(signature);
  },
);

test('a signature for one purpose says nothing for another', () => {
  for (const made of PURPOSES) {
    const signature = signText(made, text, keys.privateKey);
    for (const asked of PURPOSES)
      expect(verifyText(asked, text, signature, keys.publicKey)).toBe(made === asked);
  }
});

test('nor for another text or another key', () => {
  const signature = signText('entry', text, keys.privateKey);
  expect(verifyText('entry', `${text} `, signature, keys.publicKey)).toBe(false);
  expect(
    verifyText('entry', text, signature, generateKeys(new Uint8Array(32).fill(4)).publicKey),
  ).toBe(false);
});

describe('a text with half a surrogate pair (its bytes would be those of U+FFFD)', () => {
  test('is not signed', () => {
    expect(canonFault(thrownBy(() => signText('entry', '\ud800', keys.privateKey)))).toBe(
      'lone_surrogate',
    );
  });

  test('is not taken for the text with U+FFFD', () => {
    const signature = signText('entry', '\ufffd', keys.privateKey);
    expect(verifyText('entry', '\ud800', signature, keys.publicKey)).toBe(false);
  });
});

test('an unknown purpose is a mistake of the caller', () => {
  for (const purpose of ['', 'Entry', 'constructor', '__proto__', 'entry/v1\nx']) {
    expect(() => signText(purpose as Purpose, text, keys.privateKey)).toThrow(KeyError);
    expect(() => verifyText(purpose as Purpose, text, '0'.repeat(128), keys.publicKey)).toThrow(
      KeyError,
    );
  }
});
