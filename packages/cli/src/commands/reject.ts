import { inSession, withOpeningOptions } from '@assize/command';
import type { Command } from 'commander';
import { METHOD, type ResolvingOptions, resolvePending } from './resolution.ts';

interface Options extends ResolvingOptions {
  readonly reason: string;
}

export function reject(program: Command): void {
  withOpeningOptions(
    program
      .command('reject')
      .description('reject a pending proposal as a counselor of its domain')
      .argument('<pending>', 'id of the proposal, or its first 8 digits; or TRAJECTORY@SEQ')
      .requiredOption('--as <principal>', 'the rejecting principal; recorded')
      .requiredOption('--reason <text>', 'reason for the rejection; recorded')
      .option(
        '--digest <hex>',
        'digest of the inspected proposal, or its first 8 digits; another digest is refused',
      ),
  )
    .addHelpText(
      'after',
      'A process that can write the store can reject under any name. The recorded method is cli.',
    )
    .action(
      inSession((session, options: Options, pending: string) => {
        const { as: principal, reason } = options;
        return resolvePending(session, options, pending, ['rejected'], (trajectory, row, digest) =>
          trajectory.approvals.reject(row.id, { principal, method: METHOD, reason, ...digest }),
        );
      }),
    );
}
