import type { Json } from '#base';
import type { CommitPayload, Payload } from './entry.ts';
import type { Hash } from './hash.ts';
import { isHash } from './is-hash.ts';

/**
 * The built-in action that erases values with its commit
 * (docs/decisions/003-what-writes-an-entry.md).
 */
export const ERASE_ACTION = 'assize.erase';

/**
 * An erased value: the blob, the entry of this trajectory that refers to the blob, and the value's
 * paths in the state.
 */
export interface ErasedValue {
  readonly hash: Hash;
  readonly seq: number;
  readonly path?: string;
}

/** A text of the effect log that no entry names: the effect's transaction epoch and index. */
export interface ErasedLogged {
  readonly hash: Hash;
  readonly epoch: number;
  readonly n: number;
}

/** The facts that an erasure requested. Their names are in blobs and do not appear here. */
export interface ErasedBeliefs {
  readonly space: string;
  /** Hashes of the names of the trajectory's matching partitions. */
  readonly partitions: readonly Hash[];
  /** Restricts the request to one claim. */
  readonly claim?: string;
}

/** The arguments of an erasure. */
export interface ErasureArgs {
  /** The requested paths. The erasure includes all paths below them. */
  readonly at: readonly string[];
  /** The requested entries. They are erased completely. */
  readonly entries: readonly Hash[];
  /** The requested facts. */
  readonly beliefs?: readonly ErasedBeliefs[];
  /** The requested tool transactions, by epoch. No chain rule checks them. */
  readonly transactions?: readonly number[];
  readonly reason: string;
  readonly values: readonly ErasedValue[];
  /**
   * Keys of the oracle log with answers that were erased too. `answersErasedBy` ignores values that
   * are not keys.
   */
  readonly answers?: readonly Hash[];
  /**
   * Texts of the effect log that were erased too. `loggedErasedBy` ignores values of another form.
   * No earlier or later entry names one of these texts.
   */
  readonly logged?: readonly ErasedLogged[];
}

export function isErasure(payload: Payload): payload is CommitPayload {
  return payload.kind === 'commit' && payload.action.name === ERASE_ACTION;
}

/** The arguments of an erasure, or undefined if the value has another form. */
export function erasureArgs(args: Json): ErasureArgs | undefined {
  const { at, entries, beliefs = [], reason, values } = (args ?? {}) as Partial<ErasureArgs>;
  const lists = [at, entries, beliefs, values].every(Array.isArray);
  const sound =
    lists &&
    typeof reason === 'string' &&
    (values as unknown[]).every(isErasedValue) &&
    (beliefs as unknown[]).every(isErasedBeliefs);
  return sound ? (args as unknown as ErasureArgs) : undefined;
}

/**
 * Keys of the oracle log that an erasure names. Chain rules do not check them, so the stored values
 * may have any form.
 */
export function answersErasedBy(args: ErasureArgs): readonly Hash[] {
  const { answers } = args;
  return Array.isArray(answers) ? answers.filter(isHash) : [];
}

/**
 * Texts of the effect log that an erasure names. Chain rules do not check them, so the stored
 * values may have any form.
 */
export function loggedErasedBy(args: ErasureArgs): readonly ErasedLogged[] {
  const { logged } = args;
  return Array.isArray(logged) ? logged.filter(isErasedLogged) : [];
}

function isErasedLogged(value: unknown): value is ErasedLogged {
  const { hash, epoch, n } = (value ?? {}) as Partial<ErasedLogged>;
  return isHash(hash) && Number.isSafeInteger(epoch) && Number.isSafeInteger(n);
}

function isErasedBeliefs(value: unknown): boolean {
  const { space, partitions, claim = '' } = (value ?? {}) as Partial<ErasedBeliefs>;
  const texts = [space, claim].every((text) => typeof text === 'string');
  return texts && Array.isArray(partitions) && partitions.every(isHash);
}

function isErasedValue(value: unknown): boolean {
  const { hash, seq, path = '' } = (value ?? {}) as Partial<ErasedValue>;
  return (
    isHash(hash) && Number.isSafeInteger(seq) && (seq as number) >= 0 && typeof path === 'string'
  );
}
