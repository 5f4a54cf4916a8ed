import {
  CliError,
  EXIT,
  inSession,
  line,
  printFacts,
  readingAssize,
  withSharedOptions,
} from '@assize/command';
import type { Support } from 'assize/internal/runtime';
import { counted } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { type AboutOptions, about, given } from './recall.ts';

interface Options extends AboutOptions {
  readonly source?: string;
  readonly policy?: string;
  readonly approver?: string;
  readonly judge?: string;
}

const SUPPORTS = ['source', 'policy', 'approver', 'judge'] as const;

export function restsOn(command: Command): void {
  withSharedOptions(
    about(
      command
        .command('rests-on')
        .description('list the facts that rest on a source, policy, approver or judge vote'),
    )
      .addOption(new Option('--source <name>', 'source of statements, such as the id of a message'))
      .addOption(new Option('--policy <version>', 'or a policy version of the judge'))
      .addOption(new Option('--approver <name>', 'or a counselor that chose facts'))
      .addOption(new Option('--judge <key>', 'or the oracle key of a judge vote')),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory rests-on --space ward-3 --source "mail 12"\n\n' +
        'A fact "stays" if it also rests on something else. No domain is needed.\n' +
        'Negative: no fact rests on it.',
    )
    .action(
      inSession((session, options: Options) => {
        const named = SUPPORTS.filter((kind) => options[kind] !== undefined);
        if (named.length !== 1)
          throw new CliError('usage', 'Pass one of --source, --policy, --approver and --judge.');
        const support = { [named[0]!]: options[named[0]!] } as unknown as Support;
        return session.withStore('readonly', async (store) => {
          const memory = readingAssize(store).memory(options.space, options.trajectory);
          const found = await memory.restingOn(support, given(options, 'subject', 'predicate'));
          const { json, out } = session;
          if (json) out.document({ facts: found });
          else {
            printFacts(
              out,
              found.map(({ fact }) => fact),
            );
            const stay = found.filter(({ stays }) => stays).length;
            out.line(
              line`${counted(found.length, 'fact')}, ${counted(stay, 'fact')} of them also on something else`,
            );
          }
          return found.length > 0 ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}
