import { EXIT, type ExitCode } from '../../../errors.ts';
import type { Session } from '../../../store/session.ts';
import { bold, line } from '../../../terminal/printable.ts';
import { findServer } from '../own-server.ts';
import { type ClientText, ownEntries, readClient } from './client-text.ts';
import type { ServerEntry } from './formats/entries.ts';
import { ownTerms } from './install.ts';
import { namedFiles, type Options } from './options.ts';
import { isOf, readOriginals } from './originals.ts';
import { isIntact } from './plan.ts';
import { hasGateway, hasOwnGateway } from './wrap.ts';

/** Whether a server is behind this Assize, or behind something else that is called so. */
interface EntryState {
  readonly behind: boolean;
  readonly server?: string;
  readonly foreign?: boolean;
}

function textOf({ behind, server = '', foreign = false }: EntryState): string {
  if (behind) return `behind Assize as ${server}`;
  return foreign ? 'has a gateway that this command did not write' : 'not behind Assize';
}

/** Lists the servers of all clients, and changes nothing. */
export async function overview({ json, out }: Session, options: Options): Promise<ExitCode> {
  const originals = readOriginals(options.server);
  const server = { ...(await findServer(options.server, options.url)), folder: options.server };
  const stateIn = (file: ClientText, entry: ServerEntry): EntryState => {
    const original = originals.find((one) => isOf(one, { file: file.path, at: entry.at }));
    const isOwn = original !== undefined && isIntact(file, entry, original);
    if (isOwn || hasOwnGateway(entry.value, ownTerms(server, file.client)))
      return { behind: true, server: original?.server ?? entry.name };
    return { behind: false, ...(hasGateway(entry.value) && { foreign: true }) };
  };
  const found = namedFiles(undefined, options)
    .flatMap((file) => readClient(file) ?? [])
    .map((file) => ({
      ...{ client: file.client, file: file.path },
      servers: ownEntries(file).map((entry) => ({ name: entry.name, ...stateIn(file, entry) })),
    }))
    .filter(({ servers }) => servers.length > 0);
  if (json) {
    out.document({ clients: found });
    return EXIT.ok;
  }
  for (const { client, file, servers } of found) {
    out.line(bold(line`${client}  ${file}`));
    for (const { name, ...state } of servers) out.line(line`  ${name}: ${textOf(state)}`);
  }
  if (found.length === 0) out.line(line`No MCP servers were found. Name a client's file with --file.`);
  else {
    const next = [
      ...new Set(found.filter(({ servers }) => servers.some(({ behind }) => !behind)).map(({ client }) => client)),
    ];
    if (next.length > 0) out.line(bold('Next'));
    for (const client of next) out.line(line`  assize init mcp ${client}`);
  }
  return EXIT.ok;
}
