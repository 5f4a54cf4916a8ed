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
import { type IgnoredList, mountPoints, writeList } from '../../sandbox/mount-points.ts';
import { type AgentOptions, withAgentWorks } from '../agents/agent-command.ts';
import { clientSandbox, otherSandbox, refuseOwnSandbox } from '../agents/client-sandbox.ts';
import type { HookTerms } from '../agents/hook-command.ts';
import {
  hookTerms,
  installedFaults,
  removeToken,
  tokenFileOf,
  writeToken,
} from '../agents/hooked-server.ts';
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
  shownExclude,
  writeExclude,
} from '../git-exclude.ts';
import {
  type FoundServer,
  findServer,
  newFiles,
  observationNotes,
  serverOf,
  TRAJECTORY,
  writeServerFiles,
} from '../own-server.ts';
import { grouped } from './grouped.ts';
import {
  managedSettings,
  missingEvents,
  type Settings,
  settingsIn,
  termsIn,
  withHooks,
  withoutHooks,
} from './hooks.ts';
import { type ClaudeSandbox, claudeSandbox, isOtherSandbox } from './sandbox.ts';
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
  const found = await findServer(options.server, options.url);
  if (found.config !== undefined) await serverOf(options.server, AGENT);
  const token = tokenFile(options);
  const { pending, confirm } = options;
  const terms = { ...hookTerms(found, options, token), pending, confirm };
  const sandbox = await sandboxOf(options, found, path, before);
  const after = withHooks(before, { ...terms, ...sandbox?.terms }, sandbox?.added);
  const hidden = excluding(path);
  if (!(await agreed(session, options, [{ path, before, after }, hidden, found])))
    return EXIT.negative;
  const files = writeServerFiles(options.server, found, sandbox !== undefined);
  const config = await serverOf(options.server, AGENT);
  await writeToken(config, AGENT, { file: token, note: `hooks in ${path}` });
  writeExclude(hidden);
  writeList(sandbox?.list);
  const copy = copyOf(path, text);
  writeCopied(path, originalOf(text, before, copy), textOf(after), copy);
  const { server } = options;
  const { address } = found;
  return showInstalled(session, {
    settings: path,
    files: [...files, token],
    version,
    config,
    address,
    server,
    program: 'Claude Code',
  });
}

function tokenFile(options: Options): string {
  const path = options.user === true ? undefined : settingsPath(options);
  return tokenFileOf(options.server, 'claude-code', path);
}

async function undo(session: Session, options: Options): Promise<ExitCode> {
  const path = settingsPath(options);
  const [text, before] = readSettings(path);
  const after = withoutHooks(before);
  if (after === before) throw new CliError('usage', `${path} has no hooks of Assize.`);
  const listed = including(path);
  if (!(await agreed(session, options, [{ path, before, after }, listed]))) return EXIT.negative;
  const copy = copyOf(path, text);
  putBack(path, originalOf(text, before, copy), copy);
  writeExclude(listed);
  const revoked = await removeToken(options.server, AGENT, tokenFile(options));
  return showRemoved(session, path, { revoked, copy });
}

/** Prints the settings that an organisation installs on the machines of its people. */
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
  const files = settingsFiles({ home: homedir(), project: process.cwd(), platform, env });
  const path = managed?.path ?? settingsPath(options);
  const settings = managed?.settings ?? readSettings(path)[1];
  const missing = missingEvents(settings);
  const terms = termsIn(settings);
  const faults = [
    ...(missing.length > 0 ? [`${path} lacks the hooks of ${missing.join(', ')}`] : []),
    ...(managed === undefined
      ? [...settingsFaults(files), ...(await sandboxChecked(options, files, settings))]
      : settingsFaults(managedFiles({ platform, env }), true)),
    ...(await requireVersion(options.claude, CLAUDE_CODE).then(() => [], faultOf)),
    ...(terms === undefined ? [] : await installedFaults(terms, options, AGENT)),
  ];
  const { config } = await findServer(options.server, undefined);
  const observed = config === undefined ? [] : observationNotes(config);
  const notes = await toolNotes('claude-code', options.claude, CLAUDE_CODE_START);
  return showFaults(session, path, { faults, notes: [...observed, ...notes] });
}

interface Sandboxed {
  readonly terms: Pick<HookTerms, 'sandbox' | 'sandboxDigest'>;
  readonly list: IgnoredList | undefined;
  readonly added: {
    readonly sandbox: ClaudeSandbox;
    readonly variables: IgnoredList['variables'] | undefined;
  };
}

/** The sandbox of the rules, as the settings of Claude Code have it. @throws CliError `usage` */
async function sandboxOf(
  options: Options,
  found: FoundServer,
  path: string,
  before: Settings,
): Promise<Sandboxed | undefined> {
  const { sandbox = false, user = false } = options;
  if (!sandbox) return undefined;
  if (user) throw new CliError('usage', 'A sandbox is of one project: leave --user.');
  refuseOwnSandbox(path, withoutHooks(before)['sandbox'] !== undefined);
  return rulesSandbox(path, options, found);
}

/** Variables whose names look like secrets. */
const SECRET_NAMES = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|^ASSIZE_/i;

async function rulesSandbox(
  path: string,
  options: Options,
  found: FoundServer,
): Promise<Sandboxed> {
  const hidden = [path, tokenFile(options)];
  const client = { agent: 'claude-code', settings: path, hidden } as const;
  const { profile, project, terms } = await clientSandbox(options.server, found, client);
  const list = mountPoints(project, profile);
  const secrets = Object.keys(process.env).filter((name) => SECRET_NAMES.test(name));
  const sandbox = claudeSandbox(profile, secrets);
  return { terms, list, added: { sandbox, variables: list?.variables } };
}

/** Faults of the sandbox in the settings, compared with the rules. */
async function sandboxChecked(
  options: Options,
  files: readonly string[],
  settings: Settings,
): Promise<readonly string[]> {
  const { sandbox: file, sandboxDigest, url } = termsIn(settings) ?? {};
  if (file === undefined) return [];
  const found = await findServer(options.server, url);
  const { terms, added } = await rulesSandbox(file, options, found);
  const isOther =
    sandboxDigest !== terms.sandboxDigest || isOtherSandbox(settings['sandbox'], added.sandbox);
  return [...openedSandbox(files, file), ...(isOther ? [otherSandbox('claude-code', file)] : [])];
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
  const files = server === undefined ? [] : newFiles(server);
  const changes = [...files, { path, lines }, ...shownExclude(exclude)];
  return agreesTo(session, { yes, changes });
}

interface SettingsChange {
  readonly path: string;
  readonly before: Settings;
  readonly after: Settings;
}

/** One line for each member and each event. */
function shownText({ hooks, ...others }: Settings): string {
  const lines = Object.entries(others).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const events = Object.entries((hooks ?? {}) as Settings).map(
    ([name, value]) => `hooks.${name}: ${JSON.stringify(value)}`,
  );
  return [...lines, ...events].join('\n');
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
