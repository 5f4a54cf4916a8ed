import type { Caller } from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import type { Authenticator, Credential } from './authenticator.ts';

/** Milliseconds for which an answer counts. All streams of one credential share it. */
const FRESH_MS = 1_000;

interface Answer {
  readonly at: number;
  readonly caller: Promise<Caller>;
}

/**
 * Answers whether the callers of open streams and of waiting requests are still known. A revoked
 * token, an ended session and an expired token of another issuer end what runs on for them.
 */
export class Standings {
  readonly #authenticator: Pick<Authenticator, 'callerBy'>;
  readonly #nowMs: () => number;
  /** By credential, the oldest answer first. */
  readonly #answers: Map<string, Answer> = new Map();

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(authenticator: Pick<Authenticator, 'callerBy'>, nowMs: () => number) {
    this.#authenticator = authenticator;
    this.#nowMs = nowMs;
  }

  /**
   * The principal that a credential names, by an answer of the last second at most.
   *
   * @throws the errors of `Authenticator.callerBy`
   */
  callerNow(credential: Credential): Promise<Caller> {
    const now = this.#nowMs();
    const key = `${credential.kind} ${credential.text}`;
    const known = this.#answers.get(key);
    if (known !== undefined && now - known.at < FRESH_MS) return known.caller;
    this.#forget(now);
    const caller = this.#authenticator.callerBy(credential);
    this.#answers.delete(key);
    this.#answers.set(key, { at: now, caller });
    return caller;
  }

  #forget(now: number): void {
    for (const [key, { at }] of this.#answers) {
      if (now - at < FRESH_MS) return;
      this.#answers.delete(key);
    }
  }
}

/** Whether an error says that a caller has lost its authority. */
export function isLost(error: unknown): boolean {
  return ['unauthenticated', 'forbidden', 'agent_stopped', 'principal_revoked'].some((code) =>
    isAssizeError(error, code),
  );
}
