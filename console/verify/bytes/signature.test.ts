import { expect, test } from 'vitest';
import { holds } from './signature.ts';
import { fromHex, hexOf, utf8 } from './text.ts';

/** RFC 8032, section 7.1, test 2. */
const KEY = '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c';
const SIGNATURE =
  '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00';
const MESSAGE = fromHex('72');

test('a signature of the standard holds, and no change of it', () => {
  expect(holds(fromHex(KEY), fromHex(SIGNATURE), MESSAGE)).toBe(true);
  expect(holds(fromHex(KEY), fromHex(SIGNATURE), utf8('s'))).toBe(false);
  for (const at of [0, 31, 32, 63]) {
    const changed = fromHex(SIGNATURE);
    changed[at] = (changed[at] as number) ^ 1;
    expect(holds(fromHex(KEY), changed, MESSAGE)).toBe(false);
  }
});

test('S is below the order of the group', () => {
  const l = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${hexOf(fromHex(SIGNATURE).slice(32).reverse())}`) + l;
  const above = fromHex(s.toString(16).padStart(64, '0')).reverse();
  expect(
    holds(fromHex(KEY), Uint8Array.from([...fromHex(SIGNATURE).slice(0, 32), ...above]), MESSAGE),
  ).toBe(false);
});

test('keys and points of low order are refused', () => {
  const identity = `01${'00'.repeat(31)}`;
  // With the neutral element as key and R, and S = 0, the equation holds for every message.
  const forged = fromHex(`${identity}${'00'.repeat(32)}`);
  expect(holds(fromHex(identity), forged, MESSAGE)).toBe(false);
  expect(holds(fromHex(KEY), forged, MESSAGE)).toBe(false);
});

test('a key that is not a point, or not 32 bytes, signs nothing', () => {
  expect(holds(fromHex(`02${'00'.repeat(31)}`), fromHex(SIGNATURE), MESSAGE)).toBe(false);
  expect(holds(fromHex(KEY).slice(1), fromHex(SIGNATURE), MESSAGE)).toBe(false);
});
