import { ServerError } from '@assize/command/operation';
import { isInstance, type Json } from 'assize/internal/base';
import { CanonError, parseStrict, textPlace } from 'assize/internal/canon';

/** The limit of the configuration that an error names. */
type BytesLimit = 'bodyBytes' | 'proposalBytes';

/** `application/json`, alone or with the only encoding of JSON. */
const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * The body of a request as JSON. A text that two readers could read differently is refused.
 *
 * @throws the errors of `readBytes` and `parseBody`
 */
export async function readBody(request: Request, bytesMax: number): Promise<Json> {
  return parseBody(await readBytes(request, bytesMax), bytesMax);
}

/** The bytes of a body of JSON. @throws ServerError `unsupported_media_type`, `too_large` */
export async function readBytes(
  request: Request,
  bytesMax: number,
  limit: BytesLimit = 'bodyBytes',
): Promise<Uint8Array> {
  const type = request.headers.get('content-type') ?? '';
  if (!JSON_TYPE.test(type))
    throw new ServerError(
      'unsupported_media_type',
      'The body must be JSON. Send it with the header Content-Type: application/json.',
    );
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new ServerError(
      'unsupported_media_type',
      'The body is compressed. Send it without Content-Encoding.',
    );
  return bytesOf(request, bytesMax, limit);
}

/**
 * A body as JSON. A text that two readers could read differently is refused.
 *
 * @throws CanonError for a text that is not strict JSON
 */
export function parseBody(bytes: Uint8Array, bytesMax: number): Json {
  try {
    return parseStrict(bytes, { bytesMax });
  } catch (error) {
    if (!isInstance(error, CanonError)) throw error;
    const { code, pointer, message, evidence } = error;
    const what = code === 'syntax' ? 'is not JSON' : 'is not accepted';
    throw new CanonError(code, pointer, `The body ${what}${textPlace(error)}: ${message}`, {
      evidence,
      cause: error,
    });
  }
}

/** The bytes of a body of any type. @throws ServerError `too_large` */
export async function bytesOf(
  request: Request,
  bytesMax: number,
  limit: BytesLimit,
): Promise<Uint8Array> {
  const length = request.headers.get('content-length');
  if (length !== null && Number(length) > bytesMax) throw tooLarge(bytesMax, limit);
  // The parser of HTTP takes no more bytes than the announced ones.
  if (length !== null && request.headers.get('transfer-encoding') === null)
    return new Uint8Array(await request.arrayBuffer());
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.byteLength;
    if (size > bytesMax) throw tooLarge(bytesMax, limit);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function tooLarge(bytesMax: number, limit: BytesLimit, what = 'The body'): ServerError {
  return new ServerError(
    'too_large',
    `${what} has more than ${bytesMax} bytes. Send less, or raise server.limits.${limit}.`,
  );
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** The number of member names in a JSON text: the colons outside its strings. */
export function countNames(text: Uint8Array): number {
  let names = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === COLON) names += 1;
    if (text[at] !== QUOTE) continue;
    for (at += 1; at < text.length && text[at] !== QUOTE; at++) if (text[at] === BACKSLASH) at += 1;
  }
  return names;
}

/** @throws ServerError `too_large` */
export function requireNames(names: number, namesMax: number): void {
  if (names > namesMax)
    throw new ServerError(
      'too_large',
      `The body has ${names} names of members, and at most ${namesMax} are allowed. Send less, or raise server.limits.names.`,
    );
}

/** Checks each proposal of many. @throws ServerError `too_large` */
export function requireProposals(proposals: readonly unknown[], bytesMax: number): void {
  for (const [i, proposal] of proposals.entries())
    if (Buffer.byteLength(JSON.stringify(proposal)) > bytesMax)
      throw tooLarge(bytesMax, 'proposalBytes', `The proposal /body/proposals/${i}`);
}
