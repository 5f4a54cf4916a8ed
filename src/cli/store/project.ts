import type { Command } from 'commander';
import { type Policy, ruleTable } from '#authority';
import { findConfig, loadConfig, type ResolvedConfig } from '#config';
import { CliError } from '../errors.ts';
import { divertPrints } from '../terminal/output.ts';
import { ruleTableIn } from './policies.ts';

/** The configuration that the running command uses. A process runs one command at a time. */
let current: ResolvedConfig | undefined;

/** The configuration of the project. Undefined if there is no config file, or none is used. */
export function project(): ResolvedConfig | undefined {
  return current;
}

/** The options of which a configuration can fill in the store. */
interface ProjectOptions {
  readonly config?: string;
  readonly store?: string;
}

/**
 * Loads the config for a command that has `--config`: the named file, or the one of the working
 * folder or a folder above. Returns the options with the store of the config, unless the command
 * line or the environment names a store.
 *
 * @throws ConfigError
 */
export async function openProject<Options extends { readonly config?: string }>(
  command: Command,
  options: Options,
): Promise<Options> {
  current = undefined;
  if (!command.options.some(({ long }) => long === '--config')) return options;
  const file = options.config ?? findConfig('.');
  if (file === undefined) return options;
  // A module may print, and standard output is for the result.
  divertPrints();
  current = await loadConfig({ file, ...storeGiven(command, options) });
  return { ...options, store: current.store };
}

/** A name that is empty stays so, and is refused later. */
function storeGiven(command: Command, { store }: ProjectOptions): Pick<ProjectOptions, 'store'> {
  const source = command.getOptionValueSource('store');
  return source === undefined || source === 'default' || store === undefined ? {} : { store };
}

/**
 * The policy of the config. A file is a rule table in JSON.
 *
 * @throws CliError
 */
export function projectPolicy(): Policy | undefined {
  const { policy, policyFile } = current ?? {};
  if (policyFile === undefined) return policy;
  if (policyFile.endsWith('.json')) return ruleTable(ruleTableIn(policyFile));
  throw new CliError(
    'usage',
    `This command cannot read the policy ${policyFile} of the config. Name a rule table in JSON, or give the policy itself.`,
  );
}
