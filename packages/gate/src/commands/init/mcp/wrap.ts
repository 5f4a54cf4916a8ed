import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isRecord } from 'assize/internal/base';
import { textIn } from '../foreign-json.ts';

/** The members of a server's entry in a file of a client. */
export type Members = Readonly<Record<string, unknown>>;

/** How the gateway is started in place of a server. */
export interface GatewayTerms {
  /** The program and the first arguments of `assize`, both with absolute paths. */
  readonly program: readonly string[];
  readonly url: string;
  readonly tokenFile: string;
}

const URL_VARIABLE = 'MCP_SERVER_URL';
const HEADER_VARIABLE = 'MCP_SERVER_HEADER_';

/** Members that say that the client signs in at the server. */
const SIGN_IN = ['oauth', 'auth', 'headersHelper'];

/** Why an entry cannot get the gateway. Undefined: it can. */
export function faultOf({
  command,
  args = [],
  url,
  type = typeof command === 'string' ? 'stdio' : 'http',
  headers = {},
  cwd = '.',
  ...others
}: Members): string | undefined {
  if (typeof type !== 'string' || typeof cwd !== 'string')
    return 'its type or folder is not a text';
  if (typeof command === 'string') {
    if (type !== 'stdio') return `its type is ${type}, with a command`;
    if (!isTexts(args)) return 'its arguments are not a list of texts';
    const isLine = /\s/.test(command) && args.length === 0 && !existsSync(command);
    return isLine ? 'its command is a line for a shell; split it into command and args' : undefined;
  }
  if (typeof url !== 'string') return 'it has neither a command nor an address';
  if (type === 'sse')
    return 'it uses the older SSE transport, and the gateway does not support that';
  if (!['http', 'streamable-http', 'streamableHttp'].includes(type))
    return `its type ${type} is unknown`;
  if (SIGN_IN.some((name) => others[name] !== undefined))
    return 'the client signs in there with OAuth, and the gateway cannot sign in for it';
  return isRecord(headers) && isTexts(Object.values(headers))
    ? undefined
    : 'its headers are not texts';
}

/** Servers of equal names differ in this text. */
export function identityOf({ command, args, cwd, url }: Members): string {
  if (typeof command !== 'string') return JSON.stringify({ url });
  const folder = resolve(String(cwd ?? '.'));
  const words = [command, ...((args ?? []) as string[])].map((word) => placed(word, folder));
  return JSON.stringify({ words, ...(cwd !== undefined && { cwd }) });
}

/** Equal words are equal programs only in one folder: a file is known by its whole path. */
function placed(word: string, folder: string): string {
  if (!/[./\\]/.test(word) || word.startsWith('-')) return word;
  const path = resolve(folder, word);
  return existsSync(path) ? path : word;
}

/**
 * The entry of the gateway in front of a server. A server over HTTP gets a command too, so the
 * file needs no token. Its address and headers move into the environment of the command: other
 * users see a command line.
 */
export function wrapped(value: Members, server: string, terms: GatewayTerms): Members {
  const [command, ...words] = gatewayWords(server, terms);
  if (typeof value['command'] === 'string') {
    const args = [
      ...words,
      '--inherit-env',
      '--',
      value['command'],
      ...((value['args'] ?? []) as string[]),
    ];
    return { ...value, command, args };
  }
  const { url, headers = {}, env, type, ...others } = value;
  const own = Object.entries(headers as object).map(([name, text], i) => ({
    ...{ text, variable: `${HEADER_VARIABLE}${i + 1}` },
    option: ['--header', `${name}=${HEADER_VARIABLE}${i + 1}`],
  }));
  return {
    ...others,
    ...(type !== undefined && { type: 'stdio' }),
    command,
    args: [...words, '--upstream', URL_VARIABLE, ...own.flatMap(({ option }) => option)],
    env: {
      ...(env as object | undefined),
      [URL_VARIABLE]: url,
      ...Object.fromEntries(own.map(({ variable, text }) => [variable, text])),
    },
  };
}

/** The entry of the server behind a gateway of these terms. Undefined: it has no such gateway. */
export function unwrapped(value: Members, terms: GatewayTerms): Members | undefined {
  const { command, args, type, env, ...others } = value;
  const words = [command, ...(Array.isArray(args) ? args : [])];
  const start = gatewayWords('', terms);
  if (!start.every((word, i) => (word === '' ? typeof words[i] === 'string' : words[i] === word)))
    return undefined;
  const [option, second, ...rest] = words.slice(start.length).map(textIn);
  if (option === '--inherit-env' && second === '--')
    return { ...value, command: rest[0], args: rest.slice(1) };
  if (option !== '--upstream' || second !== URL_VARIABLE || !isRecord(env)) return undefined;
  const { [URL_VARIABLE]: url, ...variables } = env as Readonly<Record<string, string>>;
  const named = rest.filter((word) => word !== '--header').map((word) => word.split(/=(?=[^=]*$)/));
  const headers = Object.fromEntries(
    named.map(([name, variable = '']) => [name, variables[variable]]),
  );
  const left = Object.entries(variables).filter(([name]) => !name.startsWith(HEADER_VARIABLE));
  return {
    ...others,
    ...(type !== undefined && { type: 'http' }),
    url,
    ...(named.length > 0 && { headers }),
    ...(left.length > 0 && { env: Object.fromEntries(left) }),
  };
}

/** Whether an entry starts a program with the name of the gateway. Any project can write one. */
export function hasGateway({ command, args }: Members): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].map(textIn);
  const at = words.findIndex((word) => /^assize(?:\.js|\.cmd)?$/.test(basename(word)));
  return at >= 0 && words[at + 1] === 'mcp' && words.includes('--name');
}

function gatewayWords(
  server: string,
  { program, url, tokenFile }: GatewayTerms,
): readonly string[] {
  return [...program, 'mcp', '--name', server, '--url', url, '--token-file', tokenFile];
}

/** The name in the rules of a server behind the gateway. */
export function nameBehind({ args }: Members): string {
  const words = args as readonly string[];
  return words[words.indexOf('--name') + 1] as string;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
