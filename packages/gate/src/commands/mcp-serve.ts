import {
  apiToken,
  CliError,
  EXIT,
  type ExitCode,
  installedVersion,
  note,
  operations,
  type Session,
  serverAddress,
} from '@assize/command';
import { LedgerApi, type LedgerAsk, serveLedger } from '#mcp';

interface Options {
  readonly url: string;
  readonly tokenFile?: string;
  readonly name?: string;
  readonly decide?: boolean;
}

/** `assize mcp --serve`: the ledger, memory and inbox of a running server, for one client. */
export async function serveMcp(
  { interruption }: Session,
  options: Options,
  command: readonly string[],
): Promise<ExitCode> {
  const { tokenFile, decide = false } = options;
  if (command.length > 0 || options.name !== undefined)
    throw new CliError(
      'usage',
      '--serve stands in front of no other MCP server: leave --name and the command out.',
    );
  const url = serverAddress(options.url);
  const api = new LedgerApi({ ask: asking(url, apiToken(tokenFile)), url });
  keepOutputFree();
  const version = installedVersion();
  await serveLedger(
    { operations: await operations(), api, version, decides: decide, onWarning: note },
    interruption,
  );
  return EXIT.ok;
}

/** Standard output belongs to the protocol. */
export function keepOutputFree(): void {
  for (const print of ['debug', 'info', 'log'] as const) console[print] = console.error;
}

/** Asks the API with a token. */
function asking(url: string, token: string): LedgerAsk {
  return (path, init) =>
    fetch(new URL(path, url), {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${token}` },
    });
}
