import type { Command } from 'commander';
import {
  type OpeningOptions,
  toolsOption,
  waitOption,
  withOpeningOptions,
} from '../files/options.ts';
import { type RecoveryKeyOptions, recoveryKeyOption } from './recovery-key.ts';

/** The options of a command that opens trajectories and may call their tools. */
export interface ActingOptions extends OpeningOptions, RecoveryKeyOptions {
  readonly tools: readonly string[];
  readonly wait: number;
}

/** Adds the options of a command that opens trajectories and may call their tools. */
export function withActingOptions(command: Command): Command {
  return withOpeningOptions(
    command.addOption(toolsOption).addOption(recoveryKeyOption).addOption(waitOption),
  );
}
