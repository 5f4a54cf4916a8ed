import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  CliError,
  EXIT,
  type ExitCode,
  type Session,
  serverAddress,
  unreadable,
} from '@assize/command';
import { type Command, Option } from 'commander';
import { sandboxOfRules } from '../../sandbox/profile-in-force.ts';
import { SECRET_NAMES } from '../../sandbox/secret-names.ts';
import { type AgentOptions, withAgentWorks } from '../agents/agent-command.ts';
import { goneFaults, ownProgram } from '../agents/hook-command.ts';
import { hookedFaults } from '../agents/hooked-server.ts';
import { CLAUDE_CODE_START, toolNotes } from '../agents/offered-tools.ts';
import { CLAUDE_CODE, requireVersion } from '../agents/program-version.ts';
import { faultOf, showFaults, showInstalled, showRemoved } from '../agents/show.ts';
import { agreesTo } from '../agreement.ts';
import { type Copy, copyOf, putBack, writeCopied } from '../copied-file.ts';
import { difference } from '../difference.ts';
import {
  type ExcludeChange,
  excluding,
  including,
  requireUntracked,
  shownExclude,
  writeExclude,
} from '../git-exclude.ts';
import {
  type FoundServer,
  findServer,
  isTokenOf,
  newFiles,
  newToken,
  observationNotes,
  revoke,
  serverFaults,
  serverOf,
  TRAJECTORY,
  writeServerFiles,
} from '../own-server.ts';
import { firstRules } from '../server-files.ts';
import { grouped } from './grouped.ts';
import {
  addressIn,
  type HookTerms,
  managedSettings,
  missingEvents,
  programIn,
  type Settings,
  sandboxIn,
  settingsIn,
  TOKEN_VARIABLE,
  tokensIn,
  withHooks,
  withoutHooks,
} from './hooks.ts';
import { claudeSandbox, isOtherSandbox } from './sandbox.ts';
import {
  managedFiles,
  managedHooks,
  openedSandbox,
  settingsFaults,
  settingsFiles,
} from './settings-files.ts';

interface Options extends AgentOptions {
  readonly user?: boolean;
  readonly managed?: boolean;
  readonly claude: string;
  readonly sandbox?: boolean;
  readonly pending: HookTerms['pending'];
  readonly confirm: HookTerms['confirm'];
}

const AGENT = 'agent:claude-code';
/** Only the person may read a file with a token. */
const OWN = 0o600;

/** `assize init claude-code`: puts the hooks of Assize into the settings of Claude Code. */
export function initClaudeCode(init: Command): void {
  const command = init
    .command('claude-code')
    .description('put a server of Assize in front of the tool calls of Claude Code')
    .option(
      '--project',
      'only in the project of this folder, in .claude/settings.local.json (default)',
    )
    .option('--user', 'in all projects of the person, in ~/.claude/settings.json')
    .option('--managed', 'only print the managed-settings.json of an organisation, for --url')
    .option('--sandbox', 'turn on the sandbox of Claude Code, with the places of the rules')
    .addOption(new Option('--claude <path>', 'the program of Claude Code').default('claude'))
    .addOption(
      new Option(
        '--pending <answer>',
        'the answer after the wait: deny, or defer for runs without a terminal',
      )
        .choices(['deny', 'defer'])
        .default('deny'),
    )
    .addOption(
      new Option('--confirm <calls>', 'calls that the person at the terminal confirms too')
        .choices(['never', 'irreversible', 'changes', 'always'])
        .default('never'),
    );
  withAgentWorks<Options>(command, { install, undo, check });
}

async function install(session: Session, options: Options): Promise<ExitCode> {
  if (options.managed === true) return showManaged(session, options);
  const version = await requireVersion(options.claude, CLAUDE_CODE);
  const path = settingsPath(options);
  const [text, before] = readSettings(path);
  if (options.user !== true) requireUntracked(path);
  const found = await findServer(options.server, options.url);
  if (found.config !== undefined) await serverOf(options.server, AGENT);
  const hidden = excluding(path);
  const sandbox = await sandboxOf(options, found, path, before);
  const terms = { ...termsOf(found, options), ...(sandbox !== undefined && { sandbox }) };
  const after = withHooks(withoutHooks(before), { ...terms, token: '<a token>' });
  if (!(await agreed(session, options, [{ path, before, after }, hidden, found])))
    return EXIT.negative;
  const files = writeServerFiles(options.server, found, sandbox !== undefined);
  const config = await serverOf(options.server, AGENT);
  const [old] = tokensIn(before);
  const isKept = old !== undefined && (await isTokenOf(config, AGENT, old));
  const token = isKept ? old : await newToken(config, AGENT, `hooks in ${path}`);
  await revoke(
    config,
    tokensIn(before).filter((each) => each !== token),
  );
  // Git knows about the file before the token is in it.
  writeExclude(hidden);
  const copy = copyOf(path, text);
  const written = textOf(withHooks(before, { ...terms, token }));
  writeCopied(path, originalOf(text, before, copy), written, copy, OWN);
  const { server } = options;
  const { address } = found;
  return showInstalled(session, {
    settings: path,
    files,
    version,
    config,
    address,
    server,
    program: 'Claude Code',
  });
}

async function undo(session: Session, options: Options): Promise<ExitCode> {
  const path = settingsPath(options);
  const [text, before] = readSettings(path);
  const after = withoutHooks(before);
  const tokens = tokensIn(before);
  if (tokens.length === 0 && after === before)
    throw new CliError('usage', `${path} has no hooks of Assize.`);
  const listed = including(path);
  if (!(await agreed(session, options, [{ path, before, after }, listed]))) return EXIT.negative;
  const copy = copyOf(path, text);
  putBack(path, originalOf(text, before, copy), copy);
  writeExclude(listed);
  const revoked = existsSync(options.server)
    ? await revoke(await serverOf(options.server, AGENT), tokens)
    : 0;
  return showRemoved(session, path, { revoked, copy });
}

/** Prints the settings of an organisation, which its people get with their machines. */
function showManaged({ out }: Session, { url, wait, pending, confirm }: Options): ExitCode {
  if (url === undefined)
    throw new CliError('usage', 'Pass --url with the address of the server of your organisation.');
  const terms = { url: serverAddress(url), trajectory: TRAJECTORY, wait, pending, confirm };
  out.document(managedSettings(terms) as never);
  return EXIT.ok;
}

async function check(session: Session, options: Options): Promise<ExitCode> {
  const { platform, env } = process;
  const managed = managedHooks({ platform, env });
  const files = settingsFiles({ home: homedir(), project: resolve('.'), platform, env });
  const path = managed?.path ?? settingsPath(options);
  const settings = managed?.settings ?? readSettings(path)[1];
  const missing = missingEvents(settings);
  const address = addressIn(settings);
  const [own = ''] = tokensIn(settings);
  const faults = [
    ...(missing.length > 0 ? [`${path} lacks the hooks of ${missing.join(', ')}`] : []),
    ...goneFaults(programIn(settings)),
    ...(managed === undefined
      ? [...settingsFaults(files, address), ...(await sandboxChecked(options, files, settings))]
      : settingsFaults(managedFiles({ platform, env }), address, true)),
    ...(await requireVersion(options.claude, CLAUDE_CODE).then(() => [], faultOf)),
    ...(missing.length > 0 || address === undefined
      ? []
      : managed === undefined
        ? await hookedFaults(address, options, AGENT, own)
        : await serverFaults(address, env[TOKEN_VARIABLE] ?? '')),
  ];
  const { config } = await findServer(options.server, undefined);
  const observed = config === undefined ? [] : observationNotes(config);
  const notes = await toolNotes('claude-code', options.claude, CLAUDE_CODE_START);
  return showFaults(session, path, { faults, notes: [...observed, ...notes] });
}

/** The sandbox of the rules, as the settings of Claude Code have it. @throws CliError `usage` */
async function sandboxOf(
  { sandbox = false, user = false, server }: Options,
  found: FoundServer,
  path: string,
  before: Settings,
): Promise<HookTerms['sandbox']> {
  if (!sandbox) return undefined;
  if (user) throw new CliError('usage', 'A sandbox is of one project: leave --user.');
  if (withoutHooks(before)['sandbox'] !== undefined)
    throw new CliError(
      'usage',
      `${path} has a sandbox of its own. Take it out, or leave --sandbox.`,
    );
  return { file: path, ...(await rulesSandbox(path, server, found)) };
}

async function rulesSandbox(path: string, server: string, { address, files }: FoundServer) {
  const isNew = files.length > 0;
  const place = isNew ? { server, text: firstRules('${project}', undefined, true) } : { server };
  const { profile, digest } = await sandboxOfRules(place, { agent: 'claude-code' });
  const unreadable = [...new Set([...profile.unreadable, path])];
  const secrets = Object.keys(process.env).filter((name) => SECRET_NAMES.test(name));
  const settings = claudeSandbox({ ...profile, unreadable }, { server: address, secrets });
  return { digest, settings };
}

/** Faults of the sandbox in the settings, compared with the rules. */
async function sandboxChecked(
  { server }: Options,
  files: readonly string[],
  settings: Settings,
): Promise<readonly string[]> {
  const own = sandboxIn(settings);
  if (own === undefined) return [];
  const found = await findServer(server, addressIn(settings));
  const { digest, settings: expected } = await rulesSandbox(own.file, server, found);
  const isOther = own.digest !== digest || isOtherSandbox(settings['sandbox'], expected);
  const again = 'run assize init claude-code --sandbox again';
  return [
    ...openedSandbox(files, own.file),
    ...(isOther ? [`the sandbox in ${own.file} is not that of the rules; ${again}`] : []),
  ];
}

/** Shows the change of the settings, and asks. `--yes` agrees, and so does no change at all. */
function agreed(
  session: Session,
  { yes }: Options,
  [{ path, before, after }, exclude, server]: readonly [
    SettingsChange,
    ExcludeChange | undefined,
    FoundServer?,
  ],
): Promise<boolean> {
  const lines = grouped(difference(shownText(before), shownText(after)));
  return agreesTo(session, {
    yes,
    changes: [
      ...(server === undefined ? [] : newFiles(server)),
      { path, lines },
      ...shownExclude(exclude),
    ],
  });
}

interface SettingsChange {
  readonly path: string;
  readonly before: Settings;
  readonly after: Settings;
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

/** A token does not belong on a terminal. */
function withoutTokens(settings: Settings): Settings {
  const text = tokensIn(settings).reduce(
    (all, token) => all.replaceAll(token, '<a token>'),
    JSON.stringify(settings),
  );
  return JSON.parse(text) as Settings;
}

function settingsPath({ user }: Options): string {
  return user === true
    ? join(homedir(), '.claude', 'settings.json')
    : resolve('.claude', 'settings.local.json');
}

/** @throws CliError `unreadable_file`, `bad_input` */
function readSettings(path: string): readonly [text: string, settings: Settings] {
  if (!existsSync(path)) return ['', {}];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable('The settings of Claude Code', error, { path });
  }
  return [text, settingsIn(path, text)];
}

/** The text without the hooks. A file that is still as written has it in its copy. */
function originalOf(text: string, settings: Settings, copy: Copy | undefined): string {
  if (copy?.isCurrent === true) return copy.text;
  const without = withoutHooks(settings);
  return without === settings ? text : textOf(without);
}

function textOf(settings: Settings): string {
  return Object.keys(settings).length === 0
    ? '{}\n'
    : `${JSON.stringify(settings, undefined, 2)}\n`;
}

function termsOf(
  { address }: FoundServer,
  { wait, pending, confirm }: Options,
): Omit<HookTerms, 'token'> {
  return {
    program: ownProgram(),
    url: address,
    trajectory: TRAJECTORY,
    wait,
    pending,
    confirm,
  };
}
