import type { Findings } from '../bundle/findings.ts';
import { isObject } from '../entries/basic-forms.ts';
import type { Entry, Stored } from '../entries/payloads.ts';
import { isErasureOf } from '../rules/built-in-forms.ts';

/** The values that an export says were erased, until the entry comes that erased them. */
export class Erasures {
  readonly #findings: Findings;
  readonly #valuesBy = new Map<string, string[]>();
  /** Arguments of erasures that stand as blobs, for a later entry with the same ones. */
  readonly #args = new Map<string, unknown>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** A line says that an entry erased the value of a hash. */
  expect(hash: string, by: string): void {
    this.#valuesBy.set(by, [...(this.#valuesBy.get(by) ?? []), hash]);
  }

  /** `blobs`: the blobs that stand before the entry. */
  take({ id, payload }: Entry, blobs: ReadonlyMap<string, unknown>): void {
    const isErasing = payload.kind === 'commit' && payload.action.name === 'assize.erase';
    const args = isErasing ? this.#argsOf(payload.action.args, blobs) : undefined;
    for (const hash of this.#valuesBy.get(id) ?? []) {
      const names = isErasing && isErasureOf(args, hash);
      this.#findings.checked(
        'values',
        'bad_entry',
        names ? '' : `It did not erase the value ${hash}.`,
        id,
      );
    }
    this.#valuesBy.delete(id);
  }

  end(): void {
    for (const [by, hashes] of this.#valuesBy)
      this.#findings.fault(
        'context_missing',
        `The entry that erased the value ${hashes[0]} is missing.`,
        by,
      );
  }

  /** A salted reference is not an argument of an erasure. */
  #argsOf(stored: Stored, blobs: ReadonlyMap<string, unknown>): unknown {
    if (!isObject(stored) || !('$blob' in stored)) return stored;
    const hash = stored['$blob'] as string;
    if ('salted' in stored) return undefined;
    if (blobs.has(hash)) this.#args.set(hash, blobs.get(hash));
    return this.#args.get(hash);
  }
}
