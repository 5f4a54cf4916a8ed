/**
 * Makes vectors of texts, close to each other for similar meanings. Texts leave the process if the
 * embedder calls a service. It never receives erased texts. Its calls are neither in a ledger nor
 * in an oracle log: vectors are a projection, and no ruling depends on them.
 */
export interface Embedder {
  /** The model's name with its version. Vectors of different models are never compared. */
  readonly id: string;
  /** The length of each vector, from 1. */
  readonly dimensions: number;
  /** One vector for each text, in their order. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}
