import type { Gate } from '#calls';

/** A payment, as the sink of a test records it. */
export interface Payment {
  readonly to: string;
  readonly euros: number;
}

/** A run of an agent that pauses, because its payment waits for a person. */
export interface HeldRun {
  /** The page of the call in the console, as the pause tells it. */
  readonly page: string;
  /** Goes on after a decision. The answer approves nothing. Returns the last words of the agent. */
  resume(): Promise<string>;
}

/** The server of the gate, for a program of another language. */
export interface Place {
  readonly url: string;
  /** The token of the agent. */
  readonly token: string;
}

/** Starts an agent of a framework whose model asks for a payment of 900 euros to eve. */
export type StartHeld = (
  gate: Gate,
  pay: (payment: Payment) => Promise<string>,
  place: Place,
) => Promise<HeldRun>;

/** The payment that each agent asks for, and its last words. */
export const ASKED: Payment = { to: 'eve', euros: 900 };
export const LAST_WORDS = 'The bill is paid.';
