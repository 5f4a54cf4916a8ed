import { contentHash } from 'assize/internal/canon';
import type { Embedder } from 'assize/memory';

const DIMENSIONS = 32;

/**
 * A stand-in for a model. It counts words by their salted hashes, so texts that share words have
 * near vectors.
 */
export function wordEmbedder({
  salt,
  isNormalised = false,
}: {
  readonly salt: string;
  /** Whether all vectors have the length 1. */
  readonly isNormalised?: boolean;
}): Embedder {
  const vectorOf = (text: string): Float32Array => {
    const vector = new Float32Array(DIMENSIONS);
    for (const word of text.toLowerCase().split(/\W+/)) {
      const place = Number.parseInt(contentHash([salt, word]).slice(0, 8), 16) % DIMENSIONS;
      vector[place]! += 1;
    }
    const length = isNormalised ? Math.hypot(...vector) : 1;
    return vector.map((one) => one / length);
  };
  const id = isNormalised ? `${salt}, of length 1` : salt;
  return { id, dimensions: DIMENSIONS, embed: async (texts) => texts.map(vectorOf) };
}
