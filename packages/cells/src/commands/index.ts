import type { Command } from 'commander';
import { audit } from './audit.ts';
import { move } from './move.ts';
import { place } from './place.ts';
import { revoke } from './revoke.ts';
import { status } from './status.ts';
import { stops } from './stops.ts';

export function cells(program: Command): void {
  const family = program
    .command('cells')
    .description('place tenants over several databases, and give orders to all of them')
    .addHelpText(
      'after',
      '\nExamples:\n  assize cells status --store cells:cells.yaml\n  assize cells move acme --to eu-2\n\n' +
        'The store is cells:FILE, from --store, ASSIZE_STORE or the configuration.',
    );
  status(family);
  place(family);
  move(family);
  stops(family, 'halt', 'stop a tenant, or every tenant (*), in every cell');
  stops(family, 'resume', 'end a halt of the root log');
  revoke(family);
  audit(family);
}
