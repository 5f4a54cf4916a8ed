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
import { type Original, readOriginals, writeOriginals } from './originals.ts';
import { restoringPlan } from './plan.ts';
import { shownLines } from './shown.ts';

/** Takes the gateway out of the files again, each entry for itself. */
export async function undo(session: Session, client: ClientName | undefined, options: Options): Promise<ExitCode> {
  const originals = readOriginals(options.server);
  const ours = chosen(originals, client, options);
  if (ours.length === 0)
    throw new CliError('usage', 'No entry was changed by assize init mcp. List the servers with assize init mcp.');
  const paths = [...new Set(ours.map(({ file }) => file))];
  const plans = paths.flatMap((path) => {
    const [{ client: name, folder }] = ours.filter(({ file }) => file === path) as [Original];
    const file = readClient({ client: name as ClientName, path, folder });
    return file === undefined ? [] : [restoringPlan(file, { originals: ours, isMeant: meant(options) })];
  });
  const changed = plans.filter(({ file, after }) => after !== file.text);
  const changes = changed.map((plan) => ({ path: plan.file.path, lines: shownLines(plan) }));
  if (changes.length > 0 && !(await agreesTo(session, { yes: options.yes, changes }))) return EXIT.negative;
  for (const plan of changed) requireUnchanged(plan);
  for (const { file, after } of changed) replaceFile(file.path, file.mark + after);
  const left = [...originals.filter((one) => !ours.includes(one)), ...plans.flatMap((plan) => plan.originals)];
  writeOriginals(options.server, left);
  const ended = [...new Set(ours.map((one) => one.client))].filter((name) => left.every((one) => one.client !== name));
  let revoked = 0;
  for (const name of ended) revoked += await removeToken(options.server, name as ClientName);
  const isDone = plans.every(({ entries }) => entries.every(({ state }) => state !== 'left'));
  if (session.json)
    session.out.document({ files: plans.map(({ file, entries }) => ({ file: file.path, servers: entries })), revoked });
  else
    for (const { file, entries } of plans) {
      session.out.line(bold(line`${file.path}`));
      for (const entry of entries) session.out.line(line`  ${entry.name}: ${stateText(entry)}`);
    }
  return isDone ? EXIT.ok : EXIT.negative;
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
