import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import {
  CliError,
  EXIT,
  type ExitCode,
  makeFolder,
  replaceFile,
  type Session,
  unreadable,
} from '@assize/command';
import { type Command, Option } from 'commander';
import { type IgnoredList, mountPoints, writeList } from '../../sandbox/mount-points.ts';
import { type AgentOptions, withAgentWorks } from '../agents/agent-command.ts';
import { clientSandbox, otherSandbox, refuseOwnSandbox } from '../agents/client-sandbox.ts';
import { type HookTerms, hookTermsIn } from '../agents/hook-command.ts';
import {
  hookTerms,
  installedFaults,
  removeToken,
  tokenFileOf,
  writeToken,
} from '../agents/hooked-server.ts';
import { CODEX_START, toolNotes } from '../agents/offered-tools.ts';
import { CODEX, requireVersion } from '../agents/program-version.ts';
import { faultOf, showFaults, showInstalled, showRemoved } from '../agents/show.ts';
import { agreesTo } from '../agreement.ts';
import { copyOf, putBack, writeCopied } from '../copied-file.ts';
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
  writeServerFiles,
} from '../own-server.ts';
import {
  dottedText,
  parsedConfig,
  type Table,
  trustOf,
  withBlock,
  withoutBlock,
  withoutTrust,
} from './config-text.ts';
import { configuredFaults, configuredHooks, listedFaults } from './faults.ts';
import { hooksText, trustText } from './hooks.ts';
import { type ListedHook, listedHooks, wholeConfig } from './listed-hooks.ts';
import { codexSandbox, hasOwnSandbox, isOtherSandbox } from './sandbox.ts';
import { codexHome, openingRules } from './turn-sandbox.ts';

interface Options extends AgentOptions {
  readonly project?: boolean;
  readonly sandbox?: boolean;
  readonly codex: string;
}

const AGENT = 'agent:codex';

/** `assize init codex`: puts the hooks of Assize into the configuration of Codex. */
export function initCodex(init: Command): void {
  const command = init
    .command('codex')
    .description('put a server of Assize in front of the tool calls of Codex')
    .option(
      '--user',
      'in all projects of the person, in ~/.codex/config.toml or that of CODEX_HOME (default)',
    )
    .option(
      '--project',
      'only in the project of this folder, in .codex/config.toml; Codex has to trust the project',
    )
    .option(
      '--sandbox',
      'with --project: turn on the sandbox of Codex, with the places of the rules',
    )
    .addOption(new Option('--codex <path>', 'the program of Codex').default('codex'));
  withAgentWorks<Options>(command, { install, undo, check });
}

/** The files of an installation. */
interface Places {
  /** The configuration that has the hooks. */
  readonly hooks: string;
  /** The configuration that has the trust of the person. */
  readonly trust: string;
  readonly token: string;
}

function placesOf({ project, server }: Options): Places {
  const user = join(codexHome(), 'config.toml');
  if (project !== true) return { hooks: user, trust: user, token: tokenFileOf(server, 'codex') };
  const hooks = resolve('.codex', 'config.toml');
  return { hooks, trust: user, token: tokenFileOf(server, 'codex', hooks) };
}

async function install(session: Session, options: Options): Promise<ExitCode> {
  const version = await requireVersion(options.codex, CODEX);
  const places = placesOf(options);
  const before = textOf(places.hooks);
  const found = await findServer(options.server, options.url);
  if (found.config !== undefined) await serverOf(options.server, AGENT);
  const plain = withoutOwn(before, places);
  const sandbox = await sandboxOf(options, places, plain, found);
  const terms = { ...hookTerms(found, options, places.token), ...sandbox?.terms };
  const boxed =
    sandbox === undefined ? plain : withBlock(plain, 'sandbox', sandbox.text, places.hooks);
  const after = withBlock(boxed, 'hooks', hooksText(terms), places.hooks);
  const shown = after === before ? after : `${after}${SHOWN_TRUST}`;
  // With --project: Git must not add the paths of this machine to a commit.
  const exclude = options.project === true ? excluding(places.hooks) : undefined;
  const change = { texts: [before, shown], exclude } as const;
  if (!(await agreed(session, options, places, change, found))) return EXIT.negative;
  const made = writeServerFiles(options.server, found, sandbox !== undefined);
  const config = await serverOf(options.server, AGENT);
  await writeToken(config, AGENT, { file: places.token, note: `hooks in ${places.hooks}` });
  writeExclude(exclude);
  writeList(sandbox?.list);
  await writeTrusted(options, places, [before, after], sandbox);
  const { server } = options;
  const files = [...made, places.token];
  const { address } = found;
  return showInstalled(session, {
    settings: places.hooks,
    files,
    version,
    config,
    address,
    server,
    program: 'Codex',
  });
}

/** The sandbox of the rules, as a configuration has it. */
interface Sandboxed {
  readonly table: Table;
  readonly text: string;
  readonly list: IgnoredList | undefined;
  readonly terms: Pick<HookTerms, 'sandbox' | 'sandboxDigest'>;
}

/** @throws CliError `usage` */
async function sandboxOf(
  options: Options,
  { hooks, token }: Places,
  plain: string,
  found: FoundServer,
): Promise<Sandboxed | undefined> {
  if (options.sandbox !== true) return undefined;
  if (options.project !== true)
    throw new CliError('usage', 'A sandbox is of one project: pass --project too.');
  const sandbox = await rulesSandbox(options, { hooks, token }, found);
  refuseOwnSandbox(hooks, hasOwnSandbox(parsedConfig(plain, hooks), sandbox.table));
  return sandbox;
}

async function rulesSandbox(
  { server }: Options,
  { hooks, token }: Pick<Places, 'hooks' | 'token'>,
  found: Pick<FoundServer, 'files'>,
): Promise<Sandboxed> {
  const client = { agent: 'codex', settings: hooks, hidden: [token] } as const;
  const { profile, project, terms } = await clientSandbox(server, found, client);
  // Only what is hidden is mounted: no command can add it to a commit.
  const list = mountPoints(project, { ...profile, unwritable: [] }, []);
  const table = codexSandbox(
    profile,
    { codexHome: realOf(codexHome()), written: [hooks, token] },
    list?.variables,
  );
  return { table, text: dottedText(table), list, terms };
}

/** Faults of the sandbox, as Codex itself has it in this folder. */
async function sandboxFaults(
  { codex }: Options,
  { hooks }: Places,
  { table }: Sandboxed,
): Promise<string[]> {
  const config = await wholeConfig(codex, process.cwd());
  if (isOtherSandbox(config, table, realpathSync(homedir()))) return [otherSandbox('codex', hooks)];
  const { status, stderr, error } = spawnSync(codex, ['sandbox', '--', 'true'], {
    encoding: 'utf8',
  });
  const opening = openingRules(dirname(hooks));
  if (status === 0) return opening;
  return [...opening, `the sandbox does not start: ${stderr?.trim() || String(error)}`];
}

/** The text of the hooks before and after, and the list of files that Git overlooks. */
interface Change {
  readonly texts: readonly [before: string, after: string];
  readonly exclude: ExcludeChange | undefined;
}

/** Shows the change of the hooks, and asks. `--yes` agrees. */
function agreed(
  session: Session,
  { yes }: Options,
  { hooks }: Places,
  { texts: [before, after], exclude }: Change,
  server?: FoundServer,
): Promise<boolean> {
  const files = server === undefined ? [] : newFiles(server);
  return agreesTo(session, {
    yes,
    changes: [
      ...files,
      { path: hooks, lines: difference(before, after) },
      ...shownExclude(exclude),
    ],
  });
}

const SHOWN_TRUST =
  '# and your trust in these hooks, as Codex keeps it: [hooks.state."KEY"] trusted_hash\n';

/** Writes the hooks, and the trust in them. If Codex does not take them, the files stay. */
async function writeTrusted(
  options: Options,
  places: Places,
  [before, text]: readonly [string, string],
  sandbox: Sandboxed | undefined,
): Promise<void> {
  const { codex } = options;
  const original = withoutOwn(before, places);
  const copy = copyOf(places.hooks, before);
  const copied = (after: string): void =>
    writeCopied(places.hooks, original, after, copyOf(places.hooks, textOf(places.hooks)));
  const paths = [...new Set([places.hooks, places.trust])];
  const earlier = paths.map((path) => [path, existsSync(path) ? textOf(path) : undefined] as const);
  try {
    copied(text);
    const found = await ownHooks(codex, places);
    write(places.trust, trusting(textOf(places.trust), places, found));
    const faults = [
      ...listedFaults(await ownHooks(codex, places)),
      ...(sandbox === undefined ? [] : await sandboxFaults(options, places, sandbox)),
    ];
    if (faults.length > 0)
      throw new CliError('bad_input', `Codex does not take the hooks: ${faults.join('; ')}.`);
    copied(textOf(places.hooks));
  } catch (error) {
    for (const [path, content] of earlier)
      content === undefined ? rmSync(path, { force: true }) : write(path, content);
    if (copy === undefined) rmSync(copyOf(places.hooks, before)?.path ?? '', { force: true });
    throw error;
  }
}

function trusting(text: string, places: Places, found: readonly ListedHook[]): string {
  const hashes = Object.fromEntries(found.map(({ key, currentHash }) => [key, currentHash]));
  const others = withoutTrust(withoutTrustBlock(text, places, places.trust), Object.keys(hashes));
  return withBlock(others, trustOf(places.hooks), trustText(hashes), places.trust);
}

/** @throws CliError `bad_input` if hooks of Assize stand outside of its block */
function withoutOwn(text: string, places: Places): string {
  const { hooks } = places;
  const bare = withoutBlock(withoutTrustBlock(text, places, hooks), 'hooks', hooks);
  const after = withoutBlock(bare, 'sandbox', hooks);
  const [left] = configuredHooks(parsedConfig(after, places.hooks));
  if (left === undefined) return after;
  throw new CliError(
    'bad_input',
    `${places.hooks} has a changed or copied hook of Assize for ${left.event}. Take it out by hand, and repeat.`,
  );
}

function withoutTrustBlock(text: string, { hooks }: Places, path: string): string {
  return withoutBlock(text, trustOf(hooks), path);
}

async function undo(session: Session, options: Options): Promise<ExitCode> {
  const places = placesOf(options);
  const before = textOf(places.hooks);
  const after = withoutOwn(before, places);
  if (after === before) throw new CliError('usage', `${places.hooks} has no hooks of Assize.`);
  const exclude = options.project === true ? including(places.hooks) : undefined;
  if (!(await agreed(session, options, places, { texts: [before, after], exclude })))
    return EXIT.negative;
  writeExclude(exclude);
  const copy = copyOf(places.hooks, before);
  putBack(places.hooks, after, copy);
  const trust = textOf(places.trust);
  const left = withoutTrustBlock(trust, places, places.trust);
  if (left !== trust) write(places.trust, left);
  const revoked = await removeToken(options.server, AGENT, places.token);
  return showRemoved(session, places.hooks, { revoked, copy });
}

async function check(session: Session, options: Options): Promise<ExitCode> {
  const places = placesOf(options);
  const found = configuredHooks(parsedConfig(textOf(places.hooks), places.hooks));
  const terms = found.map(({ command }) => hookTermsIn(command)).find((each) => each !== undefined);
  const faults = [
    ...configuredFaults(places.hooks, found),
    ...(await requireVersion(options.codex, CODEX).then(() => [], faultOf)),
    ...(await ownHooks(options.codex, places).then(listedFaults, faultOf)),
    ...(await sandboxChecked(options, places, terms)),
    ...(terms === undefined ? [] : await installedFaults(terms, options, AGENT)),
  ];
  const { config } = await findServer(options.server, undefined);
  const observed = config === undefined ? [] : observationNotes(config);
  const notes = await toolNotes('codex', options.codex, CODEX_START);
  return showFaults(session, places.hooks, { faults, notes: [...observed, ...notes] });
}

/** Faults of the sandbox in the configuration, compared with the rules. */
async function sandboxChecked(
  options: Options,
  places: Places,
  terms: HookTerms | undefined,
): Promise<readonly string[]> {
  if (terms?.sandbox === undefined) return [];
  const found = await findServer(options.server, terms.url);
  const sandbox = await rulesSandbox(options, places, found);
  if (terms.sandboxDigest !== sandbox.terms.sandboxDigest)
    return [otherSandbox('codex', places.hooks)];
  return sandboxFaults(options, places, sandbox).catch(faultOf);
}

/** The hooks of the configuration, as Codex knows them in this folder. */
async function ownHooks(codex: string, { hooks }: Places): Promise<readonly ListedHook[]> {
  const path = existsSync(hooks) ? realpathSync(hooks) : hooks;
  return (await listedHooks(codex, process.cwd())).filter(
    ({ sourcePath }) =>
      typeof sourcePath === 'string' && (sourcePath === hooks || realOf(sourcePath) === path),
  );
}

function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** @throws CliError `unreadable_file` */
function textOf(path: string): string {
  if (!existsSync(path)) return '';
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable('The configuration of Codex', error, { path });
  }
}

function write(path: string, text: string): void {
  makeFolder(dirname(path));
  replaceFile(path, text);
}
