import {
  CliError,
  dim,
  EXIT,
  inSession,
  line,
  type OpeningOptions,
  onlyCounselor,
  printRuling,
  project,
  requireLocal,
  type Session,
  type SharedOptions,
  shortJson,
  withGroupOptions,
  withOpeningOptions,
  yellow,
} from '@assize/command';
import type { Store } from 'assize/internal/stores';
import { shortTime } from 'assize/internal/views';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type FoundCall, gatewayTrajectory, openCallsIn } from './open-calls.ts';
import { proposeAs } from './require-person.ts';

interface SettleOptions extends SharedOptions, OpeningOptions {
  readonly outcome: 'done' | 'failed';
  readonly evidence: string;
  readonly as: string;
  readonly trajectory?: string;
}

/** As for the operation `calls.settle` of a server. */
const EVIDENCE_MAX = 4_096;

export function calls(program: Command): void {
  const command = withGroupOptions(
    program
      .command('calls')
      .description('list calls of agents without a known outcome, and settle them')
      .argument('[trajectory]', 'only this trajectory (default: all of the domain gateway)'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize effects calls\n  assize effects calls calls --json\n' +
        '  assize effects calls settle may.call-2 --outcome done --evidence "payment 17" --as manager:grace\n\n' +
        'A call is open from its beginning until its report. It is in doubt if its agent reported that it does not know the outcome,\n' +
        'or has been silent for ten minutes. Other open calls may be in progress.\n' +
        'Negative: a trajectory does not verify.',
    )
    .action(
      inSession((session, _: SharedOptions, trajectory?: string) =>
        session.withStore('readonly', async (store) => {
          const found = await openCallsIn(session, store, trajectory);
          if (session.json) session.out.document({ calls: found.map(callView) });
          else print(session, found);
          return EXIT.ok;
        }),
      ),
    );
  settle(command);
}

/** The form of the operation `calls.open`, with the trajectory and the arguments. */
function callView({ trajectoryId, id, inDoubt, args = null, ...call }: FoundCall): object {
  return { trajectory_id: trajectoryId, call: id, ...call, in_doubt: inDoubt, args };
}

function print({ out, again }: Session, found: readonly FoundCall[]): void {
  if (found.length === 0) {
    out.line(line`No call is open.`);
    return;
  }
  out.table(
    [
      { title: 'call' },
      { title: 'trajectory' },
      { title: 'agent' },
      { title: 'tool' },
      { title: 'since' },
      { title: 'outcome' },
      { title: 'arguments' },
    ],
    found.map(({ id, trajectoryId, agent, tool, at, inDoubt, args }) => {
      const outcome = inDoubt ? yellow('in doubt') : 'not reported yet';
      return [
        id,
        trajectoryId,
        agent,
        tool,
        shortTime(at),
        outcome,
        args === undefined ? '' : shortJson(args),
      ];
    }),
  );
  const doubts = found.filter(({ inDoubt }) => inDoubt);
  out.line(line``);
  if (doubts.length < found.length)
    out.line(
      line`A call that is not in doubt may be in progress. It can be settled ten minutes after it began.`,
    );
  const [first] = doubts;
  if (first === undefined) return;
  const id = doubts.length === 1 ? first.id : 'CALL';
  const by = onlyCounselor(project()) ?? 'PRINCIPAL';
  out.line(line`Look whether a call in doubt took effect, and record it. Nothing is called:`);
  out.line(
    dim(
      line`assize effects calls settle ${id} --outcome done|failed --evidence TEXT --as ${by}${again}`,
    ),
  );
}

function settle(command: Command): void {
  withOpeningOptions(
    command
      .command('settle')
      .description('record what a person found out about a call in doubt')
      .argument('<call>', 'id of the call, as listed by assize effects calls')
      .addOption(
        new Option('--outcome <outcome>', 'failed: the call was not made, or it had no effect')
          .choices(['done', 'failed'])
          .makeOptionMandatory(),
      )
      .requiredOption(
        '--evidence <text>',
        'the finding that supports the outcome; recorded',
        evidence,
      )
      .requiredOption('--as <principal>', 'the person, a counselor; recorded')
      .option('--trajectory <name>', 'trajectory of the call (default: the one where it is open)'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize effects calls settle may.call-2 --outcome done --evidence "payment 17" --as manager:grace\n\n' +
        'Nothing is called. The command signs a writ for one report with the root key of the store.\n' +
        'Negative: the report is rejected. The call is closed or unknown, or its agent has been silent for less than ten minutes.\n' +
        'A process that can read the root key can settle under any name.',
    )
    .action(
      inSession((session, options: SettleOptions, call: string) => {
        const instead = 'Run assize serve, and settle with assize api calls.settle.';
        requireLocal(session.storeUrl, `a server must authenticate its people. ${instead}`);
        return session.withStore('existing', async (store) => {
          const name = await trajectoryOf(session, store, call, options.trajectory);
          const { as: principal, outcome, evidence } = options;
          const ruling = await proposeAs(session, store, options, {
            ...{ trajectory: name, principal, action: 'report', work: 'settle a call' },
            args: () => ({ call, outcome, result: { settled_by: principal, evidence } }),
          });
          return printRuling(session, ruling);
        });
      }),
    );
}

function evidence(text: string): string {
  if (text.length > 0 && text.length <= EVIDENCE_MAX) return text;
  throw new InvalidArgumentError(
    `It must have 1 to ${EVIDENCE_MAX.toLocaleString('en')} characters.`,
  );
}

/** @throws CliError */
async function trajectoryOf(
  session: Session,
  store: Store,
  call: string,
  named: string | undefined,
): Promise<string> {
  if (named !== undefined) return gatewayTrajectory(store, named);
  const found = (await openCallsIn(session, store)).filter(({ id }) => id === call);
  const [one, other] = found;
  if (one === undefined)
    throw new CliError(
      'not_found',
      `No trajectory has an open call ${call}. List open calls with assize effects calls.`,
    );
  if (other === undefined) return one.trajectoryId;
  const names = found.map(({ trajectoryId }) => trajectoryId).join(', ');
  throw new CliError(
    'usage',
    `The call ${call} is open in ${names}. Pass one of them with --trajectory NAME.`,
  );
}
