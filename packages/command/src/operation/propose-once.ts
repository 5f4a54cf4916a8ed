import type { WritChain } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import { type EntryRow, type Hash, readRow } from 'assize/internal/ledger';
import type { ProposalInput, Ruling, Trajectory } from 'assize/internal/runtime';
import type { AuthorisedRequest } from './access.ts';

/**
 * Proposes, also as the repetition of a proposal under an earlier short writ. The short writ is a
 * part of a proposal's identity, and the server issues another one in each period. The entry
 * records the trace context of the request, and who made the caller's token.
 */
export async function proposeOnce(
  reaching: AuthorisedRequest,
  trajectory: Trajectory,
  given: ProposalInput,
): Promise<Ruling> {
  const { caller, traceparent } = reaching;
  const input = { ...given, principal: caller.name, traceparent, tokenBy: caller.tokenBy };
  try {
    return await trajectory.propose(input as never);
  } catch (error) {
    if (!isAssizeError(error, 'idempotency_conflict')) throw error;
    const before = await reaching.service.store.resolve(String(error.evidence['entry']));
    const writ = before === undefined ? undefined : await writBefore(reaching, trajectory, before);
    if (writ === undefined) throw error;
    return trajectory.propose({ ...input, writ } as never).catch((cause: unknown) => {
      throw isAssizeError(cause, 'unknown_writ') ? error : cause;
    });
  }
}

/**
 * The short writ of an earlier ruling. The ledger has the writs of commits and pending proposals;
 * that of a rejection is issued again.
 */
async function writBefore(
  { caller, service }: AuthorisedRequest,
  { id }: Trajectory,
  row: EntryRow,
): Promise<WritChain | Hash | undefined> {
  const writ = writIdOf(row);
  if (writ === undefined) return undefined;
  const issued = await service.grants.issuedBefore(caller.name, id, writ, readRow(row).payload.at);
  return issued ?? writ;
}

function writIdOf(row: EntryRow): Hash | undefined {
  const { payload } = readRow(row);
  if (payload.kind === 'pending_approval') return payload.proposal.writ_id;
  return 'writ_id' in payload ? payload.writ_id : undefined;
}
