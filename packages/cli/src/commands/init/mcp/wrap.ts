import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { EntryChange, Members } from './formats/entries.ts';

/** How the gateway is started in place of a server. */
export interface GatewayTerms {
  /** The program and the first arguments of `assize`, both with absolute paths. */
  readonly program: readonly [command: string, ...args: string[]];
  readonly url: string;
  readonly tokenFile: string;
}

/** An entry that can get the gateway: `identity` tells servers of equal names apart. */
export interface Wrappable {
  readonly identity: string;
  readonly remote: RemoteServer | undefined;
  /** The change of the entry, under the server's name in the rules. */
  change(server: string, terms: GatewayTerms): EntryChange;
}

/** A server over HTTP, as the client would ask it. */
export interface RemoteServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the client fills something in before it asks. */
  readonly hasVariables: boolean;
}

/** An entry that is left as it is. */
export interface LeftAlone {
  readonly why: string;
}

const URL_VARIABLE = 'MCP_SERVER_URL';
const HEADER_VARIABLE = 'MCP_SERVER_HEADER_';

/** Members that say that the client signs in at the server. */
const SIGN_IN = ['oauth', 'auth', 'headersHelper', 'oauth_resource', 'scopes', 'authProviderType', 'bearer_token'];

/** Whether an entry starts a program with the name of the gateway, which any project can write. */
export function hasGateway({ command, args }: Members): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
  const at = words.findIndex((word) => /^assize(?:\.js|\.cmd)?$/.test(basename(word)));
  return at >= 0 && words[at + 1] === 'mcp' && words.includes('--name');
}

/** Whether an entry starts the gateway of these terms: this program, this server and this token. */
export function hasOwnGateway({ command, args, url }: Members, terms: GatewayTerms): boolean {
  if (typeof url === 'string') return url.startsWith(`${terms.url}/mcp/`);
  const words = [command, ...(Array.isArray(args) ? args : [])];
  const start = [...terms.program, ...gatewayWords('', terms)];
  const named = start.length - 5;
  return start.every((word, i) => (i === named ? typeof words[i] === 'string' : words[i] === word));
}

/** Judges one entry of a client. `folder`: where the client starts its servers. */
export function wrappable(value: Members, folder: string): Wrappable | LeftAlone {
  const type = value['type'] ?? 'stdio';
  if (typeof value['command'] === 'string') {
    if (type !== 'stdio') return { why: `its type is ${String(type)}, with a command` };
    return localServer(value, value['command'], folder);
  }
  if (typeof value['url'] === 'string') return remoteServer(value, value['url']);
  return { why: 'it has neither a command nor an address' };
}

function localServer(value: Members, command: string, folder: string): Wrappable | LeftAlone {
  const args = value['args'] ?? [];
  if (!isTexts(args)) return { why: 'its arguments are no list of texts' };
  if (/\s/.test(command) && args.length === 0 && !existsSync(resolve(folder, command)))
    return { why: 'its command is a line for a shell; split it into command and args' };
  const cwd = typeof value['cwd'] === 'string' ? value['cwd'] : undefined;
  const words = [command, ...args].map((word) => placed(word, resolve(folder, cwd ?? '.')));
  return {
    identity: JSON.stringify({ words, ...(cwd !== undefined && { cwd }) }),
    remote: undefined,
    change: (server, { program: [node, ...first], ...terms }) => ({
      set: { command: node, args: [...first, ...gatewayWords(server, terms), '--inherit-env', '--', command, ...args] },
      remove: [],
    }),
  };
}

/** Equal words are equal programs only in one folder: a file is known by its whole path. */
function placed(word: string, folder: string): string {
  if (!/[./\\]/.test(word) || word.startsWith('-')) return word;
  const path = resolve(folder, word);
  return existsSync(path) ? path : word;
}

function gatewayWords(server: string, { url, tokenFile }: Pick<GatewayTerms, 'url' | 'tokenFile'>): string[] {
  return ['mcp', '--name', server, '--url', url, '--token-file', tokenFile];
}

/**
 * The gateway of a server over HTTP is a command too, so the client's file needs no token. The
 * address and the headers move into the environment of the command: other users see a command line.
 */
function remoteServer(value: Members, url: string): Wrappable | LeftAlone {
  const type = String(value['type'] ?? 'http');
  if (type === 'sse') return { why: 'it speaks the older transport with SSE, which the gateway does not' };
  if (!['http', 'streamable-http', 'streamableHttp', 'streamable_http'].includes(type))
    return { why: `its type ${type} is unknown` };
  if (SIGN_IN.some((name) => value[name] !== undefined))
    return { why: 'the client signs in there with OAuth, and the gateway cannot sign in for it' };
  const { headers = {}, http_headers = {}, env_http_headers = {}, bearer_token_env_var: bearer } = value;
  const written = { ...(headers as object), ...(http_headers as object) };
  const named = env_http_headers as Readonly<Record<string, unknown>>;
  if (!isTexts(Object.values({ ...written, ...named })) || (bearer !== undefined && typeof bearer !== 'string'))
    return { why: 'its headers are no texts' };
  const own = Object.entries(written).map(([name, text], i) => ({ name, text, variable: HEADER_VARIABLE + (i + 1) }));
  const words = [
    ...own.flatMap(({ name, variable }) => ['--header', `${name}=${variable}`]),
    ...Object.entries(named).flatMap(([name, variable]) => ['--header', `${name}=${String(variable)}`]),
    ...(bearer === undefined ? [] : ['--bearer', String(bearer)]),
  ];
  const variables = [...Object.values(named).map(String), ...(bearer === undefined ? [] : [String(bearer)])];
  const texts = Object.fromEntries(own.map(({ name, text }) => [name, text as string]));
  const moved = Object.fromEntries(own.map(({ variable, text }) => [variable, text]));
  return {
    identity: JSON.stringify({ url }),
    remote: { url, headers: texts, hasVariables: variables.length > 0 || /\$\{/.test(JSON.stringify([url, texts])) },
    change: (server, { program: [node, ...first], ...terms }) => ({
      set: {
        ...('type' in value && { type: 'stdio' }),
        command: node,
        args: [...first, ...gatewayWords(server, terms), '--upstream', URL_VARIABLE, ...words],
        env: { ...(value['env'] as object | undefined), [URL_VARIABLE]: url, ...moved },
        ...(variables.length > 0 && { env_vars: variables }),
      },
      remove: ['url', 'headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'].filter(
        (name) => name in value,
      ),
    }),
  };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
