import { existsSync, readFileSync, statSync } from 'node:fs';
import { publicAddress } from '@assize/server/internal';
import { isAssizeError } from 'assize/internal/base';
import { loadConfig } from 'assize/internal/config';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { serverAddress } from '../../../input/server-address.ts';
import type { Session } from '../../../store/session.ts';
import { line } from '../../../terminal/printable.ts';
import { serverFaults } from '../own-server.ts';
import { tokenFileOf } from './agent.ts';
import { ownEntries, readClient } from './client-text.ts';
import type { ClientName } from './clients.ts';
import { entryText, sameEntry } from './formats/entries.ts';
import { meant, namedFiles, type Options } from './options.ts';
import { isOf, type Original, readOriginals } from './originals.ts';
import { FOREIGN, isIntact } from './plan.ts';
import { toolsOf } from './start.ts';
import { chosen } from './undo.ts';
import { hasGateway } from './wrap.ts';

/** The findings about one server behind the gateway. */
interface Checked {
  readonly name: string;
  readonly file: string;
  /** The tools that the client is shown. */
  readonly tools?: readonly string[];
  readonly fault?: string;
}

/** Starts each gateway as its client would. It pins definitions, as in a session. */
export async function check(session: Session, client: ClientName | undefined, options: Options): Promise<ExitCode> {
  const isMeant = meant(options);
  const ours = chosen(readOriginals(options.server), client, options).filter(({ at }) => isMeant(at.at(-1) as string));
  const strange = foreign(client, options, ours);
  if (ours.length === 0 && strange.length === 0)
    throw new CliError('usage', 'No server is behind Assize here. Begin with assize init mcp.');
  const config = await loadConfig({ from: options.server });
  const url = options.url === undefined ? publicAddress(config.server) : serverAddress(options.url);
  const faults = await clientFaults(url, ours, options.server);
  const checked: Checked[] = [...strange];
  if (faults.length === 0) for (const one of ours) checked.push(await checkedEntry(one));
  const ok = faults.length === 0 && checked.every(({ fault }) => fault === undefined);
  if (session.json) session.out.document({ ok, faults, servers: checked });
  else {
    for (const fault of faults) session.out.line(line`${fault}`);
    for (const one of checked) session.out.line(line`${one.name}: ${checkedText(one)}`);
  }
  return ok ? EXIT.ok : EXIT.negative;
}

/** Entries that start a gateway, and that this command did not write. */
function foreign(client: ClientName | undefined, options: Options, ours: readonly Original[]): readonly Checked[] {
  const isMeant = meant(options);
  return namedFiles(client, options)
    .flatMap((named) => readClient(named) ?? [])
    .flatMap((file) =>
      ownEntries(file)
        .filter(({ name, at, value }) => {
          const isKnown = ours.some((one) => isOf(one, { file: file.path, at }));
          return isMeant(name) && !isKnown && hasGateway(value);
        })
        .map(({ name }) => ({ name, file: file.path, fault: FOREIGN })),
    );
}

async function clientFaults(url: string, originals: readonly Original[], server: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const client of new Set(originals.map((one) => one.client as ClientName))) {
    const path = tokenFileOf(server, client);
    if (!existsSync(path)) faults.push(`the token of ${client} is missing: ${path}`);
    else {
      if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
        faults.push(`other users can read ${path}`);
      faults.push(...(await serverFaults(url, readFileSync(path, 'utf8').trim())));
    }
  }
  return faults;
}

async function checkedEntry(original: Original): Promise<Checked> {
  const { server: name, file } = original;
  const text = readClient({ client: original.client as ClientName, path: file, folder: original.folder });
  const entry = text?.entries.find((each) => sameEntry(each, original));
  if (text === undefined || entry === undefined) return { name, file, fault: 'is not in the file any more' };
  if (!isIntact(text, entry, original)) return { name, file, fault: 'was changed afterwards' };
  try {
    return { name, file, tools: (await toolsOf(original, entryText(text.text, entry))).map((tool) => tool.name) };
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return { name, file, fault: error.message };
  }
}

function checkedText({ tools = [], fault }: Checked): string {
  if (fault !== undefined) return fault;
  if (tools.length === 0)
    return 'answers, and shows no tool: approve the definitions in the inbox, or trust the server';
  return `answers, and shows ${tools.join(', ')}`;
}
