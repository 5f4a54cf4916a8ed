import { form, type Json, requireForm } from '#base';
import type { CommitPayload, Payload } from './entry.ts';
import type { Hash } from './hash.ts';
import { isHash } from './is-hash.ts';

/** The built-in action whose commit erases values (decisions §1.3). */
export const ERASE_ACTION = 'assize.erase';

/** A value that is erased: the blob, the entry of this trajectory that refers to it, and where it still stands in the state. */
export interface ErasedValue {
  readonly hash: Hash;
  readonly seq: number;
  readonly path?: string;
}

/** A text of the effect log that no entry names: of which effect it is, by the epoch of its transaction and its place there. */
export interface ErasedLogged {
  readonly hash: Hash;
  readonly epoch: number;
  readonly n: number;
}

/** What is believed and was asked to be erased, without a name of it: those stand in blobs. */
export interface ErasedBeliefs {
  readonly space: string;
  /** Hashes of the names of the partitions that the trajectory had of it. */
  readonly partitions: readonly Hash[];
  /** The only claim that was meant. */
  readonly claim?: string;
}

/** The arguments of an erasure. */
export interface ErasureArgs {
  /** The places that were asked to be erased, with all below them. */
  readonly at: readonly string[];
  /** The entries that were asked for, of which all is erased. */
  readonly entries: readonly Hash[];
  /** What was asked for of what is believed. */
  readonly beliefs?: readonly ErasedBeliefs[];
  /** The transactions of tools that were asked for, by epoch; no rule asks for them. */
  readonly transactions?: readonly number[];
  readonly reason: string;
  readonly values: readonly ErasedValue[];
  /** Keys of the oracle log, whose answers were erased with them; what is none is passed over (`answersErasedBy`). */
  readonly answers?: readonly Hash[];
  /**
   * Texts of the effect log that were erased with them; what is none is passed over (`loggedErasedBy`). Neither was any of them named by an
   * entry before, nor is it named by one after that.
   */
  readonly logged?: readonly ErasedLogged[];
}

export function isErasure(payload: Payload): payload is CommitPayload {
  return payload.kind === 'commit' && payload.action.name === ERASE_ACTION;
}

/** The arguments of an erasure, or undefined for what is none. */
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

/** Keys of the oracle log that an erasure names. No rule of chains asks for them, so they may be anything. @throws ArgumentError `bad_argument` */
export function answersErasedBy(args: ErasureArgs): readonly Hash[] {
  requireForm(form.object, args, 'args');
  const { answers } = args;
  return Array.isArray(answers) ? answers.filter(isHash) : [];
}

/** Texts of the effect log that an erasure names. No rule of chains asks for them, so they may be anything. @throws ArgumentError `bad_argument` */
export function loggedErasedBy(args: ErasureArgs): readonly ErasedLogged[] {
  requireForm(form.object, args, 'args');
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
  return isHash(hash) && Number.isSafeInteger(seq) && (seq as number) >= 0 && typeof path === 'string';
}
