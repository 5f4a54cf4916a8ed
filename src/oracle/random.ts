import { randomFillSync } from 'node:crypto';
import { hashText } from '#canon';
import { OracleError } from './errors.ts';

/** Where chance comes from. Nothing else in the package draws random numbers, but for new keys. */
export interface Random {
  /** That many fresh bytes, 0 to 65,536. */
  bytes(count: number): Uint8Array;
}

/** Most bytes of one drawing. */
export const MAX_RANDOM_BYTES = 65_536;

/** The machine's cryptographic generator. Small drawings come from a block fetched ahead; no byte is given out twice. */
export const systemRandom: Random = {
  bytes: (count) => {
    if (checkedCount(count) > BLOCK / 8) return randomFillSync(new Uint8Array(count));
    if (drawn + count > block.length) {
      // No `randomBytes`: its slices would be buffers, which take several times as long to make, and a copy of it would leave it behind,
      // with all that is cleared here.
      block = randomFillSync(new Uint8Array(BLOCK));
      drawn = 0;
    }
    const bytes = block.slice(drawn, drawn + count);
    block.fill(0, drawn, drawn + count);
    drawn += count;
    return bytes;
  },
};

const BLOCK = 8_192;
let block = new Uint8Array(0);
let drawn = 0;

/**
 * The same bytes for the same seed, however they are cut into drawings. For tests; and for what has to come out the same again,
 * with a seed of 32 random bytes that is on record. Never for keys.
 */
export function seededRandom(seed: string | number): Random {
  let block = 0;
  let pool = new Uint8Array(0);
  const refill = (): void => {
    pool = new Uint8Array(Buffer.from(hashText(`assize/seeded-random/v1\n${typeof seed}:${seed}\n${block++}`), 'hex'));
  };
  return {
    bytes: (count) => {
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
  };
}

/** @throws OracleError `bad_size` */
export function checkedCount(count: number): number {
  if (Number.isSafeInteger(count) && count >= 0 && count <= MAX_RANDOM_BYTES) return count;
  throw new OracleError('bad_size', `Ask for 0 to ${MAX_RANDOM_BYTES} random bytes.`, { evidence: { size: count } });
}
