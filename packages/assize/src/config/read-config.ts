import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isAssizeError } from '#base';
import { parseStrict } from '#canon';
import { checkConfig } from './check/check-config.ts';
import type { AssizeConfig } from './config.ts';
import { ConfigError } from './errors.ts';
import { isFile } from './find-config.ts';
import { importFile, whyNotLoaded } from './import-file.ts';

/**
 * The checked default export of a config file. A module runs as code of this process.
 *
 * @throws ConfigError `not_found`, `bad_config`; DuplicatePackageError `duplicate_package`
 */
export async function readConfig(path: string): Promise<AssizeConfig> {
  const file = resolve(path);
  if (!isFile(file))
    throw new ConfigError(
      'not_found',
      `The config ${file} does not exist. Name another file, or create one with assize init.`,
      { evidence: { file } },
    );
  const config = file.endsWith('.json') ? jsonIn(file) : await exportedBy(file);
  checkConfig(config, `The config ${file}`);
  return config;
}

async function exportedBy(file: string): Promise<unknown> {
  const { default: config } = await importFile(file).catch((thrown: unknown) => {
    throw refused(file, thrown);
  });
  if (config !== undefined) return config;
  throw unloadable(file, 'it has no default export; write export default defineConfig({…})');
}

function jsonIn(file: string): unknown {
  try {
    return parseStrict(readFileSync(file));
  } catch (thrown) {
    throw refused(file, thrown);
  }
}

/** `defineConfig` refuses a config while its module runs: the error gets the name of the file. */
function refused(file: string, thrown: unknown): unknown {
  if (!isAssizeError(thrown, 'bad_config')) {
    if (isAssizeError(thrown, 'duplicate_package')) return thrown;
    return unloadable(file, whyNotLoaded(thrown), thrown);
  }
  const message = thrown.message.replace(/^The config\b/, `The config ${file}`);
  return new ConfigError('bad_config', message, { evidence: thrown.evidence, cause: thrown });
}

function unloadable(file: string, why: string, cause?: unknown): ConfigError {
  return new ConfigError('bad_config', `The config ${file} cannot be loaded: ${why}`, {
    cause,
    evidence: { file },
  });
}
