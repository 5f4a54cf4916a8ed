import { hashText, plainText } from '#canon';
import type { Hash } from '#ledger';
import { type Claim, readClaim } from './scopes.ts';

/** What an idempotency key is made of (decisions §5.8). */
export interface KeyParts {
  /** The id of its first entry: of two stores that have a trajectory of one name, each has its own effects, also at a sink of both. */
  readonly root: Hash;
  /** The caller's own name of the transaction, which outlives the process; or one that is made up, and lives as long as it. */
  readonly transaction: string;
  /** The call's place in its transaction, or the framework's id of it. */
  readonly call: string | number;
  /** Grows when the call was compensated, and only then: a sink must not answer a new attempt with what it refunded. */
  readonly generation: number;
}

/**
 * What a transaction that has a name claims beside its resources: of those of one name, one goes on at a time, in whatever process,
 * and who comes after it finds what became of it.
 */
export function nameClaim({
  trajectory,
  transaction,
}: {
  readonly trajectory: string;
  readonly transaction: string;
}): Claim {
  return readClaim('write', `${NAMES}${hashText(plainText({ trajectory, transaction }))}`);
}

/** Whether it is no resource, but the name of a transaction. */
export function isNameClaim({ scope }: Claim): boolean {
  return scope.text.startsWith(NAMES);
}

const NAMES = 'assize:transaction:';

/** The idempotency key of an effect: 64 hex digits, the same for the same call of the same transaction, whoever makes it. */
export function effectKey({ root, transaction, call, generation }: KeyParts): Hash {
  return hashText(plainText({ call, generation, root, transaction }));
}
