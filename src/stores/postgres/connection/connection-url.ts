import { StoreError } from '../../errors.ts';

/** The schema of a URL that names none. */
export const DEFAULT_SCHEMA = 'assize';

/** The fields of a store's URL. */
export interface StoreUrl {
  /** As given: it can contain a password. */
  readonly url: string;
  readonly schema: string;
}

/**
 * Parses the parts of a URL that the driver does not parse:
 * `postgres://user:password@host:5432/database?schema=assize`.
 *
 * The other parameters belong to the driver (`sslmode`, `application_name`, `host` for the folder
 * of a socket, …). Missing values come from the environment, as for other clients (`PGHOST`,
 * `PGUSER`, …).
 *
 * @throws {StoreError} `store_invalid_input`; the error never repeats the URL.
 */
export function readUrl(url: string): StoreUrl {
  const after = /^postgres(?:ql)?:\/\/[^/?#]*([\s\S]*)$/.exec(url)?.[1];
  if (after === undefined) {
    throw badUrl('write it like postgres://user:password@host:5432/database?schema=assize');
  }
  // A slash or a question mark would end a password. The rest would become a name that errors
  // repeat.
  if (/[@#]/.test(after)) throw badUrl('write / as %2F, ? as %3F, @ as %40 and # as %23 in a password or a name');
  const schema = new URLSearchParams(after.split('?')[1]).get('schema') ?? DEFAULT_SCHEMA;
  checkSchema(schema);
  return { url, schema };
}

export function badUrl(what: string): StoreError {
  return new StoreError('store_invalid_input', `The URL does not name a PostgreSQL store: ${what}.`);
}

// Allows identifiers that read the same quoted and unquoted, and that fit the name of a channel.
function checkSchema(schema: string): void {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema) && !schema.startsWith('pg_') && schema !== 'information_schema') return;
  throw new StoreError(
    'store_invalid_input',
    'The schema name is not valid. Use 1 to 63 lower-case letters, digits and underscores, and start with neither a digit nor pg_.',
    { evidence: { schema } },
  );
}
