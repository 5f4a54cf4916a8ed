import type { Command } from 'commander';
import { INCIDENTS } from '#domains/incident';
import { anchorsOption, domainOption, entryKeyOption, signerOption } from '../../files/options.ts';

/** The options of a command that proposes a response, or carries one out. */
export function withOfficeOptions(command: Command): Command {
  return command
    .option('--key <file>', 'private key of an anchor of the store (default: the root key of the store)')
    .option('--as <principal>', 'the acting principal; recorded', 'operator')
    .option('--incidents <trajectory>', 'trajectory of incidents', INCIDENTS)
    .addOption(domainOption)
    .addOption(anchorsOption)
    .addOption(signerOption)
    .addOption(entryKeyOption);
}
