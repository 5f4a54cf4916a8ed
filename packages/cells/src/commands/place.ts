import { EXIT, line, type SharedOptions, withSharedOptions } from '@assize/command';
import { ownerOf } from 'assize/internal/canon';
import type { Command } from 'commander';
import type { CellsFile } from '../index.ts';
import { cellOf, inDeployment, principalOption, requireTenantName } from './deployment.ts';

interface Options extends SharedOptions {
  readonly principal: string;
  readonly cell?: string;
}

export function place(family: Command): void {
  withSharedOptions(
    family
      .command('place')
      .description('place a new tenant in a cell')
      .argument('<tenant>', 'the part of its trajectories’ names before the first colon')
      .option('--cell <name>', 'the cell (default: chosen by the name of the tenant)')
      .addOption(principalOption),
  )
    .addHelpText(
      'after',
      'A tenant that lives in the cell already stays there, and nothing is ordered.',
    )
    .action(
      inDeployment(
        async (
          { file, log },
          { json, out },
          { principal, cell: wanted }: Options,
          tenant: string,
        ) => {
          requireTenantName(tenant);
          const named = wanted === undefined ? undefined : cellOf(file, wanted);
          const { tenants } = await log.read();
          const place = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
          const livesThere =
            place !== undefined && place.to === undefined && (named ?? place.cell) === place.cell;
          const cell = livesThere ? place.cell : (named ?? chosenCell(file, tenant));
          if (!livesThere) await log.order('place', { tenant, cell }, principal);
          if (json) out.document({ tenant, cell, placed: !livesThere });
          else out.line(line`${tenant} lives in ${cell}${livesThere ? ' already' : ''}.`);
          return EXIT.ok;
        },
        'create',
      ),
    );
}

/** The cell of a tenant that names none: the same for each place of the command. */
function chosenCell({ cells }: CellsFile, tenant: string): string {
  const candidates = cells.map(({ name }) => ({ id: name }));
  return ownerOf(tenant, candidates)!.id;
}
