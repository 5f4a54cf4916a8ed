import { dirname, resolve } from 'node:path';
import { type Environment, ownEnvironment } from './environment.ts';
import { findConfig } from './find-config.ts';
import { readConfig } from './read-config.ts';
import { type ResolvedConfig, resolveConfig } from './resolved-config.ts';

export interface LoadOptions {
  /** The folder in which the search for a config starts. Default: the working folder. */
  readonly from?: string | undefined;
  /** The config file. Default: the one that the search finds. */
  readonly file?: string | undefined;
  /** A store that overrides all others. */
  readonly store?: string | undefined;
  /** An archive that overrides all others. */
  readonly archive?: string | undefined;
  /** Default: that of the process. */
  readonly env?: Environment;
}

/**
 * The configuration of a project, with every default. A project without a config file has the
 * defaults alone.
 *
 * The store is the first of these: `store`, ASSIZE_STORE, that of the config, `sqlite:./assize.db`.
 * The archive is the first of these: `archive`, ASSIZE_ARCHIVE, that of the config. Relative paths
 * of the config are relative to its folder.
 *
 * @throws ConfigError `not_found`, `bad_config`; DuplicatePackageError `duplicate_package`
 */
export async function loadConfig(options: LoadOptions = {}): Promise<ResolvedConfig> {
  const { from = '.', store, archive, env = ownEnvironment() } = options;
  const file = options.file === undefined ? findConfig(from) : resolve(options.file);
  if (file === undefined) return resolveConfig({}, { folder: resolve(from), store, archive, env });
  return resolveConfig(await readConfig(file), {
    file,
    folder: dirname(file),
    store,
    archive,
    env,
  });
}
