import { EXIT, line, withSharedOptions } from '@assize/command';
import type { Command } from 'commander';
import { EVERY_TENANT } from '../index.ts';
import {
  forceOption,
  inDeployment,
  type OrderOptions,
  principalOption,
  reasonOption,
  requireTenant,
  requireTenantName,
} from './deployment.ts';

/** The commands `halt` and `resume`. */
export function stops(family: Command, does: 'halt' | 'resume', description: string): void {
  const command = withSharedOptions(
    family
      .command(does)
      .description(description)
      .argument('<tenant>', 'the tenant, or * for every one')
      .addOption(reasonOption)
      .addOption(principalOption),
  );
  // The root log knows the halts that can end.
  if (does === 'halt') command.addOption(forceOption);
  command.action(
    inDeployment(async ({ log }, { json, out }, options: OrderOptions, tenant: string) => {
      const { reason, principal, force = false } = options;
      requireTenantName(tenant);
      if (does === 'halt' && tenant !== EVERY_TENANT && !force)
        requireTenant(
          await log.read(),
          tenant,
          'Pass --force to halt the name before it is placed.',
        );
      await log.order(does, { tenant, reason }, principal);
      if (json) out.document({ tenant, [does === 'halt' ? 'halted' : 'resumed']: true });
      else out.line(line`Ordered. Each cell follows within a second, or accepts no entry.`);
      return EXIT.ok;
    }),
  );
}
