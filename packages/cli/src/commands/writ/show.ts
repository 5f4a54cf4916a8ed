import {
  CliError,
  dim,
  EXIT,
  findWrit,
  inSession,
  line,
  type Output,
  readWritFile,
  red,
  type SharedOptions,
  withSharedOptions,
  writsIn,
} from '@assize/command';
import { type Writ, writId } from 'assize/internal/authority';
import type { ListedWrit } from 'assize/internal/runtime';
import type { Command } from 'commander';
import { amountsOf, grantLines, headingOf, shortName } from '../../render/writ-text.ts';

interface Options extends SharedOptions {
  readonly in?: string;
}

export function showWrits(command: Command): void {
  withSharedOptions(
    command
      .command('show')
      .description(
        'show the grants of a writ and its ancestors, or the writs of a trajectory with their budgets',
      )
      .argument('[writ]', 'file, or - for standard input; with --in an id, or its first 8 digits')
      .option(
        '--in <trajectory>',
        'show the writs of this trajectory, with their spent budgets and revocations',
      ),
  )
    .addHelpText(
      'after',
      'The command does not verify a file; use assize writ verify.\nNegative: the trajectory does not verify.',
    )
    .action(
      inSession(async (session, options: Options, given?: string) => {
        const { json, out } = session;
        const trajectoryId = options.in;
        if (trajectoryId === undefined) {
          if (given === undefined)
            throw new CliError(
              'usage',
              'The writ is missing. Pass a file, or a trajectory with --in.',
            );
          const { writ, chain } = readWritFile(given);
          if (json)
            out.document({ id: writId(writ), lineage: lineageOf(writ, chain), writ, chain });
          else printLine(out, writ, chain);
          return EXIT.ok;
        }
        return session.withStore('readonly', async (store) => {
          const all = await writsIn(store, trajectoryId);
          const wanted = given === undefined ? all : [findWrit(all, given, trajectoryId)];
          if (json) out.document({ trajectory_id: trajectoryId, writs: wanted.map(described) });
          else if (wanted.length === 0)
            out.line(line`The trajectory ${trajectoryId} has no writs.`);
          else for (const listed of wanted) printListed(out, listed);
          return EXIT.ok;
        });
      }),
    );
}

function described({
  id,
  writ,
  chain,
  granted,
  spent,
  reserved,
  left,
  revoked,
  delegated,
}: ListedWrit) {
  return {
    id,
    lineage: lineageOf(writ, chain),
    writ,
    granted,
    spent,
    reserved,
    left,
    ...(delegated && { delegated }),
    ...(revoked && { revoked }),
  };
}

function lineageOf(writ: Writ, chain: readonly Writ[]): string[] {
  return [writ, ...chain].map((link) => writId(link));
}

/** The root first, in the order of delegation. */
function printLine(out: Output, writ: Writ, chain: readonly Writ[]): void {
  for (const link of [writ, ...chain].reverse()) {
    out.line(headingOf(link));
    for (const text of grantLines(link)) out.line(text);
  }
}

function printListed(
  out: Output,
  { writ, chain, granted, spent, reserved, left, revoked, delegated }: ListedWrit,
): void {
  out.line(headingOf(writ));
  if (revoked !== undefined) {
    const which =
      revoked.writ === writId(writ) ? '' : `, with its ancestor ${shortName(revoked.writ)}`;
    out.line(line`  ${red('revoked')} by ${shortName(revoked.by)}${which}`);
  }
  for (const text of grantLines(writ)) out.line(text);
  if (Object.keys(granted).length > 0)
    out.line(
      line`  ${dim('spent')}       ${amountsOf(spent)}; reserved: ${amountsOf(reserved)}; left: ${amountsOf(left)}`,
    );
  if (chain.length > 0)
    out.line(
      line`  ${dim('ancestors')}   ${chain.map((link) => shortName(writId(link))).join(' ← ')}`,
    );
  if (delegated === true) out.line(line`  ${dim('created the trajectory by delegation')}`);
}
