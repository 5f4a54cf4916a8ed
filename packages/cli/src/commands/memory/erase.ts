import { inSession, spaceOption, validName } from '@assize/command';
import type { Command } from 'commander';
import {
  completeSelector,
  type ErasingOptions,
  erasedIn,
  withErasing,
} from '../erase-with-writ.ts';

interface Options extends ErasingOptions {
  readonly space: string;
  readonly subject: string;
  readonly predicate?: string;
  readonly claim?: string;
}

export function erase(command: Command): void {
  withErasing(
    command
      .command('erase')
      .description(
        'erase all versions of the facts of a subject; hashes, principal and reason stay in the ledger',
      )
      .argument('<trajectory>', 'trajectory that recorded the statements')
      .addOption(spaceOption)
      .requiredOption('--subject <name>', 'subject of the facts', validName)
      .option('--predicate <name>', 'only facts of this predicate', validName)
      .option('--claim <id>', 'only the facts of one claim; 8 digits are enough'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory erase notes --space ward-3 --subject "patient 8" --reason "their wish" \\\n' +
        '    --domain ward.ts --key anchor.key\n\n' +
        'The command is assize erase --facts for one subject. The help of assize erase lists the limits.\n' +
        'Statements of other trajectories remain, and are listed: erase them there too. assize memory explain lists claims.\n' +
        'Negative: the erasure was rejected, or an open approval freezes an overlapping path.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        const { space, subject, predicate, claim } = options;
        const place = {
          ...(predicate !== undefined && { predicate }),
          ...(claim !== undefined && { claim }),
        };
        return erasedIn(session, options, trajectoryId, async (store) => ({
          at: [],
          entries: [],
          transactions: [],
          beliefs: [await completeSelector(store, trajectoryId, { space, subject, ...place })],
        }));
      }),
    );
}
