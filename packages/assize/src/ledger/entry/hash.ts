import type { Json } from '#base';

/** 64 lower-case hex digits of a SHA-256. */
export type Hash = string;

/** A reference to a value stored once under the SHA-256 of its canonical text (see `blob.ts`). */
export type BlobRef = {
  readonly $blob: Hash;
  readonly bytes: number;
  /**
   * The text holds a salt next to the value. The hash then reveals nothing about the value, and the
   * value can be erased.
   */
  readonly salted?: true;
};

/** The marker in a state for an erased value: the hash of the text that held the value. */
export type Erased = { readonly $erased: Hash };

/** A value in place, or a reference to a blob. Only positions of this type may hold a reference. */
export type Stored<T extends Json = Json> = T | BlobRef;
