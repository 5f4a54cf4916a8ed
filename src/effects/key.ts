import { hashText, plainText } from '#canon';

/** What an idempotency key is made of (decisions §5.8). */
export interface KeyParts {
  readonly trajectory: string;
  /** The caller's own name of the transaction, which outlives the process; or one that is made up, and lives as long as it. */
  readonly transaction: string;
  /** The call's place in its transaction, or the framework's id of it. */
  readonly call: string | number;
  /** Grows when the call was compensated, and only then: a sink must not answer a new attempt with what it refunded. */
  readonly generation: number;
}

/** The idempotency key of an effect: 64 hex digits, the same for the same call of the same transaction, whoever makes it. */
export function effectKey({ trajectory, transaction, call, generation }: KeyParts): string {
  return hashText(plainText({ call, generation, trajectory, transaction }));
}
