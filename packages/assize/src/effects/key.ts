import { hashText, plainText } from '#canon';
import type { Hash } from '#ledger';
import { type Claim, readClaim } from './scopes.ts';

/** The parts of an idempotency key (docs/decisions/016-effect-outcomes.md). */
export interface KeyParts {
  /**
   * The id of the trajectory's first entry. Two stores with a trajectory of the same name have
   * separate effects, even at a shared sink.
   */
  readonly root: Hash;
  /**
   * The caller's name of the transaction outlives the process. A generated name lives as long as
   * the process.
   */
  readonly transaction: string;
  /** The call's index in its transaction, or the framework's id of the call. */
  readonly call: string | number;
  /**
   * Grows only when the call was compensated. A sink must not answer a new attempt with the
   * refunded result.
   */
  readonly generation: number;
}

/**
 * The extra claim of a named transaction. Of all transactions with one name, in all processes, one
 * runs at a time. The next one finds the result of the previous one.
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

/** Whether the claim stands for a transaction's name and not for a resource. */
export function isNameClaim({ scope }: Claim): boolean {
  return scope.text.startsWith(NAMES);
}

const NAMES = 'assize:transaction:';

/**
 * The idempotency key of an effect: 64 hex digits. The same call of the same transaction has the
 * same key in every process.
 */
export function effectKey({ root, transaction, call, generation }: KeyParts): Hash {
  return hashText(plainText({ call, generation, root, transaction }));
}
