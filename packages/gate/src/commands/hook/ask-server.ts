import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Result } from './read-token.ts';

const ANSWER_BYTES_MAX = 1_048_576;

export interface Asked {
  readonly url: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly token: string;
  /** An event to post. */
  readonly body?: string;
}

/**
 * Asks the server, directly: no proxy gets the token, and no redirection is followed. Resolves with
 * the JSON of an answer with the status 200.
 */
export async function askServer({ url, path, ...asked }: Asked): Promise<Result<unknown>> {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    return {
      fault: `'${url}' is not the address of a server. Run assize init again for this program.`,
    };
  const at = new URL(path, url);
  const { request } = await (at.protocol === 'https:' ? import('node:https') : import('node:http'));
  const text = await sent(request, at, asked);
  if ('fault' in text) return text;
  try {
    return { value: JSON.parse(text.value) };
  } catch {
    return {
      fault: `The answer of ${at.origin} is not JSON. Check that Assize serves this address.`,
    };
  }
}

type Request = (
  at: URL,
  options: RequestOptions,
  answered: (response: IncomingMessage) => void,
) => ClientRequest;

function sent(
  request: Request,
  at: URL,
  { token, body, signal }: Omit<Asked, 'url' | 'path'>,
): Promise<Result<string>> {
  const { promise, resolve } = Promise.withResolvers<Result<string>>();
  const lost = (error: unknown): void =>
    resolve({ fault: lostText(at.origin, error, signal.aborted) });
  const bytes = Buffer.from(body ?? '');
  const headers = {
    connection: 'close',
    authorization: `Bearer ${token}`,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(bytes.length),
    }),
  };
  const method = body === undefined ? 'GET' : 'POST';
  const asked = request(at, { method, headers, signal, agent: false }, (response) => {
    const pieces: Buffer[] = [];
    let length = 0;
    response.on('data', (piece: Buffer) => {
      length += piece.length;
      pieces.push(piece);
      if (length > ANSWER_BYTES_MAX) asked.destroy(new Error('its answer is too large'));
    });
    response.on('error', lost);
    response.on('close', () => {
      if (!response.complete) lost('the connection ended in its answer');
    });
    response.on('end', () => {
      const text = Buffer.concat(pieces).toString('utf8');
      resolve(
        response.statusCode === 200
          ? { value: text }
          : { fault: statusText(at.origin, response, text), isFinal: isRefusal(response) },
      );
    });
  });
  asked.on('error', lost);
  asked.end(bytes);
  return promise;
}

function lostText(origin: string, error: unknown, isLate: boolean): string {
  if (isLate) return `The server ${origin} did not answer in time. Look at its log.`;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (code === 'ECONNREFUSED') return `No server answers at ${origin}. Start it with assize serve.`;
  return `The server ${origin} did not answer: ${String(error)}. Look at its log.`;
}

/** Whether Assize refuses the caller, such as one whose token is revoked. */
function isRefusal({ statusCode = 0, headers }: IncomingMessage): boolean {
  const isProblem = /^application\/problem\+json\b/.test(headers['content-type'] ?? '');
  return isProblem && statusCode >= 400 && statusCode < 500;
}

/** The server says in a problem document what to do. */
function statusText(origin: string, { statusCode = 0 }: IncomingMessage, text: string): string {
  const detail = /"detail":\s*("(?:[^"\\]|\\.){1,1000}")/.exec(text)?.[1];
  const said = detail === undefined ? '' : `: ${JSON.parse(detail) as string}`;
  return `The server ${origin} answered with the status ${statusCode}${said}`;
}
