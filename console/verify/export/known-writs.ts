import { hashOfValue } from '../bytes/hash.ts';
import { isObject } from '../entries/basic-forms.ts';
import type { Payload } from '../entries/payloads.ts';

/** The writs of an export, as they come: as blobs, and in the first entry of a trajectory. */
export class KnownWrits {
  readonly #blobs = new Map<string, unknown>();
  readonly #begun = new Map<string, ReadonlyMap<string, unknown>>();

  /** Keeps a blob that looks like a writ. */
  addBlob(hash: string, value: unknown): void {
    if (isObject(value) && 'issuer' in value && 'nonce' in value) this.#blobs.set(hash, value);
  }

  /** Keeps the writs that a trajectory begins with. */
  addFirst(payload: Payload): void {
    if (payload.kind !== 'root' && payload.kind !== 'branch') return;
    this.#begun.set(
      payload.trajectory_id,
      new Map(payload.writs.map((writ) => [hashOfValue(writ), writ])),
    );
  }

  of(id: string, trajectory: string): unknown {
    return this.#blobs.get(id) ?? this.#begun.get(trajectory)?.get(id);
  }
}
