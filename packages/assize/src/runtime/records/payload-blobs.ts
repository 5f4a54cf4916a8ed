import type { Json } from '#base';
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
import type { GatheredObservation } from './intent.ts';
import type { SaltGenerator } from './salts.ts';

/**
 * Stores values so that an entry can refer to them: in place, or in blobs of the same batch if they
 * are large or sensitive.
 */
export class PayloadBlobs {
  readonly blobs: BlobRow[];
  readonly #salt: SaltGenerator;

  constructor(salt: SaltGenerator, blobs: readonly BlobRow[] = []) {
    this.#salt = salt;
    this.blobs = [...blobs];
  }

  store(value: Json, sensitive: boolean): Stored {
    return sensitive ? this.storeSalted(value) : store(value, this.blobs);
  }

  /** A sensitive value. */
  storeSalted(value: Json): BlobRef {
    return storeSalted(value, this.#salt(), this.blobs);
  }

  /** The observations, as an entry has them. */
  observations(sightings: readonly GatheredObservation[]): readonly Observation[] {
    return sightings.map(({ unsalted, isSalted }) => {
      if (!isSalted) return unsalted;
      const { name, oracle_key, hash, value } = unsalted;
      return oracle_key === undefined
        ? { name, value: this.store(value as Json, true) }
        : { name, oracle_key, value: this.storeSalted(hash as Json) };
    });
  }

  /**
   * The operations, each sensitive value by salted hash. A list without sensitive values may be one
   * blob. In a list with some, large values become separate blobs, because nothing inside a blob is
   * a reference.
   */
  patches(patches: readonly PatchOperation[]): Stored<readonly Patch[]> {
    if (!patches.some(standsAlone))
      return store(patches as unknown as Json, this.blobs) as Stored<readonly Patch[]>;
    return this.patchesInline(patches);
  }

  /** Same, always in place. */
  patchesInline(patches: readonly PatchOperation[]): readonly Patch[] {
    return patches.map((patch) =>
      patch.op === 'remove'
        ? patch
        : {
            op: patch.op,
            path: patch.path,
            value: this.#inPlace(patch.value, patch.sensitive === true),
          },
    );
  }

  #inPlace(value: Json, sensitive: boolean): Stored {
    // The marker of an erased value stays in place.
    return !sensitive && isErased(value) ? value : this.store(value, sensitive);
  }
}

/** Whether a value must be a separate blob: it is sensitive, or could be taken for a reference. */
function standsAlone(patch: PatchOperation): boolean {
  return patch.op !== 'remove' && (patch.sensitive === true || isBlobRef(patch.value));
}
