import type { IncomingMessage } from 'node:http';

/** Why a request is refused by its head alone. */
export interface HeadFault {
  readonly status: 400 | 415;
  readonly says: string;
}

/** A name or an address, and perhaps a port. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/gi;

/**
 * What is wrong with the head of a request: what a server in front may have read otherwise. The protocol names no content
 * type, so any may be said; but a body is read as UTF-8 and as it stands, and one that says it is something else is refused.
 */
export function headFault({ headersDistinct: heads }: Pick<IncomingMessage, 'headersDistinct'>): HeadFault | undefined {
  const { host: hosts = [] } = heads;
  if (hosts.length !== 1 || !HOST.test(hosts[0]!)) return { status: 400, says: 'A request names one host.\n' };
  const types = heads['content-type'] ?? [];
  const charsets = types.flatMap((type) => [...type.matchAll(CHARSET)].map(([, charset]) => charset!.toLowerCase()));
  if (charsets.some((charset) => charset !== 'utf-8' && charset !== 'utf8'))
    return { status: 415, says: 'A checkpoint is sent in UTF-8.\n' };
  const encodings = heads['content-encoding'] ?? [];
  if (encodings.some((encoding) => encoding.toLowerCase() !== 'identity'))
    return { status: 415, says: 'A checkpoint is sent as it is, without an encoding.\n' };
  return undefined;
}
