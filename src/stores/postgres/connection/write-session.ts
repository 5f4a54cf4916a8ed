import type { Session } from './session.ts';

/** Runs work on the connection that writes, between two group commits. */
export interface WriteSession {
  run<T>(work: (session: Session) => Promise<T>): Promise<T>;
}
