/**
 * Makes vectors of texts: near to each other where the texts mean the like. What it is given leaves the process where it asks a
 * service; it is never given what was erased. Its calls are in no ledger and on no oracle log: vectors are a projection, and no ruling
 * rests on them.
 */
export interface Embedder {
  /** Names the model with its version: vectors of different ones are never compared. */
  readonly id: string;
  /** Of each vector, from 1. */
  readonly dimensions: number;
  /** One vector for each text, in their order. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}
