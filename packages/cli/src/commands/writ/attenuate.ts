import {
  CliError,
  EXIT,
  inSession,
  newNonce,
  readPrivateKey,
  readWritFile,
  type SharedOptions,
  type TermOptions,
  termsOf,
  withSharedOptions,
  withTerms,
  writeWritFile,
} from '@assize/command';
import { attenuate, delegateWrit } from 'assize/internal/authority';
import type { Command } from 'commander';

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
        .description('sign an attenuated child of a writ for another holder')
        .argument('<writ>', 'file with the parent and its ancestors, or - for standard input'),
      'as in the parent',
    )
      .requiredOption('--key <file>', 'private key of the parent’s subject: 64 hex digits')
      .option(
        '--delegate',
        'attenuate for another trajectory, as input of `delegate`; an omitted budget is empty',
      )
      .option('--out <file>', 'output file (default: standard output)'),
  )
    .addHelpText(
      'after',
      'Omitted terms are copied from the parent. Only --max-depth is one less.\n' +
        'A child that grants more than its parent is refused, and the error names the axis.',
    )
    .action(
      inSession(async (session, options: Options, file: string) => {
        const { writ: parent, chain } = readWritFile(file);
        const { privateKey } = readPrivateKey(options.key, [parent.subject]);
        const { subject } = options;
        if (subject === undefined)
          throw new CliError('usage', 'The subject is missing. Pass --subject PRINCIPAL.');
        const changes = { nonce: newNonce(), ...termsOf(options), subject };
        const { trajectory } = changes;
        if (options.delegate === true && trajectory === undefined)
          throw new CliError(
            'usage',
            'The delegated trajectory is missing. Pass --trajectory NAME.',
          );
        const child =
          options.delegate === true
            ? delegateWrit(parent, { ...changes, trajectory: trajectory as string }, privateKey)
            : attenuate(parent, changes, privateKey);
        writeWritFile(session, options.out, { writ: child, chain: [parent, ...chain] });
        return EXIT.ok;
      }),
    );
}
