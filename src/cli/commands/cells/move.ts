import type { Command } from 'commander';
import { cancelMove, type MoveStep, moveTenant } from '#cells';
import { counted } from '#views';
import { CliError, EXIT, note } from '../../errors.ts';
import { withSharedOptions } from '../../files/options.ts';
import type { SharedOptions } from '../../store/session.ts';
import { green, line } from '../../terminal/printable.ts';
import { cellOf, inDeployment, principalOption, requireTenant, requireTenantName } from './deployment.ts';

interface Options extends SharedOptions {
  readonly principal: string;
  readonly to?: string;
  readonly cancel?: boolean;
}

const STEPS: Readonly<Record<MoveStep, string>> = {
  stopping: 'waits until a server of the old cell has stopped the tenant',
  settling: 'waits for tool calls in progress',
  copying: 'copies the entries',
  verifying: 'verifies the copy',
  remembering: 'rebuilds the facts of the new cell',
  moved: 'moved',
};

export function move(family: Command): void {
  withSharedOptions(
    family
      .command('move')
      .description('move a tenant to another cell: stop, copy, verify, flip')
      .argument('<tenant>', 'the tenant')
      .option('--to <cell>', 'the cell that gets the tenant')
      .option('--cancel', 'end a move that was interrupted: the tenant stays where it is')
      .addOption(principalOption),
  )
    .addHelpText(
      'after',
      'Both cells go on for their other tenants. A server of each must run: they halt and resume the tenant.\n' +
        'An interrupted move goes on when the command is repeated. The old cell keeps its copy of the entries.',
    )
    .action(
      inDeployment(async ({ file, log }, { json, out, interruption }, options: Options, tenant: string) => {
        const { to, cancel = false, principal } = options;
        if (cancel === (to !== undefined)) throw new CliError('usage', 'Pass --to CELL, or --cancel.');
        requireTenantName(tenant);
        const directory = await log.read();
        requireTenant(directory, tenant, 'Place a new tenant with assize cells place.');
        if (to === undefined) {
          const cell = await cancelMove({ log, tenant, principal });
          if (json) out.document({ tenant, cell, moved: false });
          else out.line(line`${tenant} stays in ${cell}.`);
          return EXIT.ok;
        }
        const place = directory.tenants[tenant];
        if (place?.cell === to && place.to === undefined) {
          if (json) out.document({ tenant, cell: to, moved: false });
          else out.line(line`${tenant} lives in ${to} already.`);
          return EXIT.ok;
        }
        let isStopped = false;
        const moved = await moveTenant({
          ...{ file, log, tenant, to: cellOf(file, to), principal, signal: interruption },
          onStep: (step) => {
            isStopped = true;
            if (!json && step !== 'moved') out.line(line`${STEPS[step]}`);
          },
        }).catch((error: unknown) => {
          if (isStopped)
            note(
              `${tenant} is stopped. Repeat the command to go on, or end the move: assize cells move ${tenant} --cancel`,
            );
          throw error;
        });
        if (json) out.document({ tenant, cell: to, moved: true, ...moved });
        else {
          const what = `${counted(moved.trajectories, 'trajectory')} with ${counted(moved.entries, 'entry')}`;
          out.line(green(line`${tenant} lives in ${to}: ${what} came from ${moved.from}.`));
        }
        return EXIT.ok;
      }),
    );
}
