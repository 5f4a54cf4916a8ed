import { checkConfig } from './check/check-config.ts';
import type { AssizeConfig } from './config.ts';

/**
 * Checks the content of `assize.config.ts`, and returns it. Every command and the server read the
 * default export of that file.
 *
 * @throws ConfigError `bad_config` with the path of the member; DuplicatePackageError
 * `duplicate_package`
 */
export function defineConfig(config: AssizeConfig): AssizeConfig {
  checkConfig(config);
  return config;
}
