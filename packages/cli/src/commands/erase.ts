import { CliError, entryNamed, inSession, positive, repeatable } from '@assize/command';
import { parsePointer } from 'assize/internal/canon';
import { type Command, Option } from 'commander';
import { RETENTION } from './erase-preview.ts';
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
  'values of a tool transaction that only the effect log has; effects list --all lists epochs (repeatable)',
)
  .argParser((text: string, before: readonly number[]) => [...before, positive(text)])
  .default([], 'none');

export function erase(program: Command): void {
  withErasing(
    program
      .command('erase')
      .description(
        'erase sensitive values permanently; hashes, principal and reason stay in the ledger',
      )
      .argument('<trajectory>')
      .addOption(
        repeatable(
          '--at </path>',
          'path of the state: all sensitive values ever written there or below',
        ),
      )
      .addOption(
        repeatable(
          '--entry <id>',
          'all sensitive values of an entry, such as a rejected proposal; 8 digits, or TRAJECTORY@SEQ',
        ),
      )
      .addOption(
        repeatable(
          '--facts <selector>',
          'facts of a subject: space/subject or space/subject/predicate; in a name, ~1 means / and ~0 means ~',
        ),
      )
      .option('--claim <id>', 'only the facts of one claim; 8 digits are enough')
      .addOption(transactionOption),
  )
    .addHelpText(
      'after',
      'Negative: the erasure was rejected, or an open approval freezes an overlapping path.\n' +
        `${RETENTION}\n` +
        'The command erases values that the domain marks sensitive, in this store only. With\n' +
        'them it erases the arguments, observations and tool calls of the proposals that wrote them.\n' +
        '--entry, --facts and --transaction also erase tool calls of domains that mark nothing.\n' +
        'It does not reach copies in paths that are not sensitive, details of rulings, the\n' +
        'reason, oracle answers that no such proposal observed, backups, exports and other\n' +
        'copies of the store. Values that a branch inherited are erased in their source.\n' +
        'For facts, it erases the statements of this trajectory, with the arguments, questions\n' +
        'and recalls that name them. It prints trajectories with further statements, writs that\n' +
        'name the subject in a scope, and entries that wrote the subject to unmarked paths.\n' +
        'The file of SQLite, or the tables on PostgreSQL, are rewritten. This takes time and\n' +
        'free space in proportion to their size. PostgreSQL keeps the texts in its WAL, its\n' +
        'archive and its backups. See docs/guide/erasure.md.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        const beliefs = factsToErase(options);
        checkPlaces(options);
        return erasedIn(session, options, trajectoryId, async (store) => {
          const entries = await Promise.all(
            options.entry.map(async (id) => (await entryNamed(store, id)).id),
          );
          const whole = await Promise.all(
            beliefs.map((belief) => completeSelector(store, trajectoryId, belief)),
          );
          return { at: options.at, entries, beliefs: whole, transactions: options.transaction };
        });
      }),
    );
}

/** @throws CliError `usage` */
function factsToErase({ facts, claim }: Options): ErasureSelection['beliefs'] {
  if (claim !== undefined && facts.length !== 1)
    throw new CliError('usage', 'The option --claim needs its subject. Pass exactly one --facts.');
  return facts.map((text) => {
    const [space, subject, predicate, ...more] = parsePointer(`/${text}`);
    if (!space || !subject || predicate === '' || more.length > 0)
      throw new CliError(
        'usage',
        'The value of --facts is not valid. Write space/subject or space/subject/predicate.',
      );
    return {
      space,
      subject,
      ...(predicate !== undefined && { predicate }),
      ...(claim !== undefined && { claim }),
    };
  });
}

function checkPlaces({ at, entry, facts, transaction }: Options): void {
  if (at.length + entry.length + facts.length + transaction.length === 0)
    throw new CliError(
      'usage',
      'The command has nothing to erase. Pass --at, --entry, --facts or --transaction.',
    );
  const whole = at.find((place) => parsePointer(place).length === 0);
  if (whole !== undefined)
    throw new CliError(
      'usage',
      'One erasure cannot take the whole state. Pass paths inside it with --at.',
    );
}
