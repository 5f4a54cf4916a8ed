import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { replaceFile, serverAddress } from '@assize/command';
import { publicAddress } from '@assize/command/operation';
import { hashText } from 'assize/internal/canon';
import type { ResolvedConfig } from 'assize/internal/config';
import { readToken } from '../../hook/read-token.ts';
import { isRulesFile } from '../../is-rules-file.ts';
import {
  type FoundServer,
  newToken,
  RULES,
  revoke,
  serverFaults,
  serverOf,
  TRAJECTORY,
} from '../own-server.ts';
import { LOOPBACK } from '../server-files.ts';
import { goneFaults, type HookTerms, ownProgram } from './hook-command.ts';

/** Where a server is: the folder of its files, and its address if the configuration has another. */
export interface ServerPlace {
  readonly server: string;
  readonly url?: string;
}

/** The address for the hooks. @throws CliError `usage` */
function addressFor({ server }: ResolvedConfig, url: string | undefined): string {
  return url === undefined ? publicAddress(server) : serverAddress(url);
}

/** How hooks reach a server, with a token of their agent in a file. */
export function hookTerms(
  { address, config }: FoundServer,
  { server, wait }: ServerPlace & { readonly wait: number },
  tokenFile: string,
): HookTerms {
  const rules = config === undefined ? resolve(server, RULES) : config.policyFile;
  const isHere = LOOPBACK.includes(new URL(address).hostname);
  return {
    ...{ program: ownProgram(), url: address, trajectory: TRAJECTORY, tokenFile, wait },
    ...(isHere && rules !== undefined && isRulesFile(rules) && { rules }),
  };
}

/** The file of a token beside the server. `path`: of the settings of one project. */
export function tokenFileOf(server: string, agent: string, path?: string): string {
  const more = path === undefined ? '' : `-${hashText(path).slice(0, 12)}`;
  return resolve(server, `${agent}${more}.token`);
}

/** Writes a new token of an agent, and revokes the one before. */
export async function writeToken(
  config: ResolvedConfig,
  agent: string,
  { file, note }: { readonly file: string; readonly note: string },
): Promise<void> {
  const old = readToken(file);
  replaceFile(file, `${await newToken(config, agent, note)}\n`, OWN);
  if ('value' in old) await revoke(config, [old.value]);
}

/** Removes a token. Returns how many the server knew. */
export async function removeToken(server: string, agent: string, file: string): Promise<number> {
  const token = readToken(file);
  rmSync(file, { force: true });
  if ('fault' in token || !existsSync(server)) return 0;
  return revoke(await serverOf(server, agent), [token.value]);
}

/** Only the person may read a file with a token. */
const OWN = 0o600;

/** Faults of what installed hooks need: their program, their token and their server. */
export async function installedFaults(
  { program, url, tokenFile }: HookTerms,
  place: ServerPlace,
  agent: string,
): Promise<string[]> {
  const gone = goneFaults(program);
  if (tokenFile === undefined)
    return [...gone, ...(await serverFaults(url, process.env['ASSIZE_TOKEN'] ?? ''))];
  const token = readToken(tokenFile);
  if ('fault' in token) return [...gone, token.fault];
  return [...gone, ...(await hookedFaults(url, place, agent, token.value))];
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
