import { EXIT, green, line, type Printable, red, withSharedOptions } from '@assize/command';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { auditCells, type CellAudit } from '../index.ts';
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
      if (json) out.document({ sound: isSound, cells: audits.map(auditDocument) });
      else for (const each of audits) out.line(auditLine(each));
      return isSound ? EXIT.ok : EXIT.negative;
    }),
  );
}

function auditDocument({ cell, recorded, size, fault }: CellAudit): object {
  return {
    cell,
    recorded: recorded ?? null,
    size: size ?? null,
    ...(fault !== undefined && { fault }),
  };
}

function auditLine({ cell, recorded = 0, size = 0, fault }: CellAudit): Printable {
  if (fault !== undefined) return red(line`${cell}: ${fault}`);
  return green(line`${cell}: ${counted(size, 'entry')}, ${recorded} in the root log`);
}
