import type { IncomingMessage } from 'node:http';

/** The reason for a refusal by the request's head alone. */
export interface HeadFault {
  readonly status: 400 | 415;
  readonly says: string;
}

/** A name or an address, with an optional port. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/gi;

/**
 * The fault in the head of a request: a header that a server in front may have read differently.
 * The protocol names no content type, so any is accepted. A body is read as unencoded UTF-8, and a
 * request that declares another encoding is refused.
 */
export function headFault({
  headersDistinct: heads,
}: Pick<IncomingMessage, 'headersDistinct'>): HeadFault | undefined {
  const { host: hosts = [] } = heads;
  if (hosts.length !== 1 || !HOST.test(hosts[0]!))
    return { status: 400, says: 'The request must name one host.\n' };
  const types = heads['content-type'] ?? [];
  const charsets = types.flatMap((type) =>
    [...type.matchAll(CHARSET)].map(([, charset]) => charset!.toLowerCase()),
  );
  if (charsets.some((charset) => charset !== 'utf-8' && charset !== 'utf8'))
    return { status: 415, says: 'Send the checkpoint in UTF-8.\n' };
  const encodings = heads['content-encoding'] ?? [];
  if (encodings.some((encoding) => encoding.toLowerCase() !== 'identity'))
    return { status: 415, says: 'Send the checkpoint without a content encoding.\n' };
  return undefined;
}
