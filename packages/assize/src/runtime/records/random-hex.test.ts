import { expect, test } from 'vitest';
import { randomHex } from './salts.ts';

test('drawn bytes of any length are written as hex, without earlier bytes', () => {
  for (const length of [0, 1, 12, 64, 65, 200, 3]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length) & 0xff);
    expect(randomHex({ bytes: () => bytes }, 16)).toBe(Buffer.from(bytes).toString('hex'));
    // A generator in plain JavaScript may return this.
    const buffer = bytes.buffer as unknown as Uint8Array;
    expect(randomHex({ bytes: () => buffer }, 16)).toBe(Buffer.from(bytes).toString('hex'));
  }
});
