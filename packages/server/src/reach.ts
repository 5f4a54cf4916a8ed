import { isAssizeError } from 'assize/internal/base';
import { hasReservedPrefix } from 'assize/internal/kernel';
import { type EntryRow, type Hash, isHash, type Payload, Replayer, readRow } from 'assize/internal/ledger';
import { Trajectory } from 'assize/internal/runtime';
import { ServerError } from './errors.ts';
import { READERS } from './operations/operation.ts';
import { type Caller, isOfKind } from './principals/caller.ts';
import type { Service } from './service.ts';

/** The parts of a request that reach a trajectory. */
export interface Reaching {
  readonly caller: Caller;
  readonly service: Service;
  /** The header `traceparent`, if it has the form of W3C. Entries of the request record it. */
  readonly traceparent?: string | undefined;
}

/**
 * The trajectory of a request. For a caller that may not read the ledger and has no authority
 * there, the trajectory does not exist.
 *
 * @throws RuntimeError `not_found` and the errors of `Assize.open`
 */
export async function callerTrajectory({ caller, service }: Reaching, trajectoryId: string): Promise<Trajectory> {
  const mayKnow = isOfKind(caller, READERS) || (await service.grants.mayAct(caller, trajectoryId));
  if (!mayKnow) throw noTrajectory(trajectoryId);
  try {
    return await service.assize.open(trajectoryId);
  } catch (error) {
    throw isAssizeError(error, 'not_found') ? noTrajectory(trajectoryId) : error;
  }
}

/**
 * The trajectory of a request about tool calls, with the entries of other processes read.
 *
 * @throws ServerError `not_found` for a trajectory of another domain
 */
export async function gatewayTrajectory(request: Reaching, trajectoryId: string): Promise<Trajectory> {
  const trajectory = await callerTrajectory(request, trajectoryId);
  if (trajectory.domain.name !== 'gateway')
    throw new ServerError('not_found', `The domain of ${trajectory.id} is not gateway, so it has no calls.`);
  await Trajectory.catchUp(trajectory);
  return trajectory;
}

function noTrajectory(trajectoryId: string): ServerError {
  return new ServerError('not_found', `There is no trajectory ${trajectoryId}. List them with GET /v1/trajectories.`, {
    evidence: { trajectory_id: trajectoryId },
  });
}

/** The last durable entry of a trajectory, from any process. */
export async function headOf({ service }: Pick<Reaching, 'service'>, trajectoryId: string): Promise<EntryRow> {
  const head = await service.store.head(trajectoryId);
  if (head === undefined) throw noTrajectory(trajectoryId);
  return head;
}

/**
 * The entry that a caller names by its id, or by `TRAJECTORY@SEQ`.
 *
 * @throws ServerError `not_found`
 */
export async function entryNamed({ service }: Pick<Reaching, 'service'>, text: string): Promise<EntryRow> {
  const [, trajectoryId, seq] = /^(.+)@(\d{1,15})$/.exec(text) ?? [];
  const row =
    trajectoryId === undefined
      ? isHash(text)
        ? await service.store.resolve(text)
        : undefined
      : (await service.store.entries(trajectoryId, { from: Number(seq), limit: 1 }))[0];
  if (row !== undefined) return row;
  throw new ServerError('not_found', `There is no entry ${text}. Pass an id of 64 hex digits, or TRAJECTORY@SEQ.`);
}

/**
 * The principal that caused an entry: the requester of a proposal. Undefined for other entries.
 */
export function requesterOf(payload: Payload, writSubject: (writId: Hash) => string | undefined): string | undefined {
  if (payload.kind === 'pending_approval') return writSubject(payload.proposal.writ_id);
  return 'writ_id' in payload && payload.writ_id !== undefined ? writSubject(payload.writ_id) : undefined;
}

/**
 * The entity tag of a state, by its entry: an erasure changes states, and not the ids of their
 * entries.
 */
export async function tagsOfStates({ assize }: Pick<Service, 'assize'>): Promise<(entry: EntryRow) => string> {
  const erasures = await assize.erasures();
  return ({ id }) => `${id}-${erasures}`;
}

/** A replayer that reads the store and not the memory of an open trajectory. */
export function replayerOf({ store }: Pick<Service, 'store'>): Replayer {
  return new Replayer(store);
}

/** The row with its payload. @throws LedgerFault */
export function payloadOf(row: EntryRow): Payload {
  return readRow(row).payload;
}

/** @throws ServerError `forbidden` for a name of the server */
export function requireOwnName(trajectoryId: string): void {
  if (hasReservedPrefix(trajectoryId))
    throw new ServerError(
      'forbidden',
      `Names with assize: are for the server. Choose another name than ${trajectoryId}.`,
    );
}
