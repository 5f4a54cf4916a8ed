import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { publicAddress } from '#server';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { installedFolder, isInstalled } from '../../../files/installed-package.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import type { Session } from '../../../store/session.ts';
import { bold, line } from '../../../terminal/printable.ts';
import { agreesTo } from '../agreement.ts';
import { difference } from '../difference.ts';
import { addressOf, personIn } from '../own-server.ts';
import { type ServerChange, serverWith, tokenFileOf, writeToken } from './agent.ts';
import type { ClientName } from './clients.ts';
import { foundFiles, meant, type Options } from './options.ts';
import { type Original, readOriginals, writeOriginals } from './originals.ts';
import { type FilePlan, type PlannedEntry, takenNames, wrappingPlan } from './plan.ts';
import { proposeRules } from './propose-rules.ts';
import { shownLines } from './shown.ts';

/** Puts the gateway in front of the servers of a client. */
export async function install(session: Session, client: ClientName | undefined, options: Options): Promise<ExitCode> {
  requireSdk();
  const files = foundFiles(client, options);
  const clients = [...new Set(files.map((file) => file.client))];
  const server = await serverWith(options.server, clients);
  const originals = readOriginals(options.server);
  const url = options.url === undefined ? publicAddress(server.config.server) : addressOf(options.url);
  const taken = takenNames(originals, server.config);
  const plans: FilePlan[] = [];
  for (const file of files) {
    const terms = { program: program(), url, tokenFile: tokenFileOf(options.server, file.client) };
    plans.push(await wrappingPlan(file, { originals, terms, taken, isMeant: meant(options) }));
  }
  if (plans.every(({ entries }) => entries.length === 0)) throw new CliError('usage', nothingText(files, options));
  const changed = plans.filter(({ file, after }) => after !== file.text);
  if (changed.length > 0 && !(await isAgreed(session, options, server, changed))) return EXIT.negative;
  if (changed.length > 0) await write(server, { plans: changed, originals, folder: options.server });
  const now = mergedOriginals(originals, plans);
  tell(session, { plans, changed, server });
  const ruled =
    options.rules === true ? await proposeRules(session, { options, server, originals: ofPlans(now, plans) }) : [];
  if (session.json)
    session.out.document({
      files: plans.map(({ file, entries }) => ({ file: file.path, client: file.client, servers: entries })),
      made: server.made,
      ...(options.rules === true && { rules: ruled }),
      ...next(server),
    });
  else if (changed.length > 0) tellNext(session, server, plans, options);
  return EXIT.ok;
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
  { path, before, after }: ServerChange,
  plans: readonly FilePlan[],
): Promise<boolean> {
  const config = before === after ? [] : [{ path, lines: difference(before, after) }];
  const files = plans.map((plan) => ({ path: plan.file.path, lines: shownLines(plan) }));
  return agreesTo(session, { yes, changes: [...config, ...files] });
}

interface Writing {
  readonly plans: readonly FilePlan[];
  readonly originals: readonly Original[];
  readonly folder: string;
}

/** The originals are written first: an interruption in between loses none of them. */
async function write(server: ServerChange, { plans, originals, folder }: Writing): Promise<void> {
  for (const plan of plans) requireUnchanged(plan);
  writeOriginals(folder, mergedOriginals(originals, plans));
  if (server.after !== server.before) replaceFile(server.path, server.after);
  const clients = new Set(plans.map(({ file }) => file.client));
  for (const client of clients) await writeToken(server.config, client, tokenFileOf(folder, client));
  for (const { file, after } of plans) replaceFile(file.path, file.mark + after);
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
  readonly server: ServerChange;
}

function tell({ json, out }: Session, { plans, changed, server }: Done): void {
  if (json) return;
  for (const path of server.made) out.line(line`${path}`);
  for (const { file, entries } of plans) {
    out.line(bold(line`${file.path}`));
    for (const entry of entries) out.line(line`  ${entry.name}: ${stateText(entry)}`);
  }
  for (const { file } of changed.filter(({ file: { path } }) => isTracked(path)))
    out.line(line`${file.path} is in a repository, and has paths of this machine now. Do not commit it.`);
  if (installedFolder().includes('_npx'))
    out.line(
      line`This copy is in the cache of npx, which may be emptied. Run npm install --global assize, and repeat.`,
    );
}

export function stateText({ name, state, server = name, why }: PlannedEntry): string {
  if (state === 'behind') return 'is behind Assize already';
  if (state === 'restored') return 'is as it was';
  if (state === 'gone') return 'is not in the file any more';
  if (state === 'left') return `is left alone: ${why}`;
  const own = server === name ? '' : ` as ${server}: rules know another server, or none, by ${name}`;
  return `is behind Assize now${own}`;
}

function isTracked(path: string): boolean {
  const args = ['-C', dirname(path), 'ls-files', '--error-unmatch', '--', basename(path)];
  return spawnSync('git', args, { stdio: 'ignore' }).status === 0;
}

function next({ config }: ServerChange): { readonly serve: string; readonly signIn: string } {
  return {
    serve: `assize serve --config ${config.file}`,
    signIn: `assize token sign-in ${personIn(config)} --config ${config.file}`,
  };
}

function tellNext(session: Session, server: ServerChange, plans: readonly FilePlan[], options: Options): void {
  const { out } = session;
  const { serve, signIn } = next(server);
  const names = plans.flatMap(({ entries }) => entries.flatMap((one) => one.server ?? []));
  out.line(line``);
  out.line(bold('Next'));
  out.line(line`  ${serve}`);
  out.line(line`  ${signIn}`);
  out.line(line`  Start the client again.`);
  if (options.rules === true) return;
  const rules = server.config.policyFile ?? 'the rules file';
  out.line(line``);
  out.line(bold('The first session'));
  out.line(line`  A tool is hidden until a person approves its definition in the inbox. After that, each call asks.`);
  out.line(line`  The same command with --rules lists the tools, and proposes rules. By hand, in ${rules}:`);
  out.line(line`    trust: [${names.join(', ')}]`);
  out.line(line`    rules:`);
  out.line(line`      - { id: look, allow: '${names[0] ?? 'NAME'}/*', class: read }`);
}
