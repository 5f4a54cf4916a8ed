import {
  anchorsOption,
  domainOption,
  entryKeyOption,
  type OpeningOptions,
  type RecoveryKeyOptions,
  recoveryKeyOption,
  signerOption,
  toolsOption,
  waitOption,
} from '@assize/command';
import type { Command } from 'commander';

/** The options of a command that opens trajectories and may call their tools. */
export interface ActingOptions extends OpeningOptions, RecoveryKeyOptions {
  readonly tools: readonly string[];
  readonly wait: number;
}

/** Adds the options of a command that opens trajectories and may call their tools. */
export function withActingOptions(command: Command): Command {
  return command
    .addOption(domainOption)
    .addOption(anchorsOption)
    .addOption(signerOption)
    .addOption(entryKeyOption)
    .addOption(toolsOption)
    .addOption(recoveryKeyOption)
    .addOption(waitOption);
}
