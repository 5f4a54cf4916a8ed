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
import type { Sighting } from './intent.ts';
import { randomHex } from './random-hex.ts';

/** Gives a new salt, 32 hex digits. */
export type Salting = () => string;

const SALT_BYTES = 16;

/** Salts that are what is drawn: where nobody else has this chance at any other place. */
export function drawnSalts(random: Random): Salting {
  return () => randomHex(random, SALT_BYTES);
}

/**
 * Salts for what is kept at one place of a store, each made of bytes that are drawn and of that place. A store has a text once under its
 * hash: with equal salts two equal texts were one, and to erase it here would erase it there. Two runtimes that were given the same
 * seed draw the same bytes, but nothing is written at one place by both: of those who follow one head of a trajectory one is accepted, and
 * two calls with one key are one call to their sink as well. It is still a function of the seed and of what was done: the same again makes
 * the same ledger. What the machine's own generator gives never comes again, and needs nothing of the place.
 */
export function saltsAt(random: Random, ...place: readonly string[]): Salting {
  const drawn = drawnSalts(random);
  if (random === systemRandom) return drawn;
  return () => hashText(plainText(['assize/salt/v1', drawn(), ...place])).slice(0, 2 * SALT_BYTES);
}

/** Puts values where an entry can refer to them: in place, or, when they are large or sensitive, in blobs that go with it. */
export class Kept {
  readonly blobs: BlobRow[];
  readonly #salt: Salting;

  constructor(salt: Salting, blobs: readonly BlobRow[] = []) {
    this.#salt = salt;
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
}

/** Sensitive, or data that could be taken for a reference. */
function standsAlone(patch: PatchOperation): boolean {
  return patch.op !== 'remove' && (patch.sensitive === true || isBlobRef(patch.value));
}
