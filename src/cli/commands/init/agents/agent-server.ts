import { existsSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Option } from 'commander';
import { CONFIG_FILES, loadConfig, type ResolvedConfig } from '#config';
import { publicAddress } from '#server';
import { CliError } from '../../../errors.ts';
import { writeNew } from '../../../files/write-file.ts';
import { firstRules, serverConfig } from './server-files.ts';

/** The world of tool calls of every agent program. */
export const TRAJECTORY = 'calls';

/** The agents that a new server knows. */
export type AgentName = 'agent:claude-code' | 'agent:codex';
const AGENTS: readonly AgentName[] = ['agent:claude-code', 'agent:codex'];

/** Where a server is: the folder of its files, and its address if the configuration has another. */
export interface ServerPlace {
  readonly server: string;
  readonly url?: string;
}

export const serverOption: Option = new Option(
  '--server <folder>',
  'folder of the server’s configuration, rules and store',
).default(join(homedir(), '.assize'), '~/.assize');

/** Writes the files of a new server. An existing configuration is left as it is. */
export function writeServerFiles(folder: string): readonly string[] {
  const config = join(folder, 'assize.config.json');
  if (CONFIG_FILES.some((name) => existsSync(join(folder, name)))) return [];
  const { username } = userInfo();
  const person = `human:${username.replace(/[^A-Za-z0-9_.-]/g, '-') || 'me'}`;
  const rules = join(folder, 'assize.yaml');
  const files: (readonly [string, string])[] = [[config, serverConfig(AGENTS, person)]];
  if (!existsSync(rules)) files.push([rules, firstRules(realpathSync('.'))]);
  writeNew(files, false);
  return files.map(([path]) => path);
}

/** @throws CliError `usage` if the configuration has no such agent or no world for the hooks */
export async function serverOf(folder: string, agent: AgentName): Promise<ResolvedConfig> {
  const config = await loadConfig({ from: folder });
  const grants = config.principals.get(agent)?.grants ?? [];
  const isReady = grants.length > 0 && config.worlds[TRAJECTORY]?.domain === 'gateway';
  if (isReady) return config;
  throw new CliError(
    'usage',
    `${config.file ?? folder} needs the agent ${agent} with a grant, and the world ${TRAJECTORY} of the domain gateway. Add them, or pass another --server.`,
  );
}

/** A person of the configuration who decides. */
export function personIn({ principals }: ResolvedConfig): string {
  return [...principals.values()].find(({ kinds }) => kinds.includes('counselor'))?.name ?? 'PERSON';
}

/** The address for the hooks. @throws CliError `usage` */
export function addressFor({ server }: ResolvedConfig, url: string | undefined): string {
  if (url === undefined) return publicAddress(server);
  if (URL.canParse(url) && /^https?:/.test(url)) return new URL(url).origin;
  throw new CliError('usage', `'${url}' is not the address of a server. Pass --url http://127.0.0.1:PORT.`);
}

/** Faults of the server that the hooks name. A server of another address never gets the token. */
export async function hookedFaults(
  named: string,
  { server, url }: ServerPlace,
  agent: AgentName,
  token: string,
): Promise<string[]> {
  const expected = addressFor(await serverOf(server, agent), url);
  if (named === expected) return serverFaults(named, token);
  return [`the hooks name the server ${named}, and not ${expected}; pass --url if that is right`];
}

async function serverFaults(url: string, token: string): Promise<string[]> {
  try {
    const { status } = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    return status === 200 ? [] : [`the server at ${url} does not accept the token (${status})`];
  } catch {
    return [`no server answers at ${url}; start it with assize serve`];
  }
}
