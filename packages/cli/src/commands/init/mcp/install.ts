import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { installedFolder, isInstalled } from '../../../files/installed-package.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import type { Session } from '../../../store/session.ts';
import { bold, line } from '../../../terminal/printable.ts';
import { agreesTo } from '../agreement.ts';
import { difference } from '../difference.ts';
import { newFiles, nextCommands } from '../own-server.ts';
import {
  hasToken,
  type ServerChange,
  serverWith,
  tokenFileOf,
  type WrittenServer,
  writeServer,
  writeToken,
} from './agent.ts';
import type { ClientName } from './clients.ts';
import { whyNot } from './names.ts';
import { foundFiles, meant, type Options } from './options.ts';
import { type Original, readOriginals, writeOriginals } from './originals.ts';
import { type FilePlan, type PlannedEntry, takenNames, type WrappingPlan, wrappingPlan } from './plan.ts';
import { remoteFault } from './probe.ts';
import { proposeRules } from './propose-rules.ts';
import { shownLines } from './shown.ts';
import type { GatewayTerms } from './wrap.ts';

/** Puts the gateway in front of the servers of a client. */
export async function install(session: Session, client: ClientName | undefined, options: Options): Promise<ExitCode> {
  requireSdk();
  const files = foundFiles(client, options);
  const clients = [...new Set(files.map((file) => file.client))];
  const server = await serverWith(options.server, options.url, clients);
  const originals = readOriginals(options.server);
  const planned = (faults?: ReadonlyMap<string, string>): readonly WrappingPlan[] => {
    const taken = takenNames(originals, server.config ?? { mcp: undefined });
    return files.map((file) => {
      const terms = ownTerms(server, file.client);
      return wrappingPlan(file, { originals, terms, taken, isMeant: meant(options), ...(faults && { faults }) });
    });
  };
  const first = planned();
  if (first.every(({ entries }) => entries.length === 0)) throw new CliError('usage', nothingText(files, options));
  const lacking = await lackingTokens(server, first);
  const isChange = first.some(isChanged) || lacking.length > 0;
  if (isChange && !(await isAgreed(session, options, server, first.filter(isChanged), lacking))) return EXIT.negative;
  const faults = await remoteFaults(first);
  const plans = faults.size === 0 ? first : planned(faults);
  const changed = plans.filter(isChanged);
  const isWriting = changed.length > 0 || lacking.length > 0;
  const written = isWriting ? await write(server, { plans, originals }) : unwritten(server);
  if (written === undefined) {
    tell(session, { plans, changed, made: [] });
    if (session.json) session.out.document({ files: shownFiles(plans), made: [] });
    return EXIT.ok;
  }
  const now = mergedOriginals(originals, plans);
  tell(session, { plans, changed, made: written.made });
  const ruled =
    options.rules === true
      ? await proposeRules(session, { options, server: written, originals: ofPlans(now, plans) })
      : [];
  if (session.json)
    session.out.document({
      files: shownFiles(plans),
      made: written.made,
      ...(options.rules === true && { rules: ruled }),
      ...nextCommands(written.config, server.address),
    });
  else if (changed.length > 0) tellNext(session, { server, written, plans, options });
  return EXIT.ok;
}

/** The server as it is. Undefined if it is new, and nothing needs it. */
function unwritten({ config }: ServerChange): WrittenServer | undefined {
  return config && { config, made: [] };
}

function shownFiles(plans: readonly FilePlan[]) {
  return plans.map(({ file, entries }) => ({ file: file.path, client: file.client, servers: entries }));
}

function isChanged({ file, after }: FilePlan): boolean {
  return after !== file.text;
}

/** The gateway of a client, as this program writes it. */
export function ownTerms(
  { address, folder }: Pick<ServerChange, 'address' | 'folder'>,
  client: ClientName,
): GatewayTerms {
  return { program: program(), url: address, tokenFile: tokenFileOf(folder, client) };
}

/** Clients with a server behind the gateway, and without a valid token. */
async function lackingTokens(
  { config, folder }: ServerChange,
  plans: readonly FilePlan[],
): Promise<readonly ClientName[]> {
  const lacking: ClientName[] = [];
  for (const client of behind(plans))
    if (!(await hasToken(config, client, tokenFileOf(folder, client)))) lacking.push(client);
  return lacking;
}

/** Clients that have a server behind the gateway, or get one. */
function behind(plans: readonly FilePlan[]): readonly ClientName[] {
  const found = plans.filter(({ entries }) => entries.some(({ state }) => state === 'behind' || state === 'wrapped'));
  return [...new Set(found.map(({ file }) => file.client))];
}

/** Asks the servers over HTTP, with the headers of their entries: the person has agreed to them. */
async function remoteFaults(plans: readonly WrappingPlan[]): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
  for (const { key, remote } of plans.flatMap(({ asked }) => asked)) {
    const fault = await remoteFault(remote);
    if (fault !== undefined) faults.set(key, fault);
  }
  return faults;
}

/** The gateway needs the SDK when the client starts it, and then its error would not be seen. */
function requireSdk(): void {
  const packages = ['@modelcontextprotocol/client', '@modelcontextprotocol/server'];
  if (packages.every(isInstalled)) return;
  throw new CliError('usage', `The gateway needs the MCP SDK. Run npm install ${packages.join(' ')}.`);
}

/** The program with whole paths: a client of the desktop starts it with a short PATH. */
function program(): readonly [string, ...string[]] {
  return [process.execPath, join(installedFolder(), 'bin', 'assize.js')];
}

function nothingText(files: readonly { readonly path: string }[], { only }: Options): string {
  const where = files.map(({ path }) => path).join(' and ');
  return `${where} names no MCP server${only.length > 0 ? ` ${only.join(' or ')}` : ''}. Name another file with --file.`;
}

async function isAgreed(
  session: Session,
  { yes }: Options,
  server: ServerChange,
  plans: readonly FilePlan[],
  lacking: readonly ClientName[],
): Promise<boolean> {
  const { path, before, after, folder } = server;
  const config = before === after ? [] : [{ path, lines: difference(before, after) }];
  const files = plans.map((plan) => ({ path: plan.file.path, lines: shownLines(plan) }));
  const tokens = lacking.map((client) => ({ path: tokenFileOf(folder, client), lines: ['+ a new token'] }));
  return agreesTo(session, { yes, changes: [...newFiles(server), ...config, ...tokens, ...files] });
}

interface Writing {
  readonly plans: readonly FilePlan[];
  readonly originals: readonly Original[];
}

/** The originals are written first: an interruption in between loses none of them. */
async function write(server: ServerChange, { plans, originals }: Writing): Promise<WrittenServer> {
  const { folder } = server;
  const changed = plans.filter(isChanged);
  for (const plan of changed) requireUnchanged(plan);
  const written = await writeServer(server);
  if (changed.length > 0) writeOriginals(folder, mergedOriginals(originals, plans));
  for (const client of behind(plans)) await writeToken(written.config, client, tokenFileOf(folder, client));
  for (const { file, after } of changed) replaceFile(file.path, file.mark + after);
  return written;
}

/** A client may have written its file while the person read the change. @throws CliError `usage` */
export function requireUnchanged({ file }: Pick<FilePlan, 'file'>): void {
  if (readFileSync(file.path, 'utf8') === file.mark + file.text) return;
  throw new CliError('usage', `${file.path} was changed meanwhile. End its client, and repeat the command.`);
}

function mergedOriginals(originals: readonly Original[], plans: readonly FilePlan[]): readonly Original[] {
  const paths = plans.map(({ file }) => file.path);
  return [...originals.filter(({ file }) => !paths.includes(file)), ...plans.flatMap((plan) => plan.originals)];
}

function ofPlans(originals: readonly Original[], plans: readonly FilePlan[]): readonly Original[] {
  const paths = plans.map(({ file }) => file.path);
  return originals.filter(({ file }) => paths.includes(file));
}

interface Done {
  readonly plans: readonly FilePlan[];
  readonly changed: readonly FilePlan[];
  readonly made: readonly string[];
}

function tell({ json, out }: Session, { plans, changed, made }: Done): void {
  if (json) return;
  for (const path of made) out.line(line`${path}`);
  for (const { file, entries } of plans) {
    out.line(bold(line`${file.path}`));
    for (const entry of entries) out.line(line`  ${entry.name}: ${stateText(entry)}`);
  }
  for (const { file } of changed.filter(({ file: { path } }) => isTracked(path) || basename(path) === '.mcp.json'))
    out.line(
      line`${file.path} belongs to a project, and has paths of this machine and of your token now. Do not commit it.`,
    );
  if (installedFolder().includes('_npx'))
    out.line(
      line`This copy is in the cache of npx, which may be emptied. Run npm install --global @assize/cli, and repeat.`,
    );
}

export function stateText({ name, state, server = name, why, untried }: PlannedEntry): string {
  if (state === 'behind') return 'is behind Assize already';
  if (state === 'restored') return 'is as it was';
  if (state === 'gone') return 'is not in the file now';
  if (state === 'left') return `is left alone: ${why}`;
  const own = server === name ? '' : ` as ${server}, which is its name in rules: ${whyNot(name)}`;
  const asked = untried === true ? '; it was not tried, because the client fills in a part of its request' : '';
  return `is behind Assize now${own}${asked}`;
}

function isTracked(path: string): boolean {
  const args = ['-C', dirname(path), 'ls-files', '--error-unmatch', '--', basename(path)];
  return spawnSync('git', args, { stdio: 'ignore' }).status === 0;
}

interface Next {
  readonly server: ServerChange;
  readonly written: WrittenServer;
  readonly plans: readonly FilePlan[];
  readonly options: Options;
}

function tellNext({ out }: Session, { server, written, plans, options }: Next): void {
  const { serve, signIn } = nextCommands(written.config, server.address);
  const names = plans.flatMap(({ entries }) => entries.flatMap((one) => one.server ?? []));
  out.line(line``);
  out.line(bold('Next'));
  out.line(line`  ${serve}`);
  out.line(line`  ${signIn}`);
  out.line(line`  Start the client again.`);
  if (options.rules === true) return;
  const rules = written.config.policyFile ?? 'the rules file';
  out.line(line``);
  out.line(bold('The first session'));
  out.line(line`  A tool is hidden until a person approves its definition in the inbox. After that, each call asks.`);
  out.line(line`  The same command with --rules lists the tools, and proposes rules. By hand, in ${rules}:`);
  out.line(line`    trust: [${names.join(', ')}]`);
  out.line(line`    rules:`);
  out.line(line`      - { id: look, allow: '${names[0] ?? 'NAME'}/*', class: read }`);
}
