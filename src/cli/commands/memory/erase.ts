import type { Command } from 'commander';
import { withSharedOptions } from '../../files/options.ts';
import { inSession } from '../../store/session.ts';
import { spaceOption, validName } from '../assert-memory.ts';
import { completeSelector, type ErasingOptions, erasedIn, withErasing } from '../erase-with-writ.ts';

interface Options extends ErasingOptions {
  readonly space: string;
  readonly subject: string;
  readonly predicate?: string;
  readonly claim?: string;
}

export function erase(command: Command): void {
  withSharedOptions(
    withErasing(
      command
        .command('erase')
        .description(
          'erase what is believed of a subject, now and at any time before; hashes stay, with who erased it and why',
        )
        .argument('<trajectory>', 'where it was said')
        .addOption(spaceOption)
        .requiredOption('--subject <name>', 'of whom or what', validName)
        .option('--predicate <name>', 'only under this', validName)
        .option('--claim <id>', 'only what one claim of it says; 8 digits of its id do'),
    ),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory erase notes --space ward-3 --subject "patient 8" --reason "their wish" \\\n' +
        '    --domain ward.ts --key anchor.key\n\n' +
        'It is assize erase --facts, whose help says what is reached and what is not. What others have said of it is left\n' +
        'and named: erase it there too. assize memory explain shows claims.\n' +
        'Negative: it was rejected, or an open approval freezes what it would touch.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        const { space, subject, predicate, claim } = options;
        const place = { ...(predicate !== undefined && { predicate }), ...(claim !== undefined && { claim }) };
        return erasedIn(session, options, trajectoryId, async (store) => ({
          at: [],
          entries: [],
          transactions: [],
          beliefs: [await completeSelector(store, trajectoryId, { space, subject, ...place })],
        }));
      }),
    );
}
