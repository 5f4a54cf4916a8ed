/**
 * Counts how often a program waits for PostgreSQL, at the sender. It counts each message of the
 * driver that asks for an answer, over any connection: Sync at the end of an extended query, Query
 * for a simple query.
 */
import { Connection } from 'pg';

/** The methods of the driver's connections that its types omit. */
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

/** Round trips of all code in this process while the step runs. */
export async function roundTripsOf(step: () => Promise<unknown>): Promise<number> {
  const before = asked;
  await step();
  return asked - before;
}
