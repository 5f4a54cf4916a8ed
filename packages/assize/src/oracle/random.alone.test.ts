import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { MAX_RANDOM_BYTES, seededRandom, systemRandom } from './random.ts';

/** The buffers that the machine's generator has filled. */
const written: Uint8Array[] = vi.hoisted(() => []);
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const noting = <T extends (...args: any[]) => Uint8Array>(draw: T) =>
    ((...args) => {
      const bytes = draw(...args);
      written.push(bytes);
      return bytes;
    }) as T;
  return {
    ...crypto,
    randomBytes: noting(crypto.randomBytes as any),
    randomFillSync: noting(crypto.randomFillSync as any),
  };
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('seededRandom', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(hex(seededRandom('a').bytes(64))).toBe(hex(seededRandom('a').bytes(64)));
    const heads = ['a', 'b', 1, '1'].map((seed) => hex(seededRandom(seed).bytes(16)));
    expect(new Set(heads).size).toBe(4);
  });

  test('is one stream, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 100 }), { maxLength: 10 }), (sizes) => {
        const random = seededRandom(7);
        const parts = sizes.map((size) => random.bytes(size));
        expect(parts.map((part) => part.length)).toEqual(sizes);
        const total = sizes.reduce((sum, size) => sum + size, 0);
        expect(hex(Buffer.concat(parts))).toBe(hex(seededRandom(7).bytes(total)));
      }),
    );
  });

  test('is pinned, so that recorded tests keep their meaning', () => {
    expect(hex(seededRandom('assize').bytes(8))).toBe('077fe52cfbf4f0be');
  });
});

describe('both', () => {
  test.each([systemRandom, seededRandom('a')])(
    'give as many bytes as asked, from none',
    (random) => {
      for (const count of [0, 1, 33, MAX_RANDOM_BYTES])
        expect(random.bytes(count)).toHaveLength(count);
    },
  );

  test.each([-1, 0.5, Number.NaN, MAX_RANDOM_BYTES + 1, '8'])('refuse %s bytes', (count) => {
    for (const random of [systemRandom, seededRandom('a')]) {
      expect(() => random.bytes(count as number)).toThrowError(
        expect.objectContaining({
          code: 'bad_argument',
          message: expect.stringContaining('The number of random bytes is not valid. Ask for'),
        }),
      );
    }
  });

  test.each([16, 32, 1_000, 1_100, MAX_RANDOM_BYTES])(
    'the system’s keeps nothing of %i bytes that it has given',
    (count) => {
      // Past the end of any block.
      for (let n = 0; n < 20; n++) {
        const given = systemRandom.bytes(count);
        const where = written.filter(
          (bytes) =>
            bytes !== given &&
            Buffer.from(bytes.buffer as ArrayBuffer).includes(Buffer.from(given)),
        );
        expect(where).toEqual([]);
      }
      expect(written.length).toBeGreaterThan(0);
    },
  );

  test('the system’s is not the same twice', () => {
    expect(hex(systemRandom.bytes(16))).not.toBe(hex(systemRandom.bytes(16)));
  });
});
