import type { Hash } from './hash.ts';

/** A text stored once under the SHA-256 of its UTF-8 bytes. */
export interface BlobRow {
  readonly hash: Hash;
  readonly text: string;
}

/** A blob whose text is gone for good, and the entry that says so. */
export interface ErasedRow {
  readonly hash: Hash;
  /** The commit of `assize.erase` that names it. */
  readonly by: Hash;
}

/** An answer of the oracle log whose text is gone for good, and the entry that says so. */
export interface ErasedAnswer {
  /** In the oracle log. */
  readonly key: Hash;
  /** The commit of `assize.erase` that names it. */
  readonly by: Hash;
}
