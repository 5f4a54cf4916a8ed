import type { Hash } from './hash.ts';

/** A string stored once under the SHA-256 of its UTF-8 bytes. */
export interface BlobRow {
  readonly hash: Hash;
  readonly text: string;
}

/** A blob with a permanently erased text, and the entry that erased it. */
export interface ErasedRow {
  readonly hash: Hash;
  /** The id of the `assize.erase` commit that names the blob. */
  readonly by: Hash;
}

/** An answer of the oracle log with a permanently erased text, and the entry that erased it. */
export interface ErasedAnswer {
  /** The answer's key in the oracle log. */
  readonly key: Hash;
  /** The id of the `assize.erase` commit that names the answer. */
  readonly by: Hash;
}
