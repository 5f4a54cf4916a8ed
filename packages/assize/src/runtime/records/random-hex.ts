import type { Random } from '#oracle';

/** Fresh bytes, in lower-case hex. */
export function randomHex(random: Random, count: number): string {
  const bytes = random.bytes(count);
  // Uses one shared buffer, because allocating one takes as long as the rest. A value that is not a
  // byte array would leave the previous random bytes in the buffer.
  if (!(bytes instanceof Uint8Array) || bytes.length > written.length) return Buffer.from(bytes).toString('hex');
  written.set(bytes);
  return written.toString('hex', 0, bytes.length);
}

const written = Buffer.alloc(64);
