import { checkRow, type EntryRow, type ErasureInput, type ErasureRuling, type Store } from 'assize';
import { segment } from 'assize/authority';
import { parsePointer } from 'assize/canon';
import { ERASE_ACTION, eraseMemoryScope, eraseScope } from 'assize/kernel';
import { answersErasedBy, type ErasureArgs, isErasure, Values } from 'assize/ledger';
import type { Command } from 'commander';
import { counted } from '../counted.ts';
import { findEntry, headOf, shortId } from '../entries.ts';
import { CliError, EXIT } from '../errors.ts';
import { writsIn } from '../listed-writs.ts';
import { momentaryWrit } from '../momentary-writ.ts';
import { anchorsOption, domainOption, type OpeningOptions, repeatable, withSharedOptions } from '../options.ts';
import { green, line, red, yellow } from '../printable.ts';
import { readPrivateKey, requireAnchor } from '../private-key.ts';
import { openAssize } from '../runtime.ts';
import { inSession, type Session, type SharedOptions } from '../session.ts';
import { shortName } from '../writ-text.ts';

interface Options extends SharedOptions, OpeningOptions {
  readonly at: readonly string[];
  readonly entry: readonly string[];
  readonly believed: readonly string[];
  readonly claim?: string;
  readonly reason: string;
  readonly key: string;
  readonly principal: string;
}

/** What is to be erased, with whole ids. */
type Wanted = Required<Pick<ErasureInput, 'at' | 'entries' | 'beliefs'>>;

export function erase(program: Command): void {
  withSharedOptions(
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
          '--believed <of>',
          'what is believed of a subject, as space/subject, or of one predicate of it, as space/subject/predicate; in a name ~1 is /, and ~0 is ~',
        ),
      )
      .option('--claim <id>', 'only what one claim of it says')
      .requiredOption('--reason <text>', 'why; it stays in the ledger')
      .requiredOption('--key <file>', 'the private key of one of the store’s anchors: 64 hex digits')
      .option('--principal <who>', 'who erases: the subject of the writ that is made for this', 'operator')
      .addOption(domainOption)
      .addOption(anchorsOption),
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
        'name the subject in a scope: those stay. A file of SQLite is written anew, which takes\n' +
        'time and free space as its size; PostgreSQL has the texts until VACUUM, and in its WAL\n' +
        'archive. docs/guide/erasure.md tells more.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        const beliefs = believedBy(options);
        checkPlaces(options);
        const key = readPrivateKey(options.key);
        requireAnchor(session.storeUrl, options.anchors, key, 'erases');
        return session.withStore('existing', async (store) => {
          const head = await headOf(store, trajectoryId);
          const entries = await Promise.all(options.entry.map(async (id) => (await findEntry(store, id)).id));
          const wanted = { at: options.at, entries, beliefs };
          const assize = await openAssize(store, session.storeUrl, options);
          const trajectory = await assize.open(trajectoryId);
          const { principal } = options;
          const writ = momentaryWrit(head, { action: ERASE_ACTION, scopes: scopesOf(wanted), principal }, key);
          session.progress.announce('erasing, with the file written anew where the store is one');
          const ruling = await trajectory.erase({ ...wanted, reason: options.reason, writ });
          session.progress.end();
          await say(session, store, ruling, await writsNaming(store, trajectoryId, beliefs));
          return ruling.ruling === 'committed' ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/** @throws CliError `usage` */
function believedBy({ believed, claim }: Options): Wanted['beliefs'] {
  if (claim !== undefined && believed.length !== 1)
    throw new CliError('usage', 'Say with one --believed of whom the claim is.');
  return believed.map((text) => {
    const [space, subject, predicate, ...more] = parsePointer(`/${text}`);
    if (!space || !subject || predicate === '' || more.length > 0)
      throw new CliError('usage', 'What is believed is named as space/subject or space/subject/predicate.');
    return { space, subject, ...(predicate !== undefined && { predicate }), ...(claim !== undefined && { claim }) };
  });
}

function checkPlaces({ at, entry, believed }: Options): void {
  if (at.length + entry.length + believed.length === 0)
    throw new CliError('usage', 'Say with --at, --entry or --believed what is to be erased.');
  const whole = at.find((place) => parsePointer(place).length === 0);
  if (whole !== undefined) throw new CliError('usage', 'The whole state is not erased at once; name places in it.');
}

/** What a writ for just this covers. */
function scopesOf({ at, entries, beliefs }: Wanted): string[] {
  const spaces = new Set(beliefs.map(({ space }) => eraseMemoryScope(space)));
  return [...at.map(eraseScope), ...entries.map((id) => `erase:entry:${id}`), ...spaces];
}

/** Writs whose scopes name a subject: they are signed, and stay as they are. */
async function writsNaming(store: Store, trajectoryId: string, beliefs: Wanted['beliefs']): Promise<string[]> {
  if (beliefs.length === 0) return [];
  const subjects = new Set(beliefs.map(({ subject }) => segment(subject)));
  const names = (scope: string): boolean => {
    const [kind, , subject] = scope.split(':');
    return kind === 'memory' && subject !== undefined && subjects.has(subject);
  };
  const writs = await writsIn(store, trajectoryId);
  return writs
    .filter(({ writ, chain }) => [writ, ...chain].some(({ scopes }) => scopes?.some(names)))
    .map(({ id }) => id);
}

async function say(
  { json, out }: Session,
  store: Store,
  ruling: ErasureRuling,
  naming: readonly string[],
): Promise<void> {
  if (ruling.ruling === 'frozen') {
    const { by, detail } = ruling;
    if (json) out.document({ ruling: 'frozen', by, detail });
    else out.line(line`${yellow('frozen')} by ${shortId(by)}: ${detail}`);
    return;
  }
  const { id, seq, trajectory_id } = ruling.entry;
  const place = { ruling: ruling.ruling, trajectory_id, seq, entry_id: id };
  if (ruling.ruling === 'committed') {
    const erasure = await erasureOf(store, ruling.entry);
    const { values } = erasure;
    const answers = answersErasedBy(erasure);
    const entries = new Set(values.map((value) => value.seq)).size;
    const { left = [] } = ruling;
    if (json) {
      const logged = answers.length > 0 && { answers };
      out.document({
        ...place,
        erased: values.length,
        entries,
        values,
        ...logged,
        ...(ruling.left && { left, writs: naming }),
      });
    } else {
      const logged = answers.length === 0 ? '' : ` and ${counted(answers.length, 'answer')} of the oracle log`;
      out.line(
        line`${green('erased')} ${counted(values.length, 'value')} of ${entries === 1 ? '1 entry' : `${entries} entries`}${logged}, by ${shortId(id)}, ${trajectory_id} seq ${seq}`,
      );
      if (left.length > 0)
        out.line(line`${yellow('left')}: ${left.join(', ')} also said something of it; erase it there too`);
      if (naming.length > 0)
        out.line(
          line`${yellow('named')} in a scope of ${counted(naming.length, 'writ')}, which stay in the ledger as they are: ${naming.map(shortName).join(', ')}; write * for subjects, or a pseudonym`,
        );
    }
    return;
  }
  const { reason, detail } = ruling;
  if (json) out.document({ ...place, reason, detail });
  else if (ruling.ruling === 'rejected') out.line(line`${red('rejected')} as ${shortId(id)}: ${detail} (${reason})`);
  else out.line(line`${yellow('waits')} for ${ruling.channel} as ${shortId(id)}: ${detail}; nothing is erased yet`);
}

async function erasureOf(store: Store, row: EntryRow): Promise<ErasureArgs> {
  const { payload } = checkRow(row);
  const erasure = isErasure(payload) ? await new Values(store).erasure(row, payload) : undefined;
  if (erasure === undefined) throw new Error(`${row.id} was to be an erasure`);
  return erasure;
}
