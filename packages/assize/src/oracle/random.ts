import { randomFillSync } from 'node:crypto';
import { hashText } from '#canon';
import { OracleError } from './errors.ts';

/** The source of randomness. Only this port draws random numbers, except for new keys. */
export interface Random {
  /** `count` fresh bytes, 0 to 65,536. */
  bytes(count: number): Uint8Array;
}

/** Maximum number of bytes in one drawing. */
export const MAX_RANDOM_BYTES = 65_536;

/**
 * The machine's cryptographic generator. Small drawings come from a prefetched block. No byte is
 * returned twice.
 */
export const systemRandom: Random = Object.freeze({
  bytes: (count: number) => {
    if (checkedCount(count) > BLOCK / 8) return randomFillSync(new Uint8Array(count));
    if (drawn + count > block.length) {
      // Not `randomBytes`: its slices would be buffers, and those are several times slower to
      // create. A copy of a slice would leave the bytes behind that are cleared here.
      block = randomFillSync(new Uint8Array(BLOCK));
      drawn = 0;
    }
    const bytes = block.slice(drawn, drawn + count);
    block.fill(0, drawn, drawn + count);
    drawn += count;
    return bytes;
  },
});

const BLOCK = 8_192;
let block = new Uint8Array(0);
let drawn = 0;

/**
 * The same bytes for the same seed, however they are split into drawings. For tests, and for
 * reproducible results with a recorded seed of 32 random bytes. Never for keys.
 */
export function seededRandom(seed: string | number): Random {
  let block = 0;
  let pool = new Uint8Array(0);
  const refill = (): void => {
    pool = new Uint8Array(
      Buffer.from(hashText(`assize/seeded-random/v1\n${typeof seed}:${seed}\n${block++}`), 'hex'),
    );
  };
  return Object.freeze({
    bytes: (count: number) => {
      const drawn = new Uint8Array(checkedCount(count));
      for (let filled = 0; filled < drawn.length; ) {
        if (pool.length === 0) refill();
        const part = pool.subarray(0, drawn.length - filled);
        drawn.set(part, filled);
        pool = pool.subarray(part.length);
        filled += part.length;
      }
      return drawn;
    },
  });
}

/** @throws OracleError `bad_argument` */
export function checkedCount(count: number): number {
  if (Number.isSafeInteger(count) && count >= 0 && count <= MAX_RANDOM_BYTES) return count;
  throw new OracleError(
    'bad_argument',
    `The number of random bytes is not valid. Ask for 0 to ${MAX_RANDOM_BYTES} bytes.`,
    { evidence: { size: count } },
  );
}
