import type { Random } from '#oracle';

/** Fresh bytes, in lower-case hex. */
export function randomHex(random: Random, count: number): string {
  const bytes = random.bytes(count);
  // By way of one buffer for all: to make one takes as long as the rest of it. What is no list of bytes would leave there what was drawn before.
  if (!(bytes instanceof Uint8Array) || bytes.length > written.length) return Buffer.from(bytes).toString('hex');
  written.set(bytes);
  return written.toString('hex', 0, bytes.length);
}

const written = Buffer.alloc(64);
