import { StoreError } from './errors.ts';

/** The vector of length one with the same direction. */
export function unit(vector: Float32Array): Float32Array {
  // Divides by the greatest number first, because squares of very large or small numbers overflow
  // or underflow.
  const greatest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  let sum = 0;
  for (const number of vector) sum += (number / greatest) ** 2;
  const length = Math.sqrt(sum);
  return vector.map((number) => number / greatest / length);
}

/**
 * The dot product of two vectors of the same dimensions. For vectors of length one it is the
 * cosine.
 */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!;
  return sum;
}

/** The error for a vector with other dimensions than the embedder's stored vectors. */
export function otherDimensions(embedder: string, known: number, given: number): StoreError {
  return new StoreError(
    'store_invalid_input',
    `The vectors of the embedder ${embedder} have ${known} dimensions here, not ${given}. Use a different embedder id for a different model.`,
    { evidence: { embedder, known, given } },
  );
}
