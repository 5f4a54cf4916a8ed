/**
 * How often a program waits for PostgreSQL, counted where it is said: each message that asks for an answer (Sync at the end of an extended
 * query, Query for a simple one) that the driver sends over any connection.
 */
import { Connection } from 'pg';

/** What the driver's connections have and its types do not say. */
interface Asking {
  sync(): void;
  query(text: string): void;
}

let asked = 0;
for (const name of ['sync', 'query'] as const) {
  const connection = Connection.prototype as unknown as Asking;
  const send = connection[name] as (...args: unknown[]) => void;
  connection[name] = function (this: Asking, ...args: unknown[]): void {
    asked += 1;
    send.apply(this, args);
  };
}

/** Round trips while the step runs, of everybody in this process. */
export async function roundTripsOf(step: () => Promise<unknown>): Promise<number> {
  const before = asked;
  await step();
  return asked - before;
}
