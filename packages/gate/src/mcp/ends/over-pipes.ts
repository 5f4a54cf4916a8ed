import type { Server, Transport } from '@modelcontextprotocol/server';
import { loadServerStdio } from '../peers.ts';

export interface PipesOptions {
  /** Makes the server of the client. Clients of both eras are served. */
  readonly make: (era: 'legacy' | 'modern') => Promise<Server>;
  /** Default: the pipes of this process. */
  readonly transport?: Transport | undefined;
  readonly onWarning: (text: string) => void;
}

/** Serves one client over pipes. Resolves when the client leaves or the signal ends. */
export async function overPipes(
  { make, transport, onWarning }: PipesOptions,
  ends: AbortSignal,
): Promise<void> {
  const { serveStdio, StdioServerTransport } = await loadServerStdio();
  const left = Promise.withResolvers<void>();
  const handle = serveStdio(
    async ({ era }) => {
      const server = await make(era);
      const before = server.onclose;
      server.onclose = () => {
        before?.();
        left.resolve();
      };
      return server;
    },
    {
      transport: transport ?? new StdioServerTransport(),
      onerror: (error) => onWarning(error.message),
    },
  );
  ends.addEventListener('abort', () => left.resolve(), { once: true });
  if (transport === undefined) process.stdin.once('end', () => left.resolve());
  if (ends.aborted) left.resolve();
  await left.promise;
  await handle.close().catch(() => undefined);
}
