import { isAssizeError } from 'assize/internal/base';
import { OPERATOR } from 'assize/internal/ledger';
import type { Logger } from '../log/logger.ts';
import type { ServerService } from '../service.ts';

/**
 * Logs a warning for each configured world whose domain has another version here. Proposals in such
 * a world are refused with `domain_mismatch` until the server or the
 * command line upgrades the world.
 *
 * @throws the errors of an opening other than `domain_mismatch`
 */
export async function warnOfUnknownVersions(
  { assize, config }: Pick<ServerService, 'assize' | 'config'>,
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

/** Logs a warning for each domain of a world that makes calls and has no operator. */
export function warnOfNoOperator(
  { config, domains }: Pick<ServerService, 'config' | 'domains'>,
  logger: Logger,
): void {
  if (config.tools.length === 0) return;
  const served = new Set([...Object.values(config.worlds)].map(({ domain }) => domain));
  for (const { name, actions, counselors } of domains) {
    const isCalling = Object.values(actions).some(({ calls }) => calls !== undefined);
    if (!served.has(name) || !isCalling || counselors[OPERATOR] !== undefined) continue;
    const detail = `The domain ${name} has no counselor of the kind operator, so only an admin can settle a call in doubt. Declare \`counselors.operator\`.`;
    logger.warning('no_operator', { domain: name, detail });
  }
}
