import { type Command, Option } from 'commander';
import { segment } from '#authority';
import { ChatMemory, type Repair } from '#chat';
import { systemClock } from '#oracle';
import { counted, shortId } from '#views';
import { EXIT } from '../../errors.ts';
import { withSharedOptions } from '../../files/options.ts';
import { openAssize } from '../../store/runtime.ts';
import { inSession, type Session } from '../../store/session.ts';
import { line, yellow } from '../../terminal/printable.ts';
import { type AssertOptions, authorityIn, describedRuling, rulingLine, withAuthority } from '../assert-memory.ts';

interface Options extends AssertOptions {
  readonly apply?: boolean;
}

export function repair(command: Command): void {
  withSharedOptions(
    withAuthority(
      command
        .command('repair')
        .description('list what followed from a false fact, or withdraw it')
        .argument('<fact>', 'whole id of the fact, as --json of ask has it')
        .argument('<trajectory>', 'trajectory that records the withdrawal')
        .addOption(new Option('--apply', 'withdraw the fact and the facts that followed from it, in one commit')),
    ),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory repair FACT chat --space user:ida --key anchor.key --apply\n\n' +
        'A fact follows from another if its statement observed a recall of it (basedOn of remember). Actions that used\n' +
        'the fact are listed for a person, and not undone.\n' +
        'Negative: with --apply, the withdrawal was rejected, is pending, or is frozen.',
    )
    .action(
      inSession((session, options: Options, fact: string, trajectoryId: string) => {
        const authority = authorityIn(session, options);
        return session.withStore('existing', async (store) => {
          const assize = await openAssize(store, session.storeUrl, options);
          const trajectory = await assize.open(trajectoryId);
          const { writ } = await authority(store, trajectoryId, `memory:${segment(options.space)}:**`);
          const memory = new ChatMemory({ assize, store, trajectory, writ: writ() }, { clock: systemClock });
          const done = await memory.repair({ id: fact, space: options.space }, { apply: options.apply === true });
          await assize.close();
          print(session, done);
          return done.ruling === undefined || done.ruling.ruling === 'committed' ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

function print({ json, out }: Session, { fact, isBelieved, withdrawn, decisions, unresolved, ruling }: Repair): void {
  if (json) {
    const recorded = ruling === undefined ? {} : { ruling: describedRuling(ruling) };
    out.document({ fact, is_believed: isBelieved, withdrawn, decisions, unresolved, ...recorded });
    return;
  }
  for (const { space, subject, predicate, object } of withdrawn)
    out.line(line`withdraw ${subject} ${predicate} ${object} (${space})`);
  for (const { id, trajectoryId, seq, action } of decisions)
    out.line(line`${yellow('look at')} ${action} ${shortId(id)}, ${trajectoryId} seq ${seq}`);
  for (const { id, trajectoryId, seq } of unresolved)
    out.line(line`${yellow('cannot withdraw')} the facts of ${shortId(id)}, ${trajectoryId} seq ${seq}`);
  if (ruling !== undefined) out.line(rulingLine(ruling));
  else out.line(line`${counted(withdrawn.length, 'fact')} to withdraw; nothing is recorded`);
}
