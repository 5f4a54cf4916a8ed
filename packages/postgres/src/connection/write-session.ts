import type { Session } from './session.ts';

/** Runs a step on the writing connection, between two group commits. */
export interface WriteSession {
  run<T>(work: (session: Session) => Promise<T>): Promise<T>;
}
