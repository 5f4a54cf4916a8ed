import { AnomalyError } from '../errors.ts';
import { type Driver, type DriverClient, loadDriver, type Row } from './driver.ts';

/**
 * A statement waits only for other statements of the same run. A statement that waits this long
 * never succeeds.
 */
const STATEMENT_MS = 30_000;
const CONNECT_MS = 10_000;

/**
 * One connection to the server. The loss of the connection is an AnomalyError `unreachable`. A
 * refusal by the server is the server's own error.
 */
export interface Session {
  /** The rows of one statement, every column as text. */
  rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** How many rows a statement has changed. */
  change(text: string, values?: readonly unknown[]): Promise<number>;
  end(): Promise<void>;
}

/**
 * @throws AnomalyError `not_installed`, `bad_url`, `unreachable`; no message repeats the URL: it
 * may contain a password
 */
export async function openSession(url: string): Promise<Session> {
  const driver = await loadDriver();
  const client = clientOf(driver, url);
  // An error that breaks a connection also fails the statement in flight, and that statement
  // reports it.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw unreachable(error);
  }
  const ask = async (text: string, values: readonly unknown[] = []) => {
    try {
      return await client.query({ text, values: [...values], rowMode: 'array' });
    } catch (error) {
      throw isLost(error) ? unreachable(error) : error;
    }
  };
  return {
    rows: async (text, values) => (await ask(text, values)).rows,
    change: async (text, values) => (await ask(text, values)).rowCount ?? 0,
    end: () => client.end(),
  };
}

/**
 * Whether the error concerns the connection: it has no SQLSTATE, or one of the classes 08
 * (connection) and 57 (operator).
 */
function isLost(error: unknown): boolean {
  return !/^(?!08|57)[0-9A-Z]{5}$/.test(String((error as { readonly code?: unknown }).code));
}

/** The reason why the server cannot be used, as reported by the server or the connection. */
export function unreachable(error: unknown): AnomalyError {
  if (error instanceof AnomalyError) return error;
  const [told] = error instanceof AggregateError ? error.errors : [error];
  const why = told instanceof Error ? told.message.replace(/\.$/, '') : String(told);
  return new AnomalyError('unreachable', `The PostgreSQL server cannot be used: ${why}.`, {
    cause: told,
  });
}

function clientOf(driver: Driver, url: string): DriverClient {
  if (!/^postgres(?:ql)?:\/\//.test(url)) throw badUrl();
  try {
    return new driver.Client({
      connectionString: url,
      application_name: 'assize-experiments memory',
      statement_timeout: STATEMENT_MS,
      connectionTimeoutMillis: CONNECT_MS,
      types: { getTypeParser: () => (text) => text },
    });
  } catch {
    // The driver's own error would repeat the URL.
    throw badUrl();
  }
}

function badUrl(): AnomalyError {
  const message =
    '--postgres does not name a PostgreSQL server. Write postgres://user:password@host:5432/database.';
  return new AnomalyError('bad_url', message);
}
