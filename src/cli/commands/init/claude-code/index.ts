import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { isInstance } from '#base';
import { addMicros } from '#canon';
import { CONFIG_FILES, loadConfig, type ResolvedConfig, rootKeyOf } from '#config';
import { systemClock } from '#oracle';
import { type Credentials, credentialsOf, publicAddress } from '#server';
import { openStore } from '#stores';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { unreadable } from '../../../files/file-faults.ts';
import { makeFolder } from '../../../files/folders.ts';
import { upTo, withoutStore } from '../../../files/options.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import { writeNew } from '../../../files/write-file.ts';
import { inSession, type Session, type StorelessOptions } from '../../../store/session.ts';
import { asksYes, canAsk } from '../../../terminal/confirm.ts';
import { bold, line } from '../../../terminal/printable.ts';
import { difference } from './difference.ts';
import { addressIn, type HookTerms, missingEvents, type Settings, tokensIn, withHooks, withoutHooks } from './hooks.ts';
import { requireClaudeCode } from './program-version.ts';
import { firstRules, serverConfig } from './server-files.ts';

interface Options extends StorelessOptions {
  readonly user?: boolean;
  readonly undo?: boolean;
  readonly check?: boolean;
  readonly yes?: boolean;
  readonly server: string;
  readonly claude: string;
  readonly url?: string;
  readonly wait: number;
  readonly pending: HookTerms['pending'];
  readonly confirm: HookTerms['confirm'];
}

const AGENT = 'agent:claude-code';
const TRAJECTORY = 'calls';
const TOKEN_DAYS = 365;
const DAY_MICROS = 86_400_000_000;
/** Only the person may read a file with a token. */
const OWN = 0o600;

/** `assize init claude-code`: puts the hooks of Assize into the settings of Claude Code. */
export function initClaudeCode(init: Command): void {
  withoutStore(
    init
      .command('claude-code')
      .description('put a server of Assize in front of the tool calls of Claude Code')
      .option('--project', 'only in the project of this folder, in .claude/settings.local.json (default)')
      .option('--user', 'in all projects of the person, in ~/.claude/settings.json')
      .addOption(
        new Option('--server <folder>', 'folder of the server’s configuration, rules and store').default(
          join(homedir(), '.assize'),
          '~/.assize',
        ),
      )
      .option('--url <url>', 'address of the server (default: that of its configuration)')
      .addOption(new Option('--claude <path>', 'the program of Claude Code').default('claude'))
      .addOption(new Option('--wait <s>', 'seconds that a call waits for a person').argParser(upTo(50)).default(20))
      .addOption(
        new Option('--pending <answer>', 'the answer after that: deny, or defer for runs without a terminal')
          .choices(['deny', 'defer'])
          .default('deny'),
      )
      .addOption(
        new Option('--confirm <calls>', 'calls that the person at the terminal confirms too')
          .choices(['never', 'irreversible', 'changes', 'always'])
          .default('never'),
      )
      .option('--yes', 'write without a question')
      .option('--undo', 'take the hooks out again, and revoke their token')
      .option('--check', 'only say whether the hooks are complete and the server answers'),
  ).action(
    inSession((session: Session, options: Options) => {
      if (options.check === true) return check(session, options);
      return options.undo === true ? undo(session, options) : install(session, options);
    }),
  );
}

async function install(session: Session, options: Options): Promise<ExitCode> {
  const version = await requireClaudeCode(options.claude);
  const path = settingsPath(options);
  const before = readSettings(path);
  const made = writeServerFiles(options.server);
  const config = await serverOf(options.server);
  const shown = termsOf(config, options, '<a new token>');
  const isAgreed = await agreed(session, options, path, [before, withHooks(withoutHooks(before), shown)]);
  if (!isAgreed) return EXIT.negative;
  const token = await withCredentials(config, async ({ tokens }) => {
    const created = systemClock.now();
    const expires = addMicros(created, TOKEN_DAYS * DAY_MICROS);
    const terms = { principal: AGENT, kinds: ['agent'] as const, created, expires, note: `hooks in ${path}` };
    return (await tokens.create({ ...terms, kinds: [...terms.kinds] })).token;
  });
  await revoke(config, tokensIn(before));
  writeSettings(path, withHooks(before, termsOf(config, options, token)));
  const serve = `assize serve --config ${config.file}`;
  const signIn = `assize token sign-in ${personIn(config)} --config ${config.file}`;
  if (session.json)
    session.out.document({ settings: path, server: options.server, files: made, version, serve, signIn });
  else {
    for (const file of [...made, path]) session.out.line(line`${file}`);
    session.out.line(line``);
    session.out.line(bold('Next'));
    session.out.line(line`  ${serve}`);
    session.out.line(line`  ${signIn}`);
    session.out.line(line`  Start Claude Code here. Rules: ${join(options.server, 'assize.yaml')}`);
  }
  return EXIT.ok;
}

async function undo(session: Session, options: Options): Promise<ExitCode> {
  const path = settingsPath(options);
  const before = readSettings(path);
  const after = withoutHooks(before);
  const tokens = tokensIn(before);
  if (tokens.length === 0 && after === before) throw new CliError('usage', `${path} has no hooks of Assize.`);
  if (!(await agreed(session, options, path, [before, after]))) return EXIT.negative;
  writeSettings(path, after);
  const revoked = existsSync(options.server) ? await revoke(await serverOf(options.server), tokens) : 0;
  if (session.json) session.out.document({ settings: path, revoked });
  else
    session.out.line(
      line`${path} has no hooks of Assize any more, and ${revoked === 1 ? 'its token is' : `${revoked} tokens are`} revoked.`,
    );
  return EXIT.ok;
}

async function check(session: Session, options: Options): Promise<ExitCode> {
  const path = settingsPath(options);
  const settings = readSettings(path);
  const missing = missingEvents(settings);
  const [token = ''] = tokensIn(settings);
  const faults = [
    ...(missing.length > 0 ? [`${path} lacks the hooks of ${missing.join(', ')}`] : []),
    ...(settings['disableAllHooks'] === true ? [`${path} has disableAllHooks`] : []),
    ...(await requireClaudeCode(options.claude).then(() => [], messageOf)),
    ...(missing.length > 0 ? [] : await hookedFaults(settings, options, token)),
  ];
  if (session.json) session.out.document({ settings: path, ok: faults.length === 0, faults });
  else
    for (const fault of faults.length === 0 ? ['The hooks are complete, and the server answers.'] : faults)
      session.out.line(line`${fault}`);
  return faults.length === 0 ? EXIT.ok : EXIT.negative;
}

function messageOf(error: unknown): string[] {
  if (isInstance(error, CliError)) return [error.message];
  throw error;
}

/** Faults of the server that the hooks name. A server of another address never gets the token. */
async function hookedFaults(settings: Settings, { url, server }: Options, token: string): Promise<string[]> {
  const named = addressIn(settings);
  const expected = url === undefined ? publicAddress((await serverOf(server)).server) : addressOf(url);
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

/** Shows the change of the settings, and asks. `--yes` agrees, and so does no change at all. */
async function agreed(
  { out, json, interruption }: Session,
  { yes }: Options,
  path: string,
  [before, after]: readonly [Settings, Settings],
): Promise<boolean> {
  const lines = difference(shownText(before), shownText(after));
  if (!json) {
    out.line(bold(`Changes of ${path}`));
    for (const each of lines) out.line(line`${each}`);
  }
  if (yes === true) return true;
  if (!canAsk()) throw new CliError('usage', `The command would change ${path}. Pass --yes, or run it in a terminal.`);
  return asksYes(`Change ${path}?`, interruption);
}

/** One line for each member and each event, without tokens. */
function shownText(settings: Settings): string {
  const { hooks, ...others } = withoutTokens(settings);
  const lines = Object.entries(others).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const events = Object.entries((hooks ?? {}) as Settings).map(
    ([name, value]) => `hooks.${name}: ${JSON.stringify(value)}`,
  );
  return [...lines, ...events].join('\n');
}

/** A token is no text for a terminal. */
function withoutTokens(settings: Settings): Settings {
  const text = tokensIn(settings).reduce((all, token) => all.replaceAll(token, '<a token>'), JSON.stringify(settings));
  return JSON.parse(text) as Settings;
}

function settingsPath({ user }: Options): string {
  return user === true ? join(homedir(), '.claude', 'settings.json') : resolve('.claude', 'settings.local.json');
}

/** @throws CliError `unreadable_file`, `bad_input` */
function readSettings(path: string): Settings {
  if (!existsSync(path)) return {};
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable('The settings of Claude Code', error, { path });
  }
  const settings = parsed(text);
  if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) return settings as Settings;
  throw new CliError('bad_input', `${path} is no JSON object. Correct it, and repeat the command.`);
}

/** Undefined if the text is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (isInstance(error, SyntaxError)) return undefined;
    throw error;
  }
}

function writeSettings(path: string, settings: Settings): void {
  makeFolder(dirname(path));
  replaceFile(path, textOf(settings), OWN);
}

function textOf(settings: Settings): string {
  return Object.keys(settings).length === 0 ? '{}\n' : `${JSON.stringify(settings, undefined, 2)}\n`;
}

/** Writes the files of a new server. An existing configuration is left as it is. */
function writeServerFiles(folder: string): readonly string[] {
  const config = join(folder, 'assize.config.json');
  if (CONFIG_FILES.some((name) => existsSync(join(folder, name)))) return [];
  const { username } = userInfo();
  const person = `human:${username.replace(/[^A-Za-z0-9_.-]/g, '-') || 'me'}`;
  const rules = join(folder, 'assize.yaml');
  const files: (readonly [string, string])[] = [[config, serverConfig(AGENT, person)]];
  if (!existsSync(rules)) files.push([rules, firstRules(realpathSync('.'))]);
  writeNew(files, false);
  return files.map(([path]) => path);
}

/** @throws CliError `usage` if the configuration has no agent or no world for the hooks */
async function serverOf(folder: string): Promise<ResolvedConfig> {
  const config = await loadConfig({ from: folder });
  const grants = config.principals.get(AGENT)?.grants ?? [];
  const isReady = grants.length > 0 && config.worlds[TRAJECTORY]?.domain === 'gateway';
  if (isReady) return config;
  throw new CliError(
    'usage',
    `${config.file ?? folder} needs the agent ${AGENT} with a grant, and the world ${TRAJECTORY} of the domain gateway. Add them, or pass another --server.`,
  );
}

function personIn({ principals }: ResolvedConfig): string {
  return [...principals.values()].find(({ kinds }) => kinds.includes('counselor'))?.name ?? 'PERSON';
}

function termsOf({ server }: ResolvedConfig, { url, wait, pending, confirm }: Options, token: string): HookTerms {
  return {
    url: url === undefined ? publicAddress(server) : addressOf(url),
    trajectory: TRAJECTORY,
    token,
    wait,
    pending,
    confirm,
  };
}

async function withCredentials<T>(config: ResolvedConfig, work: (credentials: Credentials) => Promise<T>): Promise<T> {
  const store = await openStore(config.store);
  try {
    return await work(credentialsOf(store, rootKeyOf(config.store)));
  } finally {
    await store.close();
  }
}

/** Revokes the tokens that the store knows. Returns how many. */
async function revoke(config: ResolvedConfig, tokens: readonly string[]): Promise<number> {
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

/** @throws CliError `usage` */
function addressOf(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return new URL(url).origin;
  throw new CliError('usage', `'${url}' is not the address of a server. Pass --url http://127.0.0.1:PORT.`);
}
