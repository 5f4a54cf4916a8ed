import { findConfig, loadConfig, type ResolvedConfig } from 'assize/internal/config';
import type { Command } from 'commander';
import { divertPrints } from '../terminal/output.ts';

/** The configuration that the running command uses. A process runs one command at a time. */
let current: ResolvedConfig | undefined;

/**
 * The configuration of the project. Undefined if there is no config file, or the command does not
 * use it.
 */
export function project(): ResolvedConfig | undefined {
  return current;
}

/** The name of the only counselor of a config. */
export function onlyCounselor(config: ResolvedConfig | undefined): string | undefined {
  const counselors = [...(config?.principals.values() ?? [])].filter(({ kinds }) =>
    kinds.includes('counselor'),
  );
  return counselors.length === 1 ? counselors[0]?.name : undefined;
}

/** The options whose store a configuration can fill in. */
interface ProjectOptions {
  readonly config?: string;
  readonly store?: string;
}

/**
 * Loads the config for a command that has `--config`: the named file, or the one of the working
 * folder or a folder above. Returns the options with the store and the archive of the config,
 * unless the command line or the environment names them. `needs`: with `store`, a command whose
 * store is named loads no config that is not named too.
 *
 * @throws ConfigError
 */
export async function openProject<Options extends { readonly config?: string }>(
  command: Command,
  options: Options,
  needs: 'project' | 'store' = 'project',
): Promise<Options> {
  current = undefined;
  if (needs === 'store' && options.config === undefined && 'store' in storeGiven(command, options))
    return options;
  if (!command.options.some(({ long }) => long === '--config')) return options;
  const file = options.config ?? findConfig('.');
  if (file === undefined) return options;
  // A module may print, and standard output is for the result.
  divertPrints();
  current = await loadConfig({ file, ...storeGiven(command, options), ...archiveGiven(command) });
  const { store, archive } = current;
  return { ...options, store, ...(archive !== undefined && { archive }) };
}

/** A name that is empty stays so, and is refused later. */
function storeGiven(command: Command, { store }: ProjectOptions): Pick<ProjectOptions, 'store'> {
  const source = command.getOptionValueSource('store');
  return source === undefined || source === 'default' || store === undefined ? {} : { store };
}

function archiveGiven(command: Command): { readonly archive?: string } {
  const archive = command.getOptionValue('archive') as string | undefined;
  return archive === undefined ? {} : { archive };
}
