import { whyNoServer } from '../tests/support/postgres/binaries.ts';
import { PostgresServer, type ServerOptions } from '../tests/support/postgres/server.ts';
import type { BenchResult } from './measure.ts';

/** The results on a new server of PostgreSQL. Without its programs: a message, and no results. */
export async function onPostgres(
  work: (url: string, server: PostgresServer) => Promise<BenchResult[]>,
  options?: ServerOptions,
): Promise<BenchResult[]> {
  const reason = whyNoServer();
  if (reason !== undefined) {
    console.error(`PostgreSQL is left out: ${reason}.`);
    return [];
  }
  const server = await PostgresServer.start(options);
  try {
    return await work(`postgres://postgres@127.0.0.1:${server.port}/postgres`, server);
  } finally {
    await server.remove();
  }
}
