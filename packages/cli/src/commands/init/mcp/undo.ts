import { join } from 'node:path';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import type { Session } from '../../../store/session.ts';
import { bold, line } from '../../../terminal/printable.ts';
import { agreesTo } from '../agreement.ts';
import { removeToken } from './agent.ts';
import { readClient } from './client-text.ts';
import type { ClientName } from './clients.ts';
import { requireUnchanged, stateText } from './install.ts';
import { meant, namedFiles, type Options } from './options.ts';
import { ORIGINALS, type Original, readOriginals, writeOriginals } from './originals.ts';
import { type PlannedEntry, restoringPlan } from './plan.ts';
import { shownLines } from './shown.ts';

/** Takes the gateway out of the files again, each entry for itself. */
export async function undo(session: Session, client: ClientName | undefined, options: Options): Promise<ExitCode> {
  const originals = readOriginals(options.server);
  const ours = chosen(originals, client, options);
  if (ours.length === 0)
    throw new CliError('usage', 'No entry was changed by assize init mcp. List the servers with assize init mcp.');
  const paths = [...new Set(ours.map(({ file }) => file))];
  const files = paths.map((path) => {
    const [{ client: name, folder }] = ours.filter(({ file }) => file === path) as [Original];
    return { path, text: readClient({ client: name as ClientName, path, folder }) };
  });
  const plans = files.flatMap(({ text }) =>
    text === undefined ? [] : [restoringPlan(text, { originals: ours, isMeant: meant(options) })],
  );
  const away = files.flatMap(({ path, text }) => (text === undefined ? [awayFile(path, ours, options)] : []));
  const changed = plans.filter(({ file, after }) => after !== file.text);
  const changes = changed.map((plan) => ({ path: plan.file.path, lines: shownLines(plan) }));
  if (changes.length > 0 && !(await agreesTo(session, { yes: options.yes, changes }))) return EXIT.negative;
  for (const plan of changed) requireUnchanged(plan);
  for (const { file, after } of changed) replaceFile(file.path, file.mark + after);
  const others = originals.filter((one) => !ours.includes(one));
  const left = [...others, ...[...away, ...plans].flatMap((plan) => plan.originals)];
  writeOriginals(options.server, left);
  const ended = [...new Set(ours.map((one) => one.client))].filter((name) => left.every((one) => one.client !== name));
  let revoked = 0;
  for (const name of ended) revoked += await removeToken(options.server, name as ClientName);
  const told: readonly Told[] = [...plans.map(({ file, entries }) => ({ path: file.path, entries })), ...away];
  tell(
    session,
    told.filter(({ entries }) => entries.length > 0),
    { revoked, server: options.server },
  );
  const isDone = told.every(({ entries }) => entries.every(({ state }) => state === 'restored'));
  return isDone ? EXIT.ok : EXIT.negative;
}

/** The entries of one file, with their states after the undoing. */
interface Told {
  readonly path: string;
  readonly entries: readonly PlannedEntry[];
}

/** A file that is not there can come back, with another branch of a repository. */
function awayFile(
  path: string,
  ours: readonly Original[],
  options: Options,
): Told & { readonly originals: readonly Original[] } {
  const originals = ours.filter(({ file }) => file === path);
  const names = originals.map(({ at }) => at.at(-1) as string).filter(meant(options));
  return { path, originals, entries: names.map((name) => ({ name, state: 'left', why: 'the file is not there' })) };
}

function tell(
  { json, out }: Session,
  files: readonly Told[],
  { revoked, server }: { readonly revoked: number; readonly server: string },
): void {
  if (json) {
    out.document({ files: files.map(({ path, entries }) => ({ file: path, servers: entries })), revoked });
    return;
  }
  for (const { path, entries } of files) {
    out.line(bold(line`${path}`));
    for (const entry of entries) out.line(line`  ${entry.name}: ${stateText(entry)}`);
  }
  const lost = readOriginals(server).filter(({ file, at }) =>
    files.some(({ path, entries }) => path === file && entries.some(({ name }) => name === at.at(-1))),
  );
  if (lost.length > 0)
    out.line(line`The originals of these entries are kept, and so is their token: ${join(server, ORIGINALS)}`);
}

/** The originals that the command line names. */
export function chosen(
  originals: readonly Original[],
  client: ClientName | undefined,
  options: Options,
): readonly Original[] {
  const named =
    options.file === undefined
      ? undefined
      : namedFiles(client, options).map((file) => readClient(file)?.path ?? file.path);
  return originals.filter((one) =>
    named === undefined ? client === undefined || one.client === client : named.includes(one.file),
  );
}
