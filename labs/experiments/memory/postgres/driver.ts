import { AnomalyError } from '../errors.ts';

// The used part of the package `pg`, declared here. The types of `pg` therefore appear in no
// declaration of ours.

export interface DriverClient {
  connect(): Promise<unknown>;
  query(query: DriverQuery): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** A row as the server sent it: every column as text. */
export type Row = readonly (string | null)[];

interface DriverQuery {
  readonly text: string;
  readonly values?: unknown[];
  readonly rowMode: 'array';
}

interface DriverConfig {
  readonly connectionString: string;
  readonly application_name: string;
  readonly statement_timeout: number;
  readonly connectionTimeoutMillis: number;
  readonly types: { getTypeParser(): (text: string) => string };
}

export interface Driver {
  readonly Client: new (config: DriverConfig) => DriverClient;
}

/** @throws AnomalyError `not_installed` */
export async function loadDriver(): Promise<Driver> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    const message = 'The package pg is not installed. Run npm install pg.';
    throw new AnomalyError('not_installed', message, { cause });
  }
}
