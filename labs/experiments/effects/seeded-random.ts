import { hash } from 'node:crypto';

/**
 * A number from 0 to below 1 that these parts alone decide. Every caller gets the same number, in
 * any order.
 */
export function seededFraction(...parts: readonly (string | number)[]): number {
  return hash('sha256', JSON.stringify(parts), 'buffer').readUIntBE(0, 6) / 2 ** 48;
}

/** Numbers from 0 to below 1, the same ones for the same parts: many of them, fast (splitmix32). */
export function numbersFrom(...parts: readonly (string | number)[]): () => number {
  let state = Math.floor(seededFraction(...parts) * 2 ** 32);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
