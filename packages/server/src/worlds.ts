import { ServerError } from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import type { Domain } from 'assize/internal/kernel';
import { readRow } from 'assize/internal/ledger';
import type { ServerService } from './service.ts';

/**
 * Creates the worlds of the configuration that the store does not have. Another process may create
 * the same world at the same time.
 *
 * @throws ServerError `bad_config`; the errors of the creation
 */
export async function createWorlds({
  assize,
  config,
  domains,
  store,
}: Pick<ServerService, 'assize' | 'config' | 'domains' | 'store'>): Promise<void> {
  const known = new Set((await assize.trajectories()).map(({ trajectory_id }) => trajectory_id));
  for (const [trajectoryId, world] of Object.entries(config.worlds)) {
    const domain = domains.find(({ name }) => name === world.domain) as Domain;
    if (known.has(trajectoryId)) {
      await requireOwn(store, trajectoryId);
      continue;
    }
    try {
      await assize.create(domain, {
        trajectoryId,
        ...(world.initial !== undefined && { initial: world.initial }),
        ...(world.note !== undefined && { note: world.note }),
      });
    } catch (error) {
      if (!isAssizeError(error, 'exists')) throw error;
    }
  }
}

/** An agent chose the name of a delegated trajectory, and a world must not meet it. */
async function requireOwn(store: ServerService['store'], trajectoryId: string): Promise<void> {
  const [first] = await store.entries(trajectoryId, { from: 0, limit: 1 });
  const begun = first && readRow(first).payload;
  if (begun?.kind !== 'root' || begun.delegated_from === undefined) return;
  throw new ServerError(
    'bad_config',
    `The world ${trajectoryId} has the name of a trajectory that an agent delegated. Give the world another name.`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}
