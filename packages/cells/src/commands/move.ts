import {
  CliError,
  EXIT,
  type ExitCode,
  green,
  line,
  note,
  type Printable,
  type Session,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { cancelMove, type MoveStep, moveTenant } from '../index.ts';
import {
  cellOf,
  type Deployment,
  inDeployment,
  principalOption,
  requireTenant,
  requireTenantName,
} from './deployment.ts';

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
      inDeployment(async (deployment, session, options: Options, tenant: string) => {
        const { to, cancel = false, principal } = options;
        if (cancel === (to !== undefined))
          throw new CliError('usage', 'Pass --to CELL, or --cancel.');
        requireTenantName(tenant);
        const { log } = deployment;
        const directory = await log.read();
        requireTenant(directory, tenant, 'Place a new tenant with assize cells place.');
        if (to === undefined) {
          const cell = await cancelMove({ log, tenant, principal });
          return sayNoMove(session, { tenant, cell, text: line`${tenant} stays in ${cell}.` });
        }
        const place = directory.tenants[tenant];
        if (place?.cell === to && place.to === undefined)
          return sayNoMove(session, {
            tenant,
            cell: to,
            text: line`${tenant} lives in ${to} already.`,
          });
        return moveTo(deployment, session, { tenant, to: cellOf(deployment.file, to), principal });
      }),
    );
}

function sayNoMove(
  { json, out }: Session,
  {
    tenant,
    cell,
    text,
  }: { readonly tenant: string; readonly cell: string; readonly text: Printable },
): ExitCode {
  if (json) out.document({ tenant, cell, moved: false });
  else out.line(text);
  return EXIT.ok;
}

/** Moves the tenant, or goes on with a move that was interrupted. */
async function moveTo(
  { file, log }: Deployment,
  { json, out, interruption }: Session,
  {
    tenant,
    to,
    principal,
  }: { readonly tenant: string; readonly to: string; readonly principal: string },
): Promise<ExitCode> {
  let isStopped = false;
  const onStep = (step: MoveStep): void => {
    isStopped = step !== 'moved';
    if (!json && isStopped) out.line(line`${STEPS[step]}`);
  };
  try {
    const moved = await moveTenant({
      file,
      log,
      tenant,
      to,
      principal,
      signal: interruption,
      onStep,
    });
    const content = `${counted(moved.trajectories, 'trajectory')} with ${counted(moved.entries, 'entry')}`;
    if (json) out.document({ tenant, cell: to, moved: true, ...moved });
    else out.line(green(line`${tenant} lives in ${to}: ${content} came from ${moved.from}.`));
    return EXIT.ok;
  } catch (error) {
    if (isStopped)
      note(
        `${tenant} is stopped. Repeat the command to go on, or end the move: assize cells move ${tenant} --cancel`,
      );
    throw error;
  }
}
