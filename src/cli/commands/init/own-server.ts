import { existsSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Option } from 'commander';
import { addMicros } from '#canon';
import { CONFIG_FILES, loadConfig, type ResolvedConfig, rootKeyOf } from '#config';
import { systemClock } from '#oracle';
import { type Credentials, credentialsOf } from '#server';
import { openStore } from '#stores';
import { CliError } from '../../errors.ts';
import { writeNew } from '../../files/write-file.ts';
import { firstRules, HOOK_AGENTS, HOOK_GRANT, serverConfig } from './server-files.ts';

/** The server of a person's own machine: its folder, its configuration and its tokens. */

export const TRAJECTORY = 'calls';
const TOKEN_DAYS = 365;
const DAY_MICROS = 86_400_000_000;

export function serverOption(): Option {
  return new Option('--server <folder>', 'folder of the server’s configuration, rules and store').default(
    join(homedir(), '.assize'),
    '~/.assize',
  );
}

/** Writes the files of a new server, with the agents of hooks or another one. */
export function writeServerFiles(
  folder: string,
  agents: readonly string[] = HOOK_AGENTS,
  grant: object = HOOK_GRANT,
): readonly string[] {
  const config = join(folder, 'assize.config.json');
  if (CONFIG_FILES.some((name) => existsSync(join(folder, name)))) return [];
  const { username } = userInfo();
  const person = `human:${username.replace(/[^A-Za-z0-9_.-]/g, '-') || 'me'}`;
  const rules = join(folder, 'assize.yaml');
  const files: (readonly [string, string])[] = [[config, serverConfig({ agents, grant, person })]];
  if (!existsSync(rules)) files.push([rules, firstRules(realpathSync('.'))]);
  writeNew(files, false);
  return files.map(([path]) => path);
}

/** @throws CliError `usage` if the configuration lacks the agent or the world of its calls */
export async function serverOf(folder: string, agent: string): Promise<ResolvedConfig> {
  const config = await loadConfig({ from: folder });
  const grants = config.principals.get(agent)?.grants ?? [];
  const isReady = grants.length > 0 && config.worlds[TRAJECTORY]?.domain === 'gateway';
  if (isReady) return config;
  throw new CliError(
    'usage',
    `${config.file ?? folder} needs the agent ${agent} with a grant, and the world ${TRAJECTORY} of the domain gateway. Add them, or pass another --server.`,
  );
}

export function personIn({ principals }: ResolvedConfig): string {
  return [...principals.values()].find(({ kinds }) => kinds.includes('counselor'))?.name ?? 'PERSON';
}

/** Creates a token of an agent. */
export async function newToken(config: ResolvedConfig, agent: string, note: string): Promise<string> {
  return withCredentials(config, async ({ tokens }) => {
    const created = systemClock.now();
    const expires = addMicros(created, TOKEN_DAYS * DAY_MICROS);
    return (await tokens.create({ principal: agent, kinds: ['agent'], created, expires, note })).token;
  });
}

/** Revokes the tokens that the store knows. Returns how many. */
export async function revoke(config: ResolvedConfig, tokens: readonly string[]): Promise<number> {
  if (tokens.length === 0) return 0;
  return withCredentials(config, async (credentials) => {
    let count = 0;
    for (const token of tokens) {
      const row = await credentials.tokens.verify(token, systemClock.now()).catch(() => undefined);
      if (row !== undefined && (await credentials.tokens.revoke(row.id))) count++;
    }
    return count;
  });
}

/** Whether the store knows a token of an agent. */
export async function isTokenOf(config: ResolvedConfig, agent: string, token: string): Promise<boolean> {
  return withCredentials(config, async ({ tokens }) => {
    const row = await tokens.verify(token, systemClock.now()).catch(() => undefined);
    return row?.principal === agent;
  });
}

async function withCredentials<T>(config: ResolvedConfig, work: (credentials: Credentials) => Promise<T>): Promise<T> {
  const store = await openStore(config.store);
  try {
    return await work(credentialsOf(store, rootKeyOf(config.store)));
  } finally {
    await store.close();
  }
}

/** Faults of a running server, asked with a token. */
export async function serverFaults(url: string, token: string): Promise<string[]> {
  try {
    const { status } = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    return status === 200 ? [] : [`the server at ${url} does not accept the token (${status})`];
  } catch {
    return [`no server answers at ${url}; start it with assize serve`];
  }
}

/** @throws CliError `usage` */
export function addressOf(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return new URL(url).origin;
  throw new CliError('usage', `'${url}' is not the address of a server. Pass --url http://127.0.0.1:PORT.`);
}
