import { StoreError } from './errors.ts';

/** The vector of the same direction and the length one. */
export function unit(vector: Float32Array): Float32Array {
  // By the greatest first: squares of very large or very small numbers are none that can be kept.
  const greatest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  let sum = 0;
  for (const number of vector) sum += (number / greatest) ** 2;
  const length = Math.sqrt(sum);
  return vector.map((number) => number / greatest / length);
}

/** Of two of the same dimensions; of those of length one it is the cosine. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!;
  return sum;
}

/** What a vector throws that can't be compared with those that the embedder has. */
export function otherDimensions(embedder: string, known: number, given: number): StoreError {
  return new StoreError(
    'store_invalid_input',
    `The vectors of the embedder ${embedder} have ${known} dimensions here, and not ${given}; give a model that is another one another id.`,
    { evidence: { embedder, known, given } },
  );
}
