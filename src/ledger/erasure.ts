import type { Json } from '#canon';
import type { CommitPayload, Hash, Payload } from './entry.ts';
import { isHash } from './is-hash.ts';

/** The built-in action whose commit erases values (decisions §1.3). */
export const ERASE_ACTION = 'assize.erase';

/** A value that is erased: the blob, the entry of this trajectory that refers to it, and where it still stands in the state. */
export interface ErasedValue {
  readonly hash: Hash;
  readonly seq: number;
  readonly path?: string;
}

/** The arguments of an erasure. */
export interface ErasureArgs {
  /** The places that were asked to be erased, with all below them. */
  readonly at: readonly string[];
  /** The entries that were asked for, of which all is erased. */
  readonly entries: readonly Hash[];
  readonly reason: string;
  readonly values: readonly ErasedValue[];
}

export function isErasure(payload: Payload): payload is CommitPayload {
  return payload.kind === 'commit' && payload.action.name === ERASE_ACTION;
}

/** The arguments of an erasure, or undefined for what is none. */
export function erasureArgs(args: Json): ErasureArgs | undefined {
  const { at, entries, reason, values } = (args ?? {}) as Partial<ErasureArgs>;
  const lists = [at, entries, values].every(Array.isArray);
  const sound = lists && typeof reason === 'string' && (values as unknown[]).every(isErasedValue);
  return sound ? (args as unknown as ErasureArgs) : undefined;
}

function isErasedValue(value: unknown): boolean {
  const { hash, seq, path = '' } = (value ?? {}) as Partial<ErasedValue>;
  return isHash(hash) && Number.isSafeInteger(seq) && (seq as number) >= 0 && typeof path === 'string';
}
