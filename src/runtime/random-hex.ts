import type { Random } from '#oracle';

/** Fresh bytes, in lower-case hex. */
export function randomHex(random: Random, count: number): string {
  const bytes = random.bytes(count);
  if (bytes.length > written.length) return Buffer.from(bytes).toString('hex');
  // By way of one buffer for all: to make one takes as long as the rest of it.
  written.set(bytes);
  return written.toString('hex', 0, bytes.length);
}

const written = Buffer.alloc(64);
