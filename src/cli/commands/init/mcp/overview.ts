import { EXIT, type ExitCode } from '../../../errors.ts';
import type { Session } from '../../../store/session.ts';
import { bold, line } from '../../../terminal/printable.ts';
import { ownEntries, readClient } from './client-text.ts';
import { namedFiles, type Options } from './options.ts';
import { isOf, readOriginals } from './originals.ts';
import { isWrapped } from './wrap.ts';

/** Lists the servers of all clients, and changes nothing. */
export async function overview({ json, out }: Session, options: Options): Promise<ExitCode> {
  const originals = readOriginals(options.server);
  const found = namedFiles(undefined, options)
    .flatMap((file) => readClient(file) ?? [])
    .map((file) => ({
      ...{ client: file.client, file: file.path },
      servers: ownEntries(file).map(({ name, at, value }) => ({
        name,
        behind: isWrapped(value),
        ...(isWrapped(value) && {
          server: originals.find((one) => isOf(one, { file: file.path, at }))?.server ?? name,
        }),
      })),
    }))
    .filter(({ servers }) => servers.length > 0);
  if (json) {
    out.document({ clients: found });
    return EXIT.ok;
  }
  for (const { client, file, servers } of found) {
    out.line(bold(line`${client}  ${file}`));
    for (const { name, behind, server } of servers)
      out.line(line`  ${name}: ${behind ? `behind Assize as ${server}` : 'not behind Assize'}`);
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
