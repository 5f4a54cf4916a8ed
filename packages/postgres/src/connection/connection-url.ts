import { nearestName } from 'assize/internal/base';
import { StoreError } from 'assize/internal/stores/errors.ts';

/** The schema of a URL that names none. */
export const DEFAULT_SCHEMA = 'assize';

/** A misspelt one of these would choose other data or servers, or a connection without TLS. */
const CHECKED = ['schema', 'target_session_attrs', 'sslmode', 'sslrootcert'];

/** Other names of libpq and of the driver that are similar to checked ones. */
const SIMILAR = ['gssencmode', 'sslcert', 'sslcertmode'];

/** The servers that connections accept, as in libpq (`target_session_attrs`). */
export const TARGETS = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const;
export type Target = (typeof TARGETS)[number];

/** The fields of a store's URL. */
export interface StoreUrl {
  /** As given: it can contain a password. */
  readonly url: string;
  /** The URL of each server, in the order of the hosts. Each can contain a password. */
  readonly servers: readonly string[];
  readonly schema: string;
  /** Undefined if the URL has no `target_session_attrs`. */
  readonly target: Target | undefined;
}

/**
 * Parses the parts of a URL that the driver does not parse:
 * `postgres://user:password@host:5432,host2:5432/database?schema=assize`.
 *
 * `target_session_attrs` says which of several hosts is used. The other parameters belong to the
 * driver (`sslmode`, `application_name`, `host` for the folder of a socket, …). Missing values come
 * from the environment, as for other clients (`PGHOST`, `PGUSER`, …).
 *
 * @throws {StoreError} `store_invalid_input`; the error never repeats the URL.
 */
export function readUrl(url: string): StoreUrl {
  const [, scheme, authority, after] = /^(postgres(?:ql)?:\/\/)([^/?#]*)([\s\S]*)$/.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || after === undefined) {
    throw badUrl('write it like postgres://user:password@host:5432/database?schema=assize');
  }
  // A slash or a question mark would end a password. The rest would become a name that errors
  // repeat.
  if (/[@#]/.test(after))
    throw badUrl('write / as %2F, ? as %3F, @ as %40 and # as %23 in a password or a name');
  const parameters = new URLSearchParams(after.split('?')[1]);
  for (const name of parameters.keys()) checkSpelling(name);
  const schema = parameters.get('schema') ?? DEFAULT_SCHEMA;
  checkSchema(schema);
  const hosts = hostsIn(authority, parameters);
  const user = authority.slice(0, authority.lastIndexOf('@') + 1);
  const servers = hosts.map((host) => `${scheme}${user}${host}${after}`);
  return { url, servers, schema, target: targetIn(parameters) };
}

/** Names of other programs, such as `pgbouncer`, pass. The driver ignores them. */
function checkSpelling(name: string): void {
  if (CHECKED.includes(name) || SIMILAR.includes(name)) return;
  const meant = nearestName(name, CHECKED);
  if (meant !== undefined) throw badUrl(`a parameter is misspelt: write ${meant}`);
}

function hostsIn(authority: string, parameters: URLSearchParams): readonly string[] {
  const hosts = authority.slice(authority.lastIndexOf('@') + 1).split(',');
  if (hosts.length === 1) return hosts;
  if (hosts.includes('')) throw badUrl('a host between the commas is empty');
  if (parameters.has('host'))
    throw badUrl('name several hosts before the database, and not also in `host`');
  return hosts;
}

function targetIn(parameters: URLSearchParams): Target | undefined {
  const given = parameters.get('target_session_attrs');
  const target = TARGETS.find((one) => one === given);
  if (given === null || target !== undefined) return target;
  throw badUrl(`target_session_attrs must be one of ${TARGETS.join(', ')}`);
}

export function badUrl(what: string): StoreError {
  return new StoreError(
    'store_invalid_input',
    `The URL does not name a PostgreSQL store: ${what}.`,
  );
}

// Allows identifiers that read the same quoted and unquoted, and that fit the name of a channel.
function checkSchema(schema: string): void {
  if (
    /^[a-z_][a-z0-9_]{0,62}$/.test(schema) &&
    !schema.startsWith('pg_') &&
    schema !== 'information_schema'
  )
    return;
  throw new StoreError(
    'store_invalid_input',
    'The schema name is not valid. Use 1 to 63 lower-case letters, digits and underscores, and start with neither a digit nor pg_.',
    { evidence: { schema } },
  );
}
