import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, type ResolvedConfig } from 'assize/internal/config';
import { applyEdits, modify } from 'jsonc-parser';
import { CliError } from '../../../errors.ts';
import { makeFolder } from '../../../files/folders.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import {
  type FoundServer,
  findServer,
  isTokenOf,
  newToken,
  revoke,
  TRAJECTORY,
  writeServerFiles,
} from '../own-server.ts';
import { gatewayGrant } from '../server-files.ts';
import type { ClientName } from './clients.ts';

/** Only the person may read a file with a token. */
const OWN = 0o600;

/** The agent of a client's calls. It is another one than that of hooks, which may pin nothing. */
export function agentOf(client: ClientName): string {
  return client === 'other' ? 'agent:mcp' : `agent:${client}-mcp`;
}

export function tokenFileOf(server: string, client: ClientName): string {
  return join(server, 'tokens', `${client}.token`);
}

/** A server, and the text of its configuration once it has the agents. */
export interface ServerChange extends FoundServer {
  readonly folder: string;
  readonly clients: readonly ClientName[];
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/**
 * The server's configuration with the agents of some clients. Nothing is written.
 *
 * @throws CliError `usage` if the configuration is a program without the agents or the world
 */
export async function serverWith(
  folder: string,
  url: string | undefined,
  clients: readonly ClientName[],
): Promise<ServerChange> {
  const found = await findServer(folder, url);
  const { config } = found;
  if (config === undefined) return { ...found, folder, clients, path: folder, before: '', after: '' };
  const path = config.file ?? folder;
  if (config.worlds[TRAJECTORY]?.domain !== 'gateway')
    throw new CliError(
      'usage',
      `${path} needs the world ${TRAJECTORY} of the domain gateway. Add it, or pass another --server.`,
    );
  const lacking = clients.map(agentOf).filter((agent) => (config.principals.get(agent)?.grants ?? []).length === 0);
  const before = path.endsWith('.json') ? readFileSync(path, 'utf8') : '';
  if (lacking.length > 0 && before === '') throw new CliError('usage', lackingText(path, lacking));
  return { ...found, folder, clients, path, before, after: lacking.reduce(withAgent, before) };
}

/** A server that has its files and the agents. */
export interface WrittenServer {
  readonly config: ResolvedConfig;
  readonly made: readonly string[];
}

/** Writes a new server, or the agents into the configuration of an existing one. */
export async function writeServer(server: ServerChange): Promise<WrittenServer> {
  const { folder, clients, address, config, path, before, after } = server;
  if (config !== undefined) {
    if (after !== before) replaceFile(path, after);
    return { config, made: [] };
  }
  const [first = 'other'] = clients;
  const made = writeServerFiles(folder, { address, agents: [agentOf(first)], grant: gatewayGrant(agentOf(first)) });
  const { config: written, ...rest } = await serverWith(folder, address, clients);
  if (written === undefined) throw new CliError('usage', `${folder} has no configuration. Repeat the command.`);
  if (rest.after !== rest.before) replaceFile(rest.path, rest.after);
  return { config: written, made };
}

function withAgent(text: string, agent: string): string {
  const principal = { kinds: ['agent'], grants: [gatewayGrant(agent)] };
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
  return applyEdits(text, modify(text, ['principals', agent], principal, { formattingOptions }));
}

function lackingText(path: string, agents: readonly string[]): string {
  const members = agents.map(
    (agent) => `'${agent}': ${JSON.stringify({ kinds: ['agent'], grants: [gatewayGrant(agent)] })}`,
  );
  return `${path} is a program, and is left as it is. Add to its principals: ${members.join(', ')}`;
}

/** Whether the file of a client has a valid token of its agent. */
export async function hasToken(config: ResolvedConfig | undefined, client: ClientName, path: string): Promise<boolean> {
  if (config === undefined || !existsSync(path)) return false;
  return isTokenOf(config, agentOf(client), readFileSync(path, 'utf8').trim());
}

/** Writes the token of a client's agent to its file, unless the file has a valid one. */
export async function writeToken(config: ResolvedConfig, client: ClientName, path: string): Promise<void> {
  const agent = agentOf(client);
  if (await hasToken(config, client, path)) return;
  const token = await newToken(config, agent, `MCP servers of ${client}`);
  makeFolder(join(path, '..'));
  replaceFile(path, `${token}\n`, OWN);
}

/** Revokes the token of a client's agent, and removes its file. */
export async function removeToken(server: string, client: ClientName): Promise<number> {
  const path = tokenFileOf(server, client);
  if (!existsSync(path)) return 0;
  const token = readFileSync(path, 'utf8').trim();
  rmSync(path);
  return revoke(await loadConfig({ from: server }), [token]);
}
