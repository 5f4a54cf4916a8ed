import type { Command } from 'commander';
import { auditCells } from '#cells';
import { counted } from '#views';
import { EXIT } from '../../errors.ts';
import { withSharedOptions } from '../../files/options.ts';
import { green, line, red } from '../../terminal/printable.ts';
import { inDeployment } from './deployment.ts';

export function audit(family: Command): void {
  withSharedOptions(
    family
      .command('audit')
      .description('compare the log of each cell with its last checkpoint in the root log')
      .addHelpText(
        'after',
        '\nThe root log itself is verified as every store is:\n  assize verify --store cells:FILE\n\n' +
          'Negative: a cell lacks entries, was changed, or cannot be read.',
      ),
  ).action(
    inDeployment(async ({ file, log }, { json, out }) => {
      const audits = await auditCells(file, log);
      const isSound = audits.every(({ fault }) => fault === undefined);
      if (json)
        out.document({
          sound: isSound,
          cells: audits.map(({ cell, recorded, size, fault }) => ({
            ...{ cell, recorded: recorded ?? null, size: size ?? null },
            ...(fault !== undefined && { fault }),
          })),
        });
      else
        for (const { cell, recorded, size, fault } of audits)
          out.line(
            fault === undefined
              ? green(
                  line`${cell}: ${counted(size ?? 0, 'entry')}, of which ${String(recorded ?? 0)} are in the root log`,
                )
              : red(line`${cell}: ${fault}`),
          );
      return isSound ? EXIT.ok : EXIT.negative;
    }),
  );
}
