import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { CliError, serverAddress, writeNew } from '@assize/command';
import { COMMAND_LINE, publicAddress, Tokens } from '@assize/command/operation';
import { isRecord } from 'assize/internal/base';
import { addMicros, type Instant } from 'assize/internal/canon';
import { CONFIG_FILES, loadConfig, type ResolvedConfig, rootKeyOf } from 'assize/internal/config';
import { systemClock, systemRandom } from 'assize/internal/oracle';
import { openStore, sideSecretOf } from 'assize/internal/stores';
import { Option } from 'commander';
import { observationOf, observingText } from '#gateway';
import { askServer } from '../hook/ask-server.ts';
import { isRulesFile } from '../is-rules-file.ts';
import { rulesFileIn } from '../rules-files.ts';
import type { ShownChange } from './agreement.ts';
import { firstRules, serverConfig } from './server-files.ts';

/** The server of a person's own machine: its folder, its configuration and its tokens. */

export const TRAJECTORY = 'calls';
const TOKEN_DAYS = 365;
const OBSERVED_DAYS = 14;
const DAY_MICROS = 86_400_000_000;

export function serverOption(): Option {
  return new Option(
    '--server <folder>',
    'folder of the server’s configuration, rules and store',
  ).default(join(homedir(), '.assize'), '~/.assize');
}

/** The server in a folder before it is written to. Its configuration is undefined if it is new. */
export interface FoundServer {
  readonly config: ResolvedConfig | undefined;
  /** The address that clients use. */
  readonly address: string;
  /** The files that a new server gets. */
  readonly files: readonly string[];
}

/** Reads a server's configuration, and writes nothing. @throws CliError `usage` */
export async function findServer(folder: string, url: string | undefined): Promise<FoundServer> {
  const given = url === undefined ? undefined : serverAddress(url);
  if (CONFIG_FILES.some((name) => existsSync(join(folder, name)))) {
    const config = await loadConfig({ from: folder });
    return { config, address: given ?? publicAddress(config.server), files: [] };
  }
  const files = [CONFIG, RULES]
    .map((name) => join(folder, name))
    .filter((path) => !existsSync(path));
  return { config: undefined, address: given ?? 'http://127.0.0.1:4517', files };
}

const CONFIG = 'assize.config.json';
export const RULES = 'assize.yaml';

/** Writes the files of a new server. Returns their paths. */
export function writeServerFiles(
  folder: string,
  { address }: Pick<FoundServer, 'address'>,
  hasSandbox = false,
): readonly string[] {
  if (CONFIG_FILES.some((name) => existsSync(join(folder, name)))) return [];
  const { username } = userInfo();
  const person = `human:${username.replace(/[^A-Za-z0-9_.-]/g, '-') || 'me'}`;
  const rules = join(folder, RULES);
  const files: (readonly [string, string])[] = [
    [join(folder, CONFIG), serverConfig({ person, address })],
  ];
  if (!existsSync(rules))
    files.push([
      rules,
      firstRules('${project}', { until: observedUntil(systemClock.now()), hasSandbox }),
    ]);
  writeNew(files, false);
  return files.map(([path]) => path);
}

/** The day from which new rules hold: in two weeks. */
export function observedUntil(now: Instant): string {
  return addMicros(now, OBSERVED_DAYS * DAY_MICROS).slice(0, 10);
}

/** The files of a new server, as changes that a person agrees to. */
export function newFiles({ files }: Pick<FoundServer, 'files'>): readonly ShownChange[] {
  return files.map((path) => ({ path, lines: ['+ a new file, for agents on this machine'] }));
}

/** The commands that start a server and sign its person in. Its own address needs no option. */
export function nextCommands(
  config: ResolvedConfig,
  address: string,
): { readonly serve: string; readonly signIn: string } {
  const isOwn = publicAddress(config.server) === address;
  const { port } = new URL(address);
  const listen = isOwn || port === '' ? '' : ` --port ${port}`;
  return {
    serve: `assize serve --config ${config.file}${listen}`,
    signIn: `assize token sign-in ${personIn(config)} --config ${config.file}${isOwn ? '' : ` --url ${address}`}`,
  };
}

/** Whether the rules of a server only observe, and until when, as a note for its person. */
export function observationNotes({ policyFile }: ResolvedConfig): string[] {
  if (policyFile === undefined || !isRulesFile(policyFile) || !existsSync(policyFile)) return [];
  const observed = observationOf(rulesFileIn(policyFile).rules, systemClock.now());
  return observed === undefined ? [] : [`The rules are ${observingText(observed)}: ${policyFile}`];
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
  return (
    [...principals.values()].find(({ kinds }) => kinds.includes('counselor'))?.name ?? 'PERSON'
  );
}

/** Creates a token of an agent. */
export async function newToken(
  config: ResolvedConfig,
  agent: string,
  note: string,
): Promise<string> {
  return withTokens(config, async (tokens) => {
    const created = systemClock.now();
    const expires = addMicros(created, TOKEN_DAYS * DAY_MICROS);
    return (
      await tokens.create({
        principal: agent,
        kinds: ['agent'],
        created,
        expires,
        by: COMMAND_LINE,
        note,
      })
    ).token;
  });
}

/** Revokes the tokens that the store knows. Returns how many. */
export async function revoke(config: ResolvedConfig, tokens: readonly string[]): Promise<number> {
  if (tokens.length === 0) return 0;
  return withTokens(config, async (known) => {
    let count = 0;
    for (const token of tokens) {
      const row = await known.verify(token, systemClock.now()).catch(() => undefined);
      if (row !== undefined && (await known.revoke(row.id))) count++;
    }
    return count;
  });
}

/** Whether the store knows a token of an agent. */
export async function isTokenOf(
  config: ResolvedConfig,
  agent: string,
  token: string,
): Promise<boolean> {
  return withTokens(config, async (tokens) => {
    const row = await tokens.verify(token, systemClock.now()).catch(() => undefined);
    return row?.principal === agent;
  });
}

async function withTokens<T>(
  config: ResolvedConfig,
  work: (tokens: Tokens) => Promise<T>,
): Promise<T> {
  const store = await openStore(config.store, { archive: config.archive });
  try {
    return await work(new Tokens(store, sideSecretOf(rootKeyOf(config.store)), systemRandom));
  } finally {
    await store.close();
  }
}

const ANSWER_MS = 3_000;

/** Faults of a running server, asked with an agent’s token. Other programs may have its port. */
export async function serverFaults(url: string, token: string): Promise<string[]> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const answer = await askServer({ url, path: '/v1/me', signal, token });
  if ('fault' in answer) return [answer.fault];
  if (isRecord(answer.value) && [answer.value['kinds']].flat().includes('agent')) return [];
  return [`The answer of ${url} names no agent. Check that Assize serves this address.`];
}
