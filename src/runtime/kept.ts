import { type Json, plainText } from '#canon';
import type { PatchOperation } from '#kernel';
import {
  type BlobRef,
  type BlobRow,
  isBlobRef,
  isErased,
  type Observation,
  type Patch,
  type Stored,
  store,
  storeSalted,
} from '#ledger';
import type { Random } from '#oracle';
import type { Sighting } from './intent.ts';

const SALT_BYTES = 16;

/** Puts values where an entry can refer to them: in place, or, when they are large or sensitive, in blobs that go with it. */
export class Kept {
  readonly blobs: BlobRow[];
  readonly #random: Random;

  constructor(random: Random, blobs: readonly BlobRow[] = []) {
    this.#random = random;
    this.blobs = [...blobs];
  }

  value(value: Json, sensitive: boolean): Stored {
    return sensitive ? storeSalted(value, this.#salt(), this.blobs) : store(value, this.blobs);
  }

  /** A sensitive value that was made here, as `plainText` says. */
  made(value: Json): BlobRef {
    return storeSalted(value, this.#salt(), this.blobs, plainText);
  }

  /** What was observed, as an entry has it. */
  observations(sightings: readonly Sighting[]): readonly Observation[] {
    return sightings.map(({ seen, isSalted }) => {
      if (!isSalted) return seen;
      const { name, oracle_key, hash, value } = seen;
      return oracle_key === undefined
        ? { name, value: this.value(value as Json, true) }
        : { name, oracle_key, value: this.made(hash as Json) };
    });
  }

  /**
   * Operations, each sensitive value by salted hash. A list without any may go into a blob as a whole; in one with some, large
   * values do so one by one, because nothing inside a blob is a reference.
   */
  patches(patches: readonly PatchOperation[]): Stored<readonly Patch[]> {
    if (!patches.some(standsAlone)) return store(patches as unknown as Json, this.blobs) as Stored<readonly Patch[]>;
    return this.listed(patches);
  }

  /** The same, always in place. */
  listed(patches: readonly PatchOperation[]): readonly Patch[] {
    return patches.map((patch) =>
      patch.op === 'remove'
        ? patch
        : { op: patch.op, path: patch.path, value: this.#inPlace(patch.value, patch.sensitive === true) },
    );
  }

  #inPlace(value: Json, sensitive: boolean): Stored {
    // What an erasure has left stands where it left it.
    return !sensitive && isErased(value) ? value : this.value(value, sensitive);
  }

  #salt(): string {
    return Buffer.from(this.#random.bytes(SALT_BYTES)).toString('hex');
  }
}

/** Sensitive, or data that could be taken for a reference. */
function standsAlone(patch: PatchOperation): boolean {
  return patch.op !== 'remove' && (patch.sensitive === true || isBlobRef(patch.value));
}
