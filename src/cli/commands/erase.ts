import { type Command, Option } from 'commander';
import { parsePointer } from '#canon';
import { CliError } from '../errors.ts';
import { positive, repeatable, withSharedOptions } from '../files/options.ts';
import { findEntry } from '../store/entries.ts';
import { inSession } from '../store/session.ts';
import {
  completeSelector,
  type ErasingOptions,
  type ErasureSelection,
  erasedIn,
  withErasing,
} from './erase-with-writ.ts';

interface Options extends ErasingOptions {
  readonly at: readonly string[];
  readonly entry: readonly string[];
  readonly facts: readonly string[];
  readonly transaction: readonly number[];
  readonly claim?: string;
}

const transactionOption = new Option(
  '--transaction <epoch>',
  'what only the effect log has of a transaction of tools: effects list --all has the numbers (repeatable)',
)
  .argParser((text: string, before: readonly number[]) => [...before, positive(text)])
  .default([], 'none');

export function erase(program: Command): void {
  withSharedOptions(
    withErasing(
      program
        .command('erase')
        .description('erase sensitive values for good: their hashes stay in the ledger, with who erased them and why')
        .argument('<trajectory>')
        .addOption(
          repeatable(
            '--at </path>',
            'a place of the state: what is sensitive there or below, and was ever written there',
          ),
        )
        .addOption(
          repeatable(
            '--entry <id>',
            'all that is sensitive in an entry, such as a refused proposal; 8 digits of its id do',
          ),
        )
        .addOption(
          repeatable(
            '--facts <of>',
            'what is believed of a subject, as space/subject, or of one predicate of it, as space/subject/predicate; in a name ~1 is /, and ~0 is ~',
          ),
        )
        .option('--claim <id>', 'only what one claim of it says; 8 digits of its id do')
        .addOption(transactionOption),
    ),
  )
    .addHelpText(
      'after',
      'Negative: it was rejected, or an open approval freezes what it would touch.\n' +
        'Reached are the values that the domain marks sensitive, in the store itself: with them\n' +
        'the arguments and observations of the proposals that wrote there. Not reached are\n' +
        'copies in places that are not sensitive, details of rulings, the reason, answers in the\n' +
        'oracle log that no such proposal observed, backups, exports and other copies of the\n' +
        'store; and what a branch inherited, which is erased where it was written. Of what is\n' +
        'believed: what was said of it in this trajectory, with the arguments, questions and\n' +
        'recalls that name it; which others still have something is printed, and which writs\n' +
        'name the subject in a scope: those stay, as does what is not marked sensitive in the\n' +
        'state, whose entries are printed. The file of SQLite, or the tables on PostgreSQL, are\n' +
        'written anew, which takes time and free space as their size; PostgreSQL has the texts\n' +
        'in its WAL, its archive and its backups. docs/guide/erasure.md tells more.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        const beliefs = factsToErase(options);
        checkPlaces(options);
        return erasedIn(session, options, trajectoryId, async (store) => {
          const entries = await Promise.all(options.entry.map(async (id) => (await findEntry(store, id)).id));
          const whole = await Promise.all(beliefs.map((belief) => completeSelector(store, trajectoryId, belief)));
          return { at: options.at, entries, beliefs: whole, transactions: options.transaction };
        });
      }),
    );
}

/** @throws CliError `usage` */
function factsToErase({ facts, claim }: Options): ErasureSelection['beliefs'] {
  if (claim !== undefined && facts.length !== 1)
    throw new CliError('usage', 'Say with one --facts of whom the claim is.');
  return facts.map((text) => {
    const [space, subject, predicate, ...more] = parsePointer(`/${text}`);
    if (!space || !subject || predicate === '' || more.length > 0)
      throw new CliError('usage', 'What is believed is named as space/subject or space/subject/predicate.');
    return { space, subject, ...(predicate !== undefined && { predicate }), ...(claim !== undefined && { claim }) };
  });
}

function checkPlaces({ at, entry, facts, transaction }: Options): void {
  if (at.length + entry.length + facts.length + transaction.length === 0)
    throw new CliError('usage', 'Say with --at, --entry, --facts or --transaction what is to be erased.');
  const whole = at.find((place) => parsePointer(place).length === 0);
  if (whole !== undefined) throw new CliError('usage', 'The whole state is not erased at once; name places in it.');
}
