import { connect } from 'node:net';

/** An answer as it arrived. `text`: everything after the header. */
export interface RawAnswer {
  readonly status: number;
  readonly header: string;
  readonly text: string;
  /** The document; undefined if the text is not JSON. */
  readonly body: any;
}

/**
 * Sends bytes over a socket, and returns all answers until the server closes the connection. For
 * requests that no client would send. The last request needs `Connection: close`.
 */
export async function sendRaw(
  port: number,
  ...parts: readonly (string | Uint8Array)[]
): Promise<RawAnswer[]> {
  const socket = connect(port, '127.0.0.1');
  const ended = Promise.withResolvers<string>();
  let said = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  socket.on('close', () => ended.resolve(said));
  // The server may close the connection while the client still sends.
  socket.on('error', () => ended.resolve(said));
  for (const part of parts) socket.write(part);
  return answersIn(await ended.promise);
}

/** The head of a request, without the line that ends it. */
export function headOf(method: string, path: string, headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, ...headers, ''].join('\r\n');
}

function answersIn(said: string): RawAnswer[] {
  return said
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((one) => one.startsWith('HTTP/1.1 '))
    .map((one) => {
      const [header = '', ...rest] = one.split('\r\n\r\n');
      const text = rest.join('\r\n\r\n');
      return { status: Number(header.slice(9, 12)), header, text, body: documentOf(text) };
    });
}

/** A short answer in one chunk, or with a length, has one JSON text. */
function documentOf(text: string): unknown {
  try {
    return JSON.parse(/\{[\s\S]*\}/.exec(text)?.[0] ?? '');
  } catch {
    return undefined;
  }
}
