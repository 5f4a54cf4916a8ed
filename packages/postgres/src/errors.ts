import { StoreError } from 'assize/internal/stores/errors.ts';

/** The connection is gone before the server answered. */
export class ConnectionLost extends Error {
  /**
   * False if the end of the statement never left this machine, so the server cannot have executed
   * it.
   */
  readonly wasSent: boolean;

  constructor(cause: unknown, wasSent: boolean) {
    super('the connection to the server was lost before it answered', { cause });
    this.wasSent = wasSent;
  }
}

interface Meaning {
  readonly code: StoreError['code'];
  readonly retryable?: true;
  /** After the name of the store. */
  readonly says: string;
}

const DENIED: Meaning = {
  code: 'store_failed',
  says: 'refuses the login. Check user and password',
};
const GONE: Meaning = {
  code: 'store_unreachable',
  retryable: true,
  says: 'closed the connection. Try again',
};
const OUTRUN: Meaning = {
  code: 'store_locked',
  retryable: true,
  says: 'is blocked by other writers. Try again',
};
const CHANGED: Meaning = {
  code: 'store_failed',
  says: 'no longer has the expected tables and functions. Open it again, with a newer Assize if that version migrated it',
};
const POOLED: Meaning = {
  code: 'store_failed',
  says: 'is behind a pooler that changes connections between statements. Connect to the server, or use session pooling',
};
const CORRUPT: Meaning = {
  code: 'store_corrupt',
  says: 'is damaged. Keep a copy, and restore it from a backup',
};

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const BY_STATE: Readonly<Record<string, Meaning>> = {
  '28000': DENIED,
  '28P01': DENIED,
  '42501': {
    code: 'store_failed',
    says: 'denies this user the operation. Grant the rights on its schema',
  },
  '3D000': {
    code: 'store_not_found',
    says: 'is in a database that does not exist. Create it, or check the URL',
  },
  '25006': {
    code: 'store_readonly',
    says: 'accepts no writes, like a standby. Name the primary, or open it with mode readonly',
  },
  '53300': {
    code: 'store_unreachable',
    retryable: true,
    says: 'has no free connection. Close some, raise max_connections, or try again',
  },
  '53100': {
    code: 'store_failed',
    retryable: true,
    says: 'has a full disk. Free space and try again',
  },
  '53200': {
    code: 'store_failed',
    retryable: true,
    says: 'is out of memory. Free memory and try again',
  },
  '55P03': {
    code: 'store_locked',
    retryable: true,
    says: 'was locked by another process for too long. Try again',
  },
  '57014': {
    code: 'store_failed',
    retryable: true,
    says: 'took longer than statementTimeoutMs, or the statement was cancelled. Try again',
  },
  '57P01': GONE,
  '57P02': GONE,
  '57P03': {
    code: 'store_unreachable',
    retryable: true,
    says: 'is starting or stopping. Try again',
  },
  '57P05': GONE,
  '25P03': GONE,
  '40001': OUTRUN,
  '40P01': OUTRUN,
  '3F000': CHANGED,
  '42P01': CHANGED,
  '26000': POOLED,
  '42P05': POOLED,
  '42703': CHANGED,
  '42883': CHANGED,
  // Of the trigger "refuse_retired".
  AZ001: {
    code: 'store_retired',
    says: 'accepts no writes. Open the store that replaced it, or read this one with mode readonly',
  },
  // Of "raise_fence".
  AZ002: {
    code: 'store_copied',
    says: 'is a copy and calls no tools, because the original may call them too. Retire the original (assize restore retire), then take over here with: assize restore adopt',
  },
  // Of the function "refuse_partial_write".
  AZ003: {
    code: 'store_other_schema',
    says: 'wrote nothing, because a trigger or rule drops rows. Check the store with assize verify --database, and drop it',
  },
  // Of the trigger "require_seal".
  AZ004: {
    code: 'root_key_missing',
    says: 'is sealed, and this process has no root key to seal entries with. Set ASSIZE_ROOT_KEY_FILE to the file of its root key, or pass `rootKeys` to openStore',
  },
  XX001: CORRUPT,
  XX002: CORRUPT,
};

const NO_TLS: Meaning = {
  code: 'store_unreachable',
  says: 'could not be reached over TLS. Pass its certificate with sslrootcert, or check sslmode in the URL',
};
const NO_SERVER: Meaning = {
  code: 'store_unreachable',
  retryable: true,
  says: 'cannot be reached. Check host and port, and that the server runs',
};

/** SQLSTATE, where the error came from the server. */
export function sqlState(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')
    ? code
    : undefined;
}

/**
 * The server rolled this transaction back because of another transaction, or the trigger
 * `keep_apart` rejected a fact.
 */
export function isSerializationFailure(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01' || state === '23P01';
}

/** Whether a row with the same key was there before. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505';
}

/**
 * The store's error for an error of the driver or the server. A StoreError is returned unchanged.
 */
export function storeError(error: unknown, path: string, doing: string): StoreError {
  if (error instanceof StoreError) return error;
  const state = sqlState(error);
  const details = {
    evidence: { path, ...(state !== undefined && { sqlstate: state }) },
    cause: error,
  };
  const meaning = meaningOf(error, state);
  if (meaning === undefined) {
    return new StoreError('store_failed', `${doing} ${path} failed: ${reason(error)}.`, details);
  }
  const { code, says, retryable = false } = meaning;
  return new StoreError(code, `The store ${path} ${says} (${reason(error)}).`, {
    ...details,
    retryable,
  });
}

/** Nothing was sent, or the sent statement had no effect. */
export function unreachableError(path: string, cause: unknown): StoreError {
  return new StoreError('store_unreachable', `The connection to ${path} was lost. Try again.`, {
    evidence: { path },
    retryable: true,
    cause,
  });
}

/** The outcome of a commit is unknown. */
export function unknownCommitError(path: string, cause: unknown): StoreError {
  return new StoreError(
    'store_unreachable',
    `The connection to ${path} was lost before it answered. Check with resolve(id) whether the commit succeeded.`,
    { evidence: { path }, retryable: true, cause },
  );
}

/** The error of a scrub that could not finish. */
export function notScrubbedError(path: string, cause: unknown): StoreError {
  const state = sqlState(cause);
  const todo = TO_SCRUB[state ?? ''] ?? 'Let';
  return new StoreError(
    'store_not_scrubbed',
    `The erasure is committed, but erased bytes may remain in the files of ${path}: its tables could not be rewritten (${reason(cause)}). ${todo} the owner of the tables open the store for writing, and check with \`assize verify --database\`.`,
    { evidence: { path, ...(state !== undefined && { sqlstate: state }) }, retryable: true, cause },
  );
}

const TO_SCRUB: Readonly<Record<string, string>> = {
  '55P03': 'Other processes use the tables: wait, and let',
  '53100': 'The rewrite needs as much free space as the tables: free the space, and let',
};

export function readonlyError(path: string, why: string): StoreError {
  return new StoreError('store_readonly', `${path} cannot be written: ${why}.`, {
    evidence: { path },
  });
}

function meaningOf(error: unknown, state: string | undefined): Meaning | undefined {
  if (error instanceof ConnectionLost) return GONE;
  const message = error instanceof Error ? error.message : '';
  // An object of the function was dropped while the function waited.
  if (state === 'XX000' && message.startsWith('cache lookup failed')) return CHANGED;
  if (state !== undefined) return BY_STATE[state] ?? (state.startsWith('08') ? GONE : undefined);
  const code = codeOf(error) ?? '';
  if (/CERT|ERR_TLS|ERR_SSL|^UNABLE_TO_|^EPROTO$/.test(code) || /\bSSL connection/.test(message))
    return NO_TLS;
  // The driver's own messages for a missing password, or for a wrong proof of the server.
  if (message.startsWith('SASL') || message.startsWith('Password must be')) return DENIED;
  if (
    /^E[A-Z]+$/.test(code) ||
    /timeout expired|Connection terminated|connection error/.test(message)
  )
    return NO_SERVER;
  return undefined;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

// A host may have several addresses, each with its own error. The first error stands for all,
// because the sum has no text of its own.
function reason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return reason(error.errors[0]);
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
