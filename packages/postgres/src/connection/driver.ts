import type { Duplex } from 'node:stream';

// The part of the package `pg` that this store uses. Own types keep the types of `pg` out of this
// package's declarations. A program that keeps its ledgers in SQLite then needs neither the types
// nor the package.

/** A row as the server sent it: every column as text. */
export type Row = readonly (string | null)[];

export interface Notification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

export interface DriverClient {
  readonly host: string;
  readonly port: number;
  readonly database?: string | undefined;
  /** Truthy if the connection uses TLS. */
  readonly ssl: unknown;
  connect(): Promise<unknown>;
  query(query: DriverQuery): Promise<{ readonly rows: Row[] }>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (notification: Notification) => void): unknown;
}

export interface DriverQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  readonly rowMode: 'array';
}

export interface DriverConfig {
  readonly connectionString: string;
  readonly application_name: string;
  readonly statement_timeout: number;
  readonly lock_timeout: number;
  readonly connectionTimeoutMillis: number;
  readonly keepAlive: boolean;
  readonly keepAliveInitialDelayMillis: number;
  readonly types: { getTypeParser(): (text: string) => string };
  readonly stream: () => Duplex;
}

export interface Driver {
  readonly Client: new (config: DriverConfig) => DriverClient;
}

export async function loadDriver(): Promise<Driver> {
  return (await import('pg')).default;
}
