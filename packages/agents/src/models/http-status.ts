import { ModelError } from './errors.ts';

/**
 * The error of an answer with a status other than success. `said`: the provider's words, without
 * secrets.
 */
export function statusError(status: number, said: string, afterMs?: number): ModelError {
  const evidence = { status, ...(afterMs !== undefined && { afterMs }) };
  const words = said === '' ? '' : ` It said: ${said.replace(/[.\s]+$/, '')}.`;
  if (status === 401 || status === 403)
    return new ModelError(
      'key_refused',
      `The provider refused the API key (${status}). Check the key.`,
      { evidence },
    );
  if (status === 404)
    return new ModelError(
      'request_refused',
      `The provider knows no such model or address (404). Check the model and the base URL.${words}`,
      { evidence },
    );
  if (status === 429)
    return new ModelError(
      'rate_limited',
      `The provider limits the rate (429). Run again later.${words}`,
      {
        evidence,
        retryable: true,
      },
    );
  if (status === 408 || status >= 500)
    return new ModelError(
      'provider_failed',
      `The provider failed (${status}). Run again later.${words}`,
      {
        evidence,
        retryable: true,
      },
    );
  return new ModelError(
    'request_refused',
    `The provider refused the request (${status}).${words}`,
    { evidence },
  );
}
