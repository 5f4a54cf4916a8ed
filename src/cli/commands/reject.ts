import type { Command } from 'commander';
import { anchorsOption, domainOption, withSharedOptions } from '../files/options.ts';
import { inSession } from '../store/session.ts';
import { METHOD, type ResolvingOptions, resolvePending } from './resolution.ts';

interface Options extends ResolvingOptions {
  readonly reason: string;
}

export function reject(program: Command): void {
  withSharedOptions(
    program
      .command('reject')
      .description('refuse what waits for a person, as one of the counselors of its domain')
      .argument('<pending>', 'its id, or the first 8 digits of it')
      .requiredOption('--as <principal>', 'who rejects; recorded')
      .requiredOption('--reason <text>', 'why; recorded')
      .option('--digest <hex>', 'the digest that was looked at (or its first 8 digits): another one is refused')
      .addOption(domainOption)
      .addOption(anchorsOption),
  )
    .addHelpText('after', 'Whoever may write the store may reject in anybody’s name: the method is recorded as cli.')
    .action(
      inSession((session, options: Options, pending: string) => {
        const { as: principal, reason } = options;
        return resolvePending(session, options, pending, ['rejected'], (trajectory, row, digest) =>
          trajectory.reject(row.id, { principal, method: METHOD, reason, ...digest }),
        );
      }),
    );
}
