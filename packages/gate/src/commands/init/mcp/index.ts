import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  bold,
  CliError,
  EXIT,
  type ExitCode,
  inSession,
  isInstalled,
  line,
  repeatable,
  replaceFile,
  type Session,
  type StorelessOptions,
  unreadable,
  withoutStore,
} from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import { loadConfig } from 'assize/internal/config';
import type { Command } from 'commander';
import { readToken } from '../../hook/read-token.ts';
import { goneFaults } from '../agents/hook-command.ts';
import { hookedFaults } from '../agents/hooked-server.ts';
import { showKept } from '../agents/show.ts';
import { agreesTo } from '../agreement.ts';
import { type Copy, copyOf, putBack, writeCopied } from '../copied-file.ts';
import { difference } from '../difference.ts';
import {
  findServer,
  isTokenOf,
  newFiles,
  newToken,
  nextCommands,
  observationNotes,
  revoke,
  serverOf,
  serverOption,
  writeServerFiles,
} from '../own-server.ts';
import { MCP_AGENT } from '../server-files.ts';
import { type Names, namesFile, readNames, serverNameOf } from './names.ts';
import { serversIn, withServers } from './servers-file.ts';
import { toolsOf } from './start.ts';
import {
  faultOf,
  type GatewayTerms,
  hasGateway,
  identityOf,
  type Members,
  nameBehind,
  unwrapped,
  wrapped,
} from './wrap.ts';

interface Options extends StorelessOptions {
  readonly only: readonly string[];
  readonly server: string;
  readonly url?: string;
  readonly yes?: boolean;
  readonly undo?: boolean;
  readonly check?: boolean;
}

/** `assize init mcp`: puts the gateway in front of the MCP servers of a file with `mcpServers`. */
export function initMcp(init: Command): void {
  withoutStore(
    init
      .command('mcp')
      .description('put a server of Assize in front of the MCP servers of a client')
      .argument('[file]', 'the client’s file, with the member mcpServers', '.mcp.json')
      .addOption(repeatable('--only <name>', 'only the server that has this name in the file'))
      .addOption(serverOption())
      .option('--url <url>', 'address of the server (default: that of its configuration)')
      .option('--yes', 'write without a question')
      .option('--undo', 'take the gateway out again')
      .option('--check', 'start each gateway, and say which tools it shows'),
  ).action(
    inSession(async (session: Session, options: Options, file: string) => {
      const place = await readPlace(file, options);
      if (options.check === true) return check(session, place, options);
      return options.undo === true
        ? undo(session, place, options)
        : install(session, place, options);
    }),
  );
}

/** A client's file, and the gateway of its servers. */
interface Place {
  readonly path: string;
  readonly text: string;
  readonly copy: Copy | undefined;
  readonly terms: GatewayTerms;
}

async function readPlace(file: string, { server, url }: Options): Promise<Place> {
  if (!existsSync(file))
    throw new CliError(
      'usage',
      `There is no file ${file}. Name a client's file that has the member mcpServers.`,
    );
  const path = realpathSync(file);
  try {
    const text = readFileSync(path, 'utf8');
    const { address } = await findServer(server, url);
    // A client of the desktop starts the gateway with a short PATH, so the paths are whole.
    const program = [process.execPath, ownFile()];
    const tokenFile = resolve(server, `mcp-${hashText(path).slice(0, 12)}.token`);
    return { path, text, copy: copyOf(path, text), terms: { program, url: address, tokenFile } };
  } catch (error) {
    if (isAssizeError(error)) throw error;
    throw unreadable('The configuration of an MCP client', error, { path });
  }
}

/** The file of this command, whichever link it was started by. */
function ownFile(): string {
  return realpathSync(process.argv[1] as string);
}

/** A server of the file, with its state after the change. */
interface Planned {
  readonly name: string;
  readonly state: 'wrapped' | 'behind' | 'left' | 'restored';
  /** The name in the rules. */
  readonly server?: string;
  /** Why the server is left as it is. */
  readonly why?: string;
}

const FOREIGN =
  'it has a gateway that this command did not write; look at it, or take it out by hand';

/** The text without the gateway. A file that is still as written has it in its copy. */
function originalOf({ path, text, copy, terms }: Place): string {
  if (copy?.isCurrent === true) return copy.text;
  const own = serversIn(path, text).flatMap((entry) => {
    const value = unwrapped(entry.value, terms);
    return value === undefined ? [] : [[entry, value] as const];
  });
  return own.length === 0 ? text : withServers(path, text, new Map(own));
}

/** The servers that have the gateway, by their places. The copy tells, or else the terms do. */
function behindIn({ path, text, copy, terms }: Place): ReadonlySet<string> {
  const before = copy?.isCurrent === true ? serversIn(path, copy.text) : undefined;
  const own = serversIn(path, text).filter(({ at, value }) =>
    before === undefined
      ? unwrapped(value, terms) !== undefined
      : !before.some((one) => isDeepStrictEqual([one.at, one.value], [at, value])),
  );
  return new Set(own.map(({ at }) => JSON.stringify(at)));
}

/** The text in which the chosen servers have the gateway, and the names of the servers in rules. */
function planOf(
  { path, terms }: Place,
  original: string,
  {
    taken,
    isChosen,
  }: { readonly taken: Names; readonly isChosen: (at: string, name: string) => boolean },
) {
  const names: Record<string, string> = { ...taken };
  const left: Planned[] = [];
  const changes = serversIn(path, original).flatMap((entry) => {
    const { name, at, value } = entry;
    if (!isChosen(JSON.stringify(at), name)) return [];
    const why = hasGateway(value) ? FOREIGN : faultOf(value);
    if (why !== undefined) {
      left.push({ name, state: 'left', why });
      return [];
    }
    const identity = identityOf(value);
    const server = serverNameOf(name, identity, names);
    names[server] = identity;
    return [[entry, wrapped(value, server, terms)] as const];
  });
  return { after: withServers(path, original, new Map(changes)), names, left };
}

async function install(session: Session, place: Place, options: Options): Promise<ExitCode> {
  requireSdk();
  const { path, text, terms } = place;
  const { only, server } = options;
  const found = await findServer(server, options.url);
  if (found.config !== undefined) await serverOf(server, MCP_AGENT);
  const behind = behindIn(place);
  const isMeant = (name: string): boolean => only.length === 0 || only.includes(name);
  const original = originalOf(place);
  const isChosen = (at: string, name: string): boolean => behind.has(at) || isMeant(name);
  const { after, names, left } = planOf(place, original, { taken: readNames(server), isChosen });
  const planned: readonly Planned[] = [
    ...left,
    ...serversIn(path, after).flatMap(({ name, at, value }): Planned[] => {
      if (!isMeant(name) || unwrapped(value, terms) === undefined) return [];
      const state = behind.has(JSON.stringify(at)) ? 'behind' : 'wrapped';
      return [{ name, state, server: nameBehind(value) }];
    }),
  ];
  if (planned.length === 0) throw new CliError('usage', `${path} names no such MCP server.`);
  const changes = [...newFiles(found), { path, lines: shownLines(path, text, after) }];
  if (!(await agreesTo(session, { yes: options.yes, changes }))) return EXIT.negative;
  requireUnchanged(place);
  const made = writeServerFiles(server, found);
  const config = await serverOf(server, MCP_AGENT);
  const token = readToken(terms.tokenFile);
  if (!('value' in token && (await isTokenOf(config, MCP_AGENT, token.value))))
    replaceFile(
      terms.tokenFile,
      `${await newToken(config, MCP_AGENT, `MCP servers of ${path}`)}\n`,
      OWN,
    );
  if (after !== text) {
    replaceFile(namesFile(server), `${JSON.stringify(names, undefined, 2)}\n`, OWN);
    writeCopied(path, original, after, place.copy);
  }
  const next = nextCommands(config, found.address);
  if (session.json)
    session.out.document({ file: path, servers: [...planned], made: [...made], ...next });
  else {
    for (const file of made) session.out.line(line`${file}`);
    tell(session, path, planned);
    if (after !== text)
      tellNext(session, path, {
        ...next,
        planned,
        rules: config.policyFile ?? 'the rules file',
        observed: observationNotes(config),
      });
  }
  return EXIT.ok;
}

/** Only the person may read a file with a token. */
const OWN = 0o600;

/** The gateway needs the SDK when the client starts it, and then its error would not be seen. */
function requireSdk(): void {
  const packages = ['@modelcontextprotocol/client', '@modelcontextprotocol/server'];
  if (packages.every(isInstalled)) return;
  throw new CliError(
    'usage',
    `The gateway needs the MCP SDK. Run npm install ${packages.join(' ')}.`,
  );
}

/** A client may have written its file while the person read the change. @throws CliError `usage` */
function requireUnchanged({ path, text }: Place): void {
  if (readFileSync(path, 'utf8') === text) return;
  throw new CliError(
    'usage',
    `${path} was changed meanwhile. End its client, and repeat the command.`,
  );
}

async function undo(session: Session, place: Place, options: Options): Promise<ExitCode> {
  const { path, text, copy, terms } = place;
  const { only, server } = options;
  const behind = behindIn(place);
  if (behind.size === 0) throw new CliError('usage', `${path} has no gateway of this command.`);
  const original = originalOf(place);
  const isMeant = (name: string): boolean => only.length === 0 || only.includes(name);
  const isChosen = (at: string, name: string): boolean => behind.has(at) && !isMeant(name);
  const { after } = planOf(place, original, { taken: readNames(server), isChosen });
  const changes = [{ path, lines: shownLines(path, text, after) }];
  if (!(await agreesTo(session, { yes: options.yes, changes }))) return EXIT.negative;
  requireUnchanged(place);
  let revoked = 0;
  if (after === original) {
    putBack(path, original, copy);
    const token = readToken(terms.tokenFile);
    rmSync(terms.tokenFile, { force: true });
    if ('value' in token) revoked = await revoke(await loadConfig({ from: server }), [token.value]);
  } else writeCopied(path, original, after, copy);
  const planned = serversIn(path, text).flatMap(({ name, at }): Planned[] =>
    behind.has(JSON.stringify(at)) && isMeant(name) ? [{ name, state: 'restored' }] : [],
  );
  if (session.json) session.out.document({ file: path, servers: [...planned], revoked });
  else {
    tell(session, path, planned);
    if (copy?.isCurrent === false) showKept(session.out, path, copy);
  }
  return EXIT.ok;
}

/** Starts each gateway as its client would. It pins definitions, as in a session. */
async function check(
  session: Session,
  { path, text, terms }: Place,
  options: Options,
): Promise<ExitCode> {
  const token = readToken(terms.tokenFile);
  const faults = [
    ...goneFaults(terms.program),
    ...('fault' in token
      ? [token.fault]
      : await hookedFaults(terms.url, options, MCP_AGENT, token.value)),
  ];
  const servers: { name: string; tools?: readonly string[]; fault?: string }[] = [];
  for (const { name, value } of serversIn(path, text)) {
    if (options.only.length > 0 && !options.only.includes(name)) continue;
    if (unwrapped(value, terms) !== undefined) {
      if (faults.length === 0) servers.push({ name, ...(await checked(value)) });
    } else if (hasGateway(value)) servers.push({ name, fault: FOREIGN });
  }
  if (servers.length === 0 && faults.length === 0)
    throw new CliError('usage', 'No server is behind Assize here. Begin with assize init mcp.');
  const ok = faults.length === 0 && servers.every(({ fault }) => fault === undefined);
  if (session.json) session.out.document({ ok, faults, servers });
  else {
    for (const fault of faults) session.out.line(line`${fault}`);
    for (const { name, tools = [], fault } of servers) {
      const shown =
        tools.length === 0
          ? 'no tool: approve the definitions in the inbox, or trust the server'
          : tools.join(', ');
      session.out.line(line`${name}: ${fault ?? `answers, and shows ${shown}`}`);
    }
  }
  return ok ? EXIT.ok : EXIT.negative;
}

async function checked(
  value: Members,
): Promise<{ readonly tools?: readonly string[]; readonly fault?: string }> {
  try {
    return { tools: await toolsOf(value) };
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return { fault: error.message };
  }
}

/** The lines that a change differs in. Values of environments and of headers are not shown. */
function shownLines(path: string, before: string, after: string): readonly string[] {
  const hidden = serversIn(path, before)
    .flatMap(({ value: { env, headers } }) =>
      [env, headers].flatMap((members) => Object.values(members ?? {})),
    )
    .map((text) => JSON.stringify(text).slice(1, -1))
    .filter((text) => text.length >= SECRET_MIN);
  return difference(before, after).map((shown) =>
    hidden.reduce((text, secret) => text.replaceAll(secret, '…'), shown),
  );
}

/** The shortest text that is taken for a secret. */
const SECRET_MIN = 6;

function tell({ out }: Session, path: string, planned: readonly Planned[]): void {
  out.line(bold(line`${path}`));
  for (const entry of planned) out.line(line`  ${entry.name}: ${stateText(entry)}`);
}

function stateText({ name, state, server = name, why }: Planned): string {
  if (state === 'behind') return 'is behind Assize already';
  if (state === 'restored') return 'is as it was';
  if (state === 'left') return `is left alone: ${why}`;
  return `is behind Assize now${server === name ? '' : `; rules name it ${server}`}`;
}

interface Next extends ReturnType<typeof nextCommands> {
  readonly planned: readonly Planned[];
  readonly rules: string;
  /** Whether they only observe, as notes. */
  readonly observed: readonly string[];
}

function tellNext(
  { out }: Session,
  path: string,
  { serve, signIn, planned, rules, observed }: Next,
): void {
  const names = planned.flatMap(({ server }) => server ?? []);
  if (basename(path) === '.mcp.json' || isTracked(path))
    out.line(
      line`${path} belongs to a project, and has paths of this machine and of your token now. Do not commit it.`,
    );
  if (ownFile().includes('_npx'))
    out.line(
      line`This copy is in the cache of npx, and npx may delete it. Run npm install --global assize @assize/cli, and repeat.`,
    );
  out.line(line``);
  out.line(bold('Next'));
  out.line(line`  ${serve}`);
  out.line(line`  ${signIn}`);
  out.line(line`  Start the client again.`);
  out.line(line``);
  out.line(bold('The first session'));
  const asks =
    'A tool is hidden until a person approves its definition in the inbox. After that, each call asks.';
  for (const text of observed.length > 0 ? observed : [asks]) out.line(line`  ${text}`);
  out.line(line`  To allow more, write in ${rules}:`);
  out.line(line`    trust: [${names.join(', ')}]`);
  out.line(line`    rules:`);
  out.line(line`      - { id: look, allow: '${names[0] ?? 'NAME'}/*', class: read }`);
}

function isTracked(path: string): boolean {
  const args = ['-C', dirname(path), 'ls-files', '--error-unmatch', '--', basename(path)];
  return spawnSync('git', args, { stdio: 'ignore' }).status === 0;
}
