import {
  type AssertOptions,
  CliError,
  EXIT,
  factAuthority,
  factRulingDocument,
  factRulingLine,
  inSession,
  line,
  printFacts,
  validName,
  withAssize,
  withFactAuthority,
} from '@assize/command';
import { segment } from 'assize/internal/authority';
import { counted } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { given } from './recall.ts';

interface Options extends AssertOptions {
  readonly source: string;
  readonly subject?: string;
  readonly predicate?: string;
}

export function withdraw(command: Command): void {
  withFactAuthority(
    command
      .command('withdraw')
      .description('withdraw a source: facts that rest on it alone are no longer believed')
      .argument('<trajectory>', 'trajectory that records the withdrawal')
      .addOption(
        new Option('--source <name>', 'source to withdraw')
          .argParser(validName)
          .makeOptionMandatory(),
      )
      .addOption(new Option('--subject <name>', 'only facts of this subject').argParser(validName))
      .addOption(
        new Option('--predicate <name>', 'only facts of this predicate').argParser(validName),
      ),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory withdraw notes --space ward-3 --source "mail 12" --domain ward.ts --key anchor.key\n\n' +
        'Nothing is erased: recalls as of earlier system times still return the facts. assize memory erase erases.\n' +
        'Facts that the source alone had displaced are believed again, in the same commit. With --key, the short-lived\n' +
        'writ covers the whole space.\n' +
        'Negative: the withdrawal was rejected, is pending, or is frozen.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        const authority = factAuthority(session, options);
        return session.withStore('existing', async (store) => {
          const withdrawal = { source: options.source, ...given(options, 'subject', 'predicate') };
          const { facts, restored, pending, ruling } = await withAssize(
            store,
            session.storeUrl,
            options,
            async (assize) => {
              const trajectory = await assize.open(trajectoryId);
              const writ = await authority(
                store,
                trajectoryId,
                `memory:${segment(options.space)}:**`,
              );
              return trajectory.memory({ space: options.space, writ: writ() }).withdraw(withdrawal);
            },
          );
          if (ruling === undefined)
            throw new CliError(
              'not_found',
              `No fact and no pending proposal rests on the source ${JSON.stringify(options.source)}. Pass a source that explain lists.`,
            );
          const { json, out } = session;
          if (json) out.document({ ...factRulingDocument(ruling), facts, restored, pending });
          else {
            printFacts(
              out,
              facts.map(({ fact }) => fact),
            );
            const stay = facts.filter(({ stays }) => stays).length;
            out.line(factRulingLine(ruling));
            out.line(
              line`${counted(facts.length, 'fact')} rested on the source; ${counted(stay, 'fact')} of them still believed`,
            );
            if (restored.length > 0) {
              out.line(line`${counted(restored.length, 'fact')} believed again:`);
              printFacts(out, restored);
            }
            if (pending.length > 0)
              out.line(line`Can no longer be approved, reject: ${pending.join(', ')}`);
          }
          return ruling.ruling === 'committed' ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}
