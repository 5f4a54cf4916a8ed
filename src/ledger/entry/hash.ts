import type { Json } from '#base';

/** 64 lower-case hex digits of a SHA-256. */
export type Hash = string;

/** A value stored once under the SHA-256 of its canonical text, and named here (see `blob.ts`). */
export type BlobRef = {
  readonly $blob: Hash;
  readonly bytes: number;
  /** The text holds a salt beside the value, so that the hash tells nothing of it, and the value may be erased. */
  readonly salted?: true;
};

/** What a state has where a value was erased: the hash of the text that it stood in. */
export type Erased = { readonly $erased: Hash };

/** A value in place, or a reference to a blob. Only the positions typed so may hold a reference. */
export type Stored<T extends Json = Json> = T | BlobRef;
