import type { Json } from '#base';
import { hashText, plainText } from '#canon';
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
import { type Random, systemRandom } from '#oracle';
import type { GatheredObservation } from './intent.ts';
import { randomHex } from './random-hex.ts';

/** Returns a new salt, 32 hex digits. */
export type SaltGenerator = () => string;

const SALT_BYTES = 16;

/** Salts that are the drawn bytes themselves. For randomness that is used nowhere else. */
export function randomSalts(random: Random): SaltGenerator {
  return () => randomHex(random, SALT_BYTES);
}

/**
 * Salts for values at one place of a store, each derived from drawn bytes and that place. A store
 * keeps each blob once under its hash. With equal salts, two equal values would share one blob, and
 * erasing one would erase the other.
 *
 * Two runtimes with the same seed draw the same bytes, but they never write different values at one
 * place. Of two writers on the same head one is accepted, and two calls with one key are one call
 * to their sink as well. The salt is still a function of the seed and of the history, so the same
 * history makes the same ledger. The system's own generator never repeats, so it needs no place.
 */
export function positionedSalts(random: Random, ...place: readonly string[]): SaltGenerator {
  const drawn = randomSalts(random);
  if (random === systemRandom) return drawn;
  return () => hashText(plainText(['assize/salt/v1', drawn(), ...place])).slice(0, 2 * SALT_BYTES);
}

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
    if (!patches.some(standsAlone)) return store(patches as unknown as Json, this.blobs) as Stored<readonly Patch[]>;
    return this.patchesInline(patches);
  }

  /** Same, always in place. */
  patchesInline(patches: readonly PatchOperation[]): readonly Patch[] {
    return patches.map((patch) =>
      patch.op === 'remove'
        ? patch
        : { op: patch.op, path: patch.path, value: this.#inPlace(patch.value, patch.sensitive === true) },
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
