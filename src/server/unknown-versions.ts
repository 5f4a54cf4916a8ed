import { isAssizeError } from '#base';
import type { Logger } from './log/logger.ts';
import type { Service } from './service.ts';

/**
 * Logs a warning for each configured world whose domain has another version here. Proposals in such
 * a world are refused with `domain_mismatch` until the world is upgraded, which the server and the
 * command line can do.
 *
 * @throws the errors of an opening other than `domain_mismatch`
 */
export async function warnOfUnknownVersions(
  { assize, config }: Pick<Service, 'assize' | 'config'>,
  logger: Logger,
): Promise<void> {
  for (const world of Object.keys(config.worlds)) {
    try {
      await assize.open(world);
    } catch (error) {
      if (!isAssizeError(error, 'domain_mismatch')) throw error;
      logger.warning('domain_mismatch', { world, detail: error.message });
    }
  }
}
