import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { ServerError } from '@assize/command/operation';
import { createAdaptorServer } from '@hono/node-server';
import type { ResolvedConfig } from 'assize/internal/config';

/** A request must arrive within this time. */
const ARRIVAL_MS = 30_000;
/** Connections that have become idle are closed after this time. */
const IDLE_MS = 50;
const LIMITS = { requestTimeout: ARRIVAL_MS, headersTimeout: ARRIVAL_MS, maxHeaderSize: 16_384 };

export type Fetch = (request: Request, env: object) => Response | Promise<Response>;

/**
 * A server of HTTP, or of HTTPS with the certificate of the configuration, that does not listen.
 *
 * @throws the errors of the files of the certificate
 */
export function httpServer({ tls }: ResolvedConfig['server'], fetch: Fetch): Server {
  const files = tls && { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) };
  return createAdaptorServer({
    fetch,
    createServer: (tls === undefined ? createPlainServer : createTlsServer) as never,
    serverOptions: { ...LIMITS, ...files },
  }) as Server;
}

/**
 * Listens, and resolves with the port.
 *
 * @throws ServerError `bad_config`; other errors of the system
 */
export async function listen(
  http: Server,
  { host, port }: ResolvedConfig['server'],
): Promise<number> {
  const begun = Promise.withResolvers<void>();
  http.once('error', begun.reject);
  http.listen(port, host, () => begun.resolve());
  await begun.promise.catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EADDRINUSE') throw cause;
    const message = `Port ${port} of ${host} is in use. Stop that program, or choose another port with --port.`;
    throw new ServerError('bad_config', message, { cause });
  });
  http.off('error', begun.reject);
  return (http.address() as AddressInfo).port;
}

/** Takes no new connection, and resolves when each request has its answer. */
export function closed(http: Server): Promise<void> {
  const done = Promise.withResolvers<void>();
  const closingIdle = setInterval(() => http.closeIdleConnections(), IDLE_MS);
  http.close(() => {
    clearInterval(closingIdle);
    done.resolve();
  });
  return done.promise;
}
