import type { Command } from 'commander';
import { attenuate, delegateWrit } from '#authority';
import { CliError, EXIT } from '../../errors.ts';
import { withSharedOptions } from '../../files/options.ts';
import { readPrivateKey } from '../../input/private-key.ts';
import { readWritFile, writeWritFile } from '../../input/writ-file.ts';
import { newNonce, type TermOptions, termsOf, withTerms } from '../../input/writ-terms.ts';
import { inSession, type SharedOptions } from '../../store/session.ts';

interface Options extends SharedOptions, TermOptions {
  readonly key: string;
  readonly subject: string;
  readonly delegate?: boolean;
  readonly out?: string;
}

export function attenuateWrit(command: Command): void {
  withSharedOptions(
    withTerms(
      command
        .command('attenuate')
        .description('sign a child of a writ for somebody else, never wider than it')
        .argument('<writ>', 'a file with the parent and its ancestors, or - for standard input'),
      'as the parent has it',
    )
      .requiredOption('--key <file>', 'the private key of the parent’s subject: 64 hex digits')
      .option('--delegate', 'for another trajectory, to be handed to `delegate`; a budget that is not named is none')
      .option('--out <file>', 'where it goes (default: standard output)'),
  )
    .addHelpText(
      'after',
      'What is not said stays as the parent has it, but --max-depth, which is one less. A child that would be wider on\n' +
        'any axis is refused, and says on which.',
    )
    .action(
      inSession(async (session, options: Options, file: string) => {
        const { writ: parent, chain } = readWritFile(file);
        const { privateKey } = readPrivateKey(options.key, [parent.subject]);
        const { subject } = options;
        if (subject === undefined) throw new CliError('usage', 'Say with --subject who may use it.');
        const changes = { nonce: newNonce(), ...termsOf(options), subject };
        const { trajectory } = changes;
        if (options.delegate === true && trajectory === undefined)
          throw new CliError('usage', 'Say with --trajectory what is delegated to.');
        const child =
          options.delegate === true
            ? delegateWrit(parent, { ...changes, trajectory: trajectory as string }, privateKey)
            : attenuate(parent, changes, privateKey);
        writeWritFile(session, options.out, { writ: child, chain: [parent, ...chain] });
        return EXIT.ok;
      }),
    );
}
