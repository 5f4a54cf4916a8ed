import type { Caller } from '@assize/command/operation';
import { countNames, parseBody, readBytes, requireNames } from './body.ts';
import { isForwarded } from './headers.ts';
import type { Limits } from './limits.ts';
import { chargeOf, type RateLimiter } from './rate-limiter.ts';

interface Limiting {
  readonly limits: Limits;
  readonly limiter: RateLimiter;
}

/** The least limits of an operation, where those of the configuration are too few. */
interface OwnLimits {
  readonly bodyBytes?: number;
  readonly bodyNames?: number;
}

/** The bytes of a body that the limits of its caller allow, and the most of them. */
export interface ChargedBody {
  readonly bytes: Uint8Array;
  readonly bytesMax: number;
}

/** The principal whose limits a caller uses. */
export function accountOf({ account, name }: Caller): string {
  return account ?? name;
}

/**
 * Reads a body within the limits of its caller, and charges for it. Nothing is parsed: parsing a
 * body of many names takes longer than most requests.
 *
 * @throws ServerError `unsupported_media_type`, `too_large`, `too_fast`
 */
export async function chargedBody(
  request: Request,
  caller: Caller,
  { limits, limiter }: Limiting,
  own: OwnLimits = {},
): Promise<ChargedBody> {
  const { bodyBytes, proposalBytes } = limits;
  // An agent proposes with nearly every body, so its bodies are bounded as proposals.
  const isAgent = caller.kinds.includes('agent');
  const isLess = isAgent && proposalBytes < bodyBytes;
  const bytesMax = Math.max(isLess ? proposalBytes : bodyBytes, own.bodyBytes ?? 0);
  const limit = isLess && own.bodyBytes === undefined ? 'proposalBytes' : 'bodyBytes';
  const bytes = await readBytes(request, bytesMax, limit);
  // The server that forwarded a request has counted it.
  if (isForwarded(request)) return { bytes, bytesMax };
  const names = countNames(bytes);
  if (isAgent) requireNames(names, Math.max(limits.names, own.bodyNames ?? 0));
  const more = chargeOf({ bytes: bytes.byteLength, names });
  if (more > 0) limiter.charge(accountOf(caller), more);
  return { bytes, bytesMax };
}

/**
 * Counts a message to an MCP server and checks its body. Another parser reads it again. What the
 * message asks of the API counts there.
 *
 * @throws the errors of `chargedBody` and `parseBody`
 */
export async function admitMessage(
  request: Request,
  caller: Caller,
  limiting: Limiting,
): Promise<void> {
  const leave = limiting.limiter.enter(accountOf(caller));
  try {
    if (request.method !== 'POST') return;
    const { bytes, bytesMax } = await chargedBody(request.clone(), caller, limiting);
    parseBody(bytes, bytesMax);
  } finally {
    leave();
  }
}
