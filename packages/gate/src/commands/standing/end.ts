import {
  CliError,
  EXIT,
  type ExitCode,
  findEntry,
  inSession,
  line,
  type OpeningOptions,
  printRuling,
  requireLocal,
  SERVED,
  type Session,
  type SharedOptions,
  withOpeningOptions,
} from '@assize/command';
import type { Store } from 'assize/internal/stores';
import { shortId, shortTime } from 'assize/internal/views';
import type { Command } from 'commander';
import { StandingReader, type StandingRecord } from '#calls';
import { gatewayTrajectories, gatewayTrajectory } from '../open-calls.ts';
import { proposeAs } from '../require-person.ts';

interface EndOptions extends SharedOptions, OpeningOptions {
  readonly as: string;
  readonly trajectory?: string;
}

export function endStanding(command: Command): void {
  withOpeningOptions(
    command
      .command('end')
      .description('end a standing approval immediately')
      .argument('<id>', 'id of the standing approval, as listed by assize standing')
      .requiredOption('--as <principal>', 'the person, a counselor; recorded')
      .option('--trajectory <name>', 'its trajectory (default: the one where it is active)'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize standing end may-invoices --as manager:grace\n\n' +
        'Later calls ask a person again. Calls that it let through stay.\n' +
        'One that is ended already stays so, and the command prints its end.\n' +
        'A process that can read the root key can end one under any name.',
    )
    .action(
      inSession((session, options: EndOptions, id: string) => {
        requireLocal(session.storeUrl, SERVED);
        return session.withStore('existing', async (store) => {
          const { name, ended } = await findStanding(store, id, options.trajectory);
          if (ended !== undefined) return sayEnded(session, store, id, { name, ended });
          const { as: principal } = options;
          const ruling = await proposeAs(session, store, options, {
            ...{ trajectory: name, principal, action: 'end_standing', args: () => ({ id }) },
            work: 'end a standing approval',
          });
          return printRuling(session, ruling);
        });
      }),
    );
}

/** The trajectory of a standing approval, and its end if it was ended before. */
interface StandingPlace {
  readonly name: string;
  readonly ended?: NonNullable<StandingRecord['ended']>;
}

/** Where it has no end; if nowhere, where it was ended. @throws CliError unless in one place */
async function findStanding(
  store: Store,
  id: string,
  named: string | undefined,
): Promise<StandingPlace> {
  const trajectories =
    named === undefined
      ? await gatewayTrajectories(store)
      : [await gatewayTrajectory(store, named)];
  const all: StandingPlace[] = [];
  for (const name of trajectories) {
    const newest = (await new StandingReader(store, name).read()).findLast((one) => one.id === id);
    if (newest !== undefined) all.push({ name, ...(newest.ended && { ended: newest.ended }) });
  }
  const notEnded = all.filter(({ ended }) => ended === undefined);
  const places = notEnded.length > 0 ? notEnded : all;
  const [one, other] = places;
  if (one === undefined)
    throw new CliError(
      'not_found',
      `No trajectory has a standing approval ${id}. List them with assize standing.`,
    );
  if (other === undefined) return one;
  const names = places.map(({ name }) => name).join(', ');
  throw new CliError(
    'usage',
    `The standing approval ${id} exists in ${names}. Pass one of them with --trajectory NAME.`,
  );
}

/** The end that the ledger has. Nothing is recorded. */
async function sayEnded(
  { json, out }: Session,
  store: Store,
  id: string,
  { name, ended: { at, entryId } }: Required<StandingPlace>,
): Promise<ExitCode> {
  const { seq } = await findEntry(store, entryId);
  if (json) out.document({ ruling: 'committed', trajectory_id: name, seq, entry_id: entryId });
  else
    out.line(
      line`The standing approval ${id} was ended at ${shortTime(at)} already, as ${shortId(entryId)}.`,
    );
  return EXIT.ok;
}
