import { type AssizeError, errorMessage, isAssizeError, isInstance } from 'assize/internal/base';
import type { Misfit } from 'assize/internal/canon';
import { type CommitPayload, LedgerFault } from 'assize/internal/ledger';
import { StoreError } from 'assize/internal/stores';
import { type ErrorStatus, statusOf } from './status.ts';

type Vector = NonNullable<CommitPayload['detection_vector']>;

/** The document of an error, RFC 9457. */
export interface Problem {
  /** The page of all codes, at this code. */
  readonly type: string;
  readonly title: string;
  readonly status: ErrorStatus;
  /** The stable code. Programs branch on it. */
  readonly code: string;
  /** One sentence: the failure and the remedy. */
  readonly detail: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Each misfit of the request, with its JSON pointer. */
  readonly findings?: readonly Misfit[];
  /** Of an approval that breaks rules: the result of each rule, as the ledger would record it. */
  readonly detection_vector?: Vector;
  /** Names the request in the server's log. */
  readonly request_id?: string;
}

/** Evidence that clients may see: ids and names, and never a text of the store or of a cause. */
const SHOWN = [
  'argument',
  'pointer',
  'id',
  'trajectory_id',
  'principal',
  'channel',
  'until',
  'by',
] as const;

/**
 * The problem of an error. An error of unknown origin, or of the server's own state, shows neither
 * its message nor its stack.
 */
export function problemOf(error: unknown, requestId?: string): Problem {
  const id = requestId === undefined ? {} : { request_id: requestId };
  if (!isAssizeError(error)) return { ...INTERNAL, ...id };
  const status = statusOf(error.code);
  const isDamage = error.code === 'invalid_ledger' || isInstance(error, LedgerFault);
  if (status === 500) return { ...(isDamage ? DAMAGED : INTERNAL), ...id };
  // The message of a store can name a file, a server or a statement.
  if (isInstance(error, StoreError) && status === 503) return { ...storeProblem(error), ...id };
  const { code, message, retryable, evidence } = error as AssizeError;
  const { findings, vector } = evidence;
  const shown = Object.fromEntries(
    SHOWN.flatMap((name) => (typeof evidence[name] === 'string' ? [[name, evidence[name]]] : [])),
  );
  return {
    type: `${PAGE}#${code}`,
    title: TITLES[status],
    status,
    code,
    detail: message,
    retryable,
    ...(Array.isArray(findings) && { findings: findings as Misfit[] }),
    ...(Array.isArray(vector) && { detection_vector: vector as Vector }),
    ...(Object.keys(shown).length > 0 && { evidence: shown }),
    ...id,
  };
}

const PAGE = 'https://github.com/assize/assize/blob/main/docs/errors.md';

const TITLES: Readonly<Record<ErrorStatus, string>> = {
  400: 'The request is not valid',
  401: 'The principal is unknown',
  403: 'The principal may not do this',
  404: 'Not found',
  408: 'The request took too long',
  409: 'The request conflicts with the current state',
  410: 'Gone',
  412: 'The value has changed',
  413: 'The request is too large',
  415: 'The media type is not supported',
  421: 'The host name is not that of this server',
  422: 'The request cannot be processed',
  429: 'Too many requests',
  500: 'The server failed',
  503: 'The service cannot answer now',
};

function storeProblem(error: StoreError): Problem {
  const { code } = error;
  // The server ends, and the next one opens the store again.
  const retryable = error.retryable || code === 'store_poisoned';
  return {
    type: `${PAGE}#${code}`,
    title: TITLES[503],
    status: 503,
    code,
    detail: `The store cannot answer now. ${retryable ? 'Repeat the request later' : 'Its operator must act'}; the log of the server has the reason.`,
    retryable,
  };
}

const INTERNAL = faultOfServer(
  'internal',
  'The server failed. Its log has the reason, under the request id.',
);

const DAMAGED = faultOfServer(
  'invalid_ledger',
  'The ledger does not verify and accepts no more entries. Its operator finds the fault with assize verify; the log of the server has it too.',
);

function faultOfServer(code: string, detail: string): Problem {
  return {
    type: `${PAGE}#${code}`,
    title: TITLES[500],
    status: 500,
    code,
    detail,
    retryable: false,
  };
}

/** Refusals of callers who are not known. Their answers say little, and the log says why. */
const CODES: ReadonlySet<string> = new Set([
  ...[
    'unauthenticated',
    'session_changed',
    'sign_in_failed',
    'issuer_unreachable',
    'bad_host',
    'bad_origin',
  ],
]);
const REASON_MAX = 300;

/** The reason of such a refusal, for the operator of a provider or a proxy. It has no secret. */
export function refusalReason(error: unknown): string | undefined {
  if (!isAssizeError(error) || !CODES.has(error.code)) return undefined;
  const { error: said } = (error.cause ?? {}) as { readonly error?: unknown };
  const cause = [errorMessage(error.cause), typeof said === 'string' ? said : undefined].filter(
    (text) => text !== undefined,
  );
  return (cause.length === 0 ? error.message : cause.join(': '))
    .slice(0, REASON_MAX)
    .toWellFormed();
}
