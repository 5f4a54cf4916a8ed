import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { request, Agent as SecureAgent } from 'node:https';
import type { Ask } from './api-desk.ts';

/**
 * Asks a server with a token over kept connections, with less work than `fetch`. A redirect is an
 * answer that is not `ok`, and the token goes nowhere else.
 */
export function httpAsk(url: string, token: string): Ask {
  const { protocol, hostname, port } = new URL(url);
  const isPlain = protocol === 'http:';
  const agent = isPlain
    ? new PlainAgent({ keepAlive: true })
    : new SecureAgent({ keepAlive: true });
  const send = isPlain ? plainRequest : request;
  const authorization = `Bearer ${token}`;
  const host = hostname.replace(/^\[|\]$/g, '');
  return (path, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const length = body !== undefined ? { 'content-length': Buffer.byteLength(body) } : {};
      const sent = send(
        {
          ...{ host, port, path, method, agent },
          headers: { ...headers, authorization, ...length },
          ...(signal !== undefined && { signal }),
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const { statusCode: status = 500 } = answer;
            const json = async (): Promise<unknown> =>
              JSON.parse(Buffer.concat(chunks).toString('utf8'));
            resolve({ status, ok: status >= 200 && status < 300, json });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
}
