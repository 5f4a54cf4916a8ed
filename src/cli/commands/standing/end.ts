import type { Command } from 'commander';
import { StandingReader, standingStatus } from '#calls';
import { systemClock } from '#oracle';
import type { Store } from '#stores';
import { CliError, EXIT } from '../../errors.ts';
import {
  anchorsOption,
  domainOption,
  entryKeyOption,
  type OpeningOptions,
  signerOption,
  withSharedOptions,
} from '../../files/options.ts';
import { ephemeralWrit } from '../../input/ephemeral-writ.ts';
import { findingLines, rulingDocument, rulingLine } from '../../render/ruling-text.ts';
import { headOf } from '../../store/entries.ts';
import { gatewayTrajectories, gatewayTrajectory } from '../../store/open-calls.ts';
import { requirePerson } from '../../store/require-person.ts';
import { rootKeyToAct } from '../../store/root-key.ts';
import { openAssize } from '../../store/runtime.ts';
import { inSession, type SharedOptions } from '../../store/session.ts';

interface EndOptions extends SharedOptions, OpeningOptions {
  readonly as: string;
  readonly trajectory?: string;
}

export function endStanding(command: Command): void {
  withSharedOptions(
    command
      .command('end')
      .description('end a standing approval at once')
      .argument('<id>', 'id of the standing approval, as listed by assize standing')
      .requiredOption('--as <principal>', 'the person, a counselor; recorded')
      .option('--trajectory <name>', 'its trajectory (default: the one where it is active)')
      .addOption(domainOption)
      .addOption(anchorsOption)
      .addOption(signerOption)
      .addOption(entryKeyOption),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize standing end may-invoices --as manager:grace\n\n' +
        'Later calls ask a person again. Calls that it let through stay.\n' +
        'Negative: there is no such standing approval any more.\n' +
        'A process that can read the root key can end one under any name.',
    )
    .action(
      inSession((session, options: EndOptions, id: string) => {
        const root = rootKeyToAct(session.storeUrl);
        return session.withStore('existing', async (store) => {
          const name = await trajectoryOf(store, id, options.trajectory);
          const { as: principal } = options;
          const assize = await openAssize(store, session.storeUrl, options);
          const trajectory = await assize.open(name);
          requirePerson(trajectory.domain, principal, 'end_standing', 'end a standing approval');
          const terms = { action: 'end_standing', scopes: ['role:admin'], principal };
          const writ = ephemeralWrit(await headOf(store, name), terms, root);
          const asked = { action: 'end_standing', role: 'admin', args: { id }, writ, principal };
          const ruling = await trajectory.propose(asked as never);
          await assize.close();
          if (session.json) session.out.document(rulingDocument(ruling));
          else for (const text of [rulingLine(ruling), ...findingLines(ruling)]) session.out.line(text);
          return ruling.ruling === 'committed' ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/** @throws CliError */
async function trajectoryOf(store: Store, id: string, named: string | undefined): Promise<string> {
  if (named !== undefined) return gatewayTrajectory(store, named);
  const now = systemClock.now();
  const found: string[] = [];
  for (const name of await gatewayTrajectories(store)) {
    const records = await new StandingReader(store, name).read();
    if (records.some((one) => one.id === id && standingStatus(one, now) !== 'ended')) found.push(name);
  }
  const [one, other] = found;
  if (one === undefined)
    throw new CliError('not_found', `No trajectory has a standing approval ${id}. List them with assize standing.`);
  if (other === undefined) return one;
  throw new CliError(
    'usage',
    `The standing approval ${id} exists in ${found.join(', ')}. Pass one of them with --trajectory NAME.`,
  );
}
