import {
  type AssertOptions,
  EXIT,
  factAuthority,
  factRulingDocument,
  factRulingLine,
  headOf,
  inSession,
  line,
  printFacts,
  readingAssize,
  requireSpace,
  type Session,
  shortened,
  withAssize,
  withFactAuthority,
  yellow,
} from '@assize/command';
import { segment } from 'assize/internal/authority';
import { systemClock } from 'assize/internal/oracle';
import { counted, shortId, shortTime } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { ChatMemory, type Repair } from '#chat';

interface Options extends AssertOptions {
  readonly apply?: boolean;
}

export function repair(command: Command): void {
  withFactAuthority(
    command
      .command('repair')
      .description('list what followed from a false fact, or withdraw it')
      .argument('<fact>', 'id of the fact as listed by ask, or its first 8 digits')
      .argument('<trajectory>', 'trajectory that sees the fact, and records the withdrawal')
      .addOption(
        new Option(
          '--apply',
          'withdraw the fact and the facts that followed from it, in one commit',
        ),
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize memory repair 1f0c8a77 chat --space user:ida\n' +
        '  assize memory repair 1f0c8a77 chat --space user:ida --key anchor.key --apply\n\n' +
        'A fact follows from another if its statement observed a recall of it (basedOn of remember). Actions that used\n' +
        'the fact are listed for a person, and not undone. Without --apply, the command needs no writ.\n' +
        'Negative: with --apply, the withdrawal was rejected, is pending, or is frozen.',
    )
    .action(
      inSession((session, options: Options, id: string, trajectoryId: string) =>
        options.apply === true
          ? apply(session, options, id, trajectoryId)
          : session.withStore('readonly', async (store) => {
              await headOf(store, trajectoryId);
              const assize = readingAssize(store);
              await requireSpace(store, options.space);
              const reading = { mayRead: () => true, readAs: trajectoryId, clock: systemClock };
              const memory = new ChatMemory({ assize, store }, reading);
              print(session, await memory.repair({ id, space: options.space }));
              return EXIT.ok;
            }),
      ),
    );
}

function apply(
  session: Session,
  options: Options,
  id: string,
  trajectoryId: string,
): Promise<number> {
  const authority = factAuthority(session, options);
  return session.withStore('existing', async (store) => {
    const done = await withAssize(store, session.storeUrl, options, async (assize) => {
      const trajectory = await assize.open(trajectoryId);
      await requireSpace(store, options.space);
      const writ = await authority(store, trajectoryId, `memory:${segment(options.space)}:**`);
      const memory = new ChatMemory(
        { assize, store, trajectory, writ: writ() },
        { clock: systemClock },
      );
      return memory.repair({ id, space: options.space }, { apply: true });
    });
    print(session, done);
    return done.ruling === undefined || done.ruling.ruling === 'committed'
      ? EXIT.ok
      : EXIT.negative;
  });
}

function print({ json, out }: Session, repaired: Repair): void {
  const { fact, isBelieved, withdrawn, decisions, unresolved, restored, ruling } = repaired;
  if (json) {
    const recorded = ruling === undefined ? {} : { ruling: factRulingDocument(ruling) };
    out.document({
      fact,
      is_believed: isBelieved,
      withdrawn,
      decisions,
      unresolved,
      restored,
      ...recorded,
    });
    return;
  }
  if (!isBelieved)
    out.line(
      line`${fact.subject} ${fact.predicate} ${shortened(fact.object)} is not believed; its own statements stay as they are`,
    );
  if (withdrawn.length > 0)
    out.table(
      ['withdraw', 'subject', 'predicate', 'object', 'space', 'entry', 'at'].map((title) => ({
        title,
      })),
      withdrawn.map(({ as, subject, predicate, object, space, entry, at }) => [
        as,
        subject,
        predicate,
        shortened(object),
        space,
        shortId(entry),
        shortTime(at),
      ]),
    );
  for (const { id, trajectoryId, seq, action, at } of decisions)
    out.line(
      line`${yellow('look at')} ${action} ${shortId(id)}, ${trajectoryId} seq ${seq}, ${shortTime(at)}`,
    );
  for (const { id, trajectoryId, seq, at } of unresolved)
    out.line(
      line`${yellow('cannot withdraw')} the erased facts of ${shortId(id)}, ${trajectoryId} seq ${seq}, ${shortTime(at)}`,
    );
  if (restored.length > 0) {
    out.line(line`${counted(restored.length, 'fact')} believed again:`);
    printFacts(out, restored);
  }
  if (ruling !== undefined) out.line(factRulingLine(ruling));
  else if (withdrawn.length === 0) out.line(line`Nothing to withdraw.`);
  else
    out.line(
      line`${counted(withdrawn.length, 'statement')} to withdraw, with --apply. Nothing is recorded.`,
    );
}
