import type { WritChain } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import { hasReservedPrefix } from 'assize/internal/kernel';
import { type EntryRow, isHash } from 'assize/internal/ledger';
import type { Trajectory } from 'assize/internal/runtime';
import { type Caller, isOfKind } from './caller.ts';
import { ServerError } from './errors.ts';
import { READERS } from './operation.ts';
import type { Service } from './service.ts';

/** The caller of a request, and the parts of the server that check its authority. */
export interface AuthorisedRequest {
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
export async function callerTrajectory(
  { caller, service }: AuthorisedRequest,
  trajectoryId: string,
): Promise<Trajectory> {
  const mayKnow = isOfKind(caller, READERS) || (await service.grants.mayAct(caller, trajectoryId));
  if (!mayKnow) throw noTrajectory(trajectoryId);
  try {
    return await service.assize.open(trajectoryId);
  } catch (error) {
    throw isAssizeError(error, 'not_found') ? noTrajectory(trajectoryId) : error;
  }
}

function noTrajectory(trajectoryId: string): ServerError {
  return new ServerError(
    'not_found',
    `There is no trajectory ${trajectoryId}. List them with GET /v1/trajectories.`,
    {
      evidence: { trajectory_id: trajectoryId },
    },
  );
}

/** The last durable entry of a trajectory, from any process. */
export async function headOf(
  { service }: Pick<AuthorisedRequest, 'service'>,
  trajectoryId: string,
): Promise<EntryRow> {
  const head = await service.store.head(trajectoryId);
  if (head === undefined) throw noTrajectory(trajectoryId);
  return head;
}

/**
 * The entry that a caller names by its id, or by `TRAJECTORY@SEQ`.
 *
 * @throws ServerError `not_found`
 */
export async function entryNamed(
  { service }: Pick<AuthorisedRequest, 'service'>,
  text: string,
): Promise<EntryRow> {
  const [, trajectoryId, seq] = /^(.+)@(\d{1,15})$/.exec(text) ?? [];
  const row =
    trajectoryId === undefined
      ? isHash(text)
        ? await service.store.resolve(text)
        : undefined
      : (await service.store.entries(trajectoryId, { from: Number(seq), limit: 1 }))[0];
  if (row !== undefined) return row;
  throw new ServerError(
    'not_found',
    `There is no entry ${text}. Pass an id of 64 hex digits, or TRAJECTORY@SEQ.`,
  );
}

/**
 * The entity tag of a state, by its entry: an erasure changes states, and not the ids of their
 * entries.
 */
export async function tagsOfStates({
  assize,
}: Pick<Service, 'assize'>): Promise<(entry: EntryRow) => string> {
  const erasures = await assize.erasures();
  return ({ id }) => `${id}-${erasures}`;
}

/** @throws ServerError `forbidden` for a name of the server */
export function requireOwnName(trajectoryId: string): void {
  if (hasReservedPrefix(trajectoryId))
    throw new ServerError(
      'forbidden',
      `Names with assize: are for the server. Choose another name than ${trajectoryId}.`,
    );
}

/**
 * A short writ of a caller for an action in a trajectory.
 *
 * @throws ServerError `forbidden` if the caller has no authority there
 */
export async function agentWrit(
  { caller, service }: AuthorisedRequest,
  trajectoryId: string,
  action: string,
): Promise<WritChain> {
  const writ = await service.grants.forAgent(caller, trajectoryId, action, service.clock.now());
  if (writ !== undefined) return writ;
  throw new ServerError(
    'forbidden',
    `${caller.name} has no grant in the trajectory ${trajectoryId}. Add one to \`principals\` of the configuration. In a delegated trajectory, only the principal of the delegation acts.`,
  );
}
