import { serverAddress } from '@assize/command';
import { publicAddress } from '@assize/command/operation';
import type { ResolvedConfig } from 'assize/internal/config';
import { serverFaults, serverOf } from '../own-server.ts';

/** Where a server is: the folder of its files, and its address if the configuration has another. */
export interface ServerPlace {
  readonly server: string;
  readonly url?: string;
}

/** The address for the hooks. @throws CliError `usage` */
function addressFor({ server }: ResolvedConfig, url: string | undefined): string {
  return url === undefined ? publicAddress(server) : serverAddress(url);
}

/** Faults of the server that the hooks name. A server of another address never gets the token. */
export async function hookedFaults(
  named: string,
  { server, url }: ServerPlace,
  agent: string,
  token: string,
): Promise<string[]> {
  const expected = addressFor(await serverOf(server, agent), url);
  if (named === expected) return serverFaults(named, token);
  return [
    `the hooks name the server ${named}, and not ${expected}; install them again for this one, or check with --url ${named}`,
  ];
}
