import { CliError, entryAt, headOf, type Session, watchedStore } from '@assize/command';
import type { Json } from 'assize/internal/base';
import { Replayer } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { readable } from 'assize/internal/views';
import { newestFirst } from '#calls';
import { type GatewayState, type OpenCall, openCalls } from '#gateway';

/** A call without a known outcome, in its trajectory. */
export interface FoundCall extends OpenCall {
  readonly trajectoryId: string;
  /** Absent: they are erased, or their entry is in the source of a branch. */
  readonly args?: Json;
}

/**
 * The open calls of one trajectory, or of every trajectory of the domain `gateway`, the oldest
 * first in each.
 *
 * @throws CliError `not_found` for a named trajectory of another domain
 */
export async function openCallsIn(
  session: Session,
  store: Store,
  named?: string,
): Promise<readonly FoundCall[]> {
  const all = await store.trajectories();
  const chosen = await gatewayTrajectories(store, named);
  const wanted = all.filter(({ trajectory_id }) => chosen.includes(trajectory_id));
  const total = wanted.reduce((sum, { entries }) => sum + entries, 0);
  const replayer = new Replayer(
    watchedStore(store, session.interruption, (done) =>
      session.progress.report('replaying entries', done, total),
    ),
  );
  const found: FoundCall[] = [];
  for (const { trajectory_id: trajectoryId } of wanted) {
    const { fold } = await replayer.replay(trajectoryId);
    const calls = openCalls(fold.state as unknown as GatewayState, systemClock.now());
    const args = await argsOf(store, replayer, trajectoryId, calls);
    for (const call of calls) {
      const given = args.get(call.id);
      found.push({ trajectoryId, ...call, ...(given !== undefined && { args: given }) });
    }
  }
  session.progress.end();
  return found;
}

/** The same id, if its trajectory is of the domain `gateway`. @throws CliError `not_found` */
export async function gatewayTrajectory(store: Store, trajectoryId: string): Promise<string> {
  await headOf(store, trajectoryId);
  if (await isGateway(store, trajectoryId)) return trajectoryId;
  throw new CliError(
    'not_found',
    `The domain of ${trajectoryId} is not gateway, so it has no calls. List the trajectories with assize log.`,
  );
}

/**
 * The trajectories of the domain `gateway`, or the named one.
 *
 * @throws CliError `not_found` for a named trajectory of another domain
 */
export async function gatewayTrajectories(
  store: Store,
  named?: string,
): Promise<readonly string[]> {
  if (named !== undefined) return [await gatewayTrajectory(store, named)];
  const chosen: string[] = [];
  for (const { trajectory_id } of await store.trajectories())
    if (await isGateway(store, trajectory_id)) chosen.push(trajectory_id);
  return chosen;
}

async function isGateway(store: Store, trajectoryId: string): Promise<boolean> {
  const first = readable(await entryAt(store, trajectoryId, 0))?.payload;
  return (first?.kind === 'root' || first?.kind === 'branch') && first.domain.name === 'gateway';
}

/** The arguments of calls by their ids. The state has only hashes, so their entries are read. */
async function argsOf(
  store: Store,
  { values }: Replayer,
  trajectoryId: string,
  calls: readonly OpenCall[],
): Promise<ReadonlyMap<string, Json>> {
  const found = new Map<string, Json>();
  const missing = new Set(calls.map(({ id }) => id));
  const [oldest] = calls;
  if (oldest === undefined) return found;
  for await (const { payload } of newestFirst(store, trajectoryId, oldest.at)) {
    if (missing.size === 0) break;
    if (payload.kind !== 'commit' || payload.action.name !== 'call') continue;
    const read = await values.read(payload, payload.action.args);
    const { id = '', args } = ('value' in read ? read.value : {}) as {
      readonly id?: string;
      readonly args?: Json;
    };
    if (missing.delete(id) && args !== undefined) found.set(id, args);
  }
  return found;
}
