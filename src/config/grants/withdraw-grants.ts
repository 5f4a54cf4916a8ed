import { writId } from '#authority';
import { isAssizeError } from '#base';
import type { Instant } from '#canon';
import { type LedgerStore, REVOKE_ACTION } from '#ledger';
import { type Assize, listWrits, type Ruling, type Trajectory, type WritChain } from '#runtime';
import { ConfigError } from '../errors.ts';
import type { GoneGrant, GrantIssuer } from './grant-issuer.ts';

const PRINCIPAL = 'assize:server';
const REASON = 'The configuration no longer has this grant.';

export interface WithdrawOptions {
  readonly store: LedgerStore;
  readonly assize: Assize;
  readonly now: Instant;
  /** Only the grants in this trajectory. */
  readonly trajectoryId?: string;
  /** Is told of a trajectory that cannot be opened. Its grants are withdrawn the next time. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Revokes the used grants that the configuration no longer has, and those of stopped agents, with
 * every writ below them: those of other principals and of delegations too. A grant that was edited
 * is such a grant.
 */
export async function withdrawGrants(issuer: GrantIssuer, options: WithdrawOptions): Promise<void> {
  for (const gone of await issuer.gone(options.trajectoryId)) {
    const { row, whole } = gone;
    const id = row.value.trajectory;
    try {
      const trajectory = await options.assize.open(id);
      await revoke(issuer, trajectory, gone, options);
      const known = (await listWrits(options.store, id)).find((listed) => listed.id === writId(whole.writ));
      await issuer.withdraw(row, known?.spent ?? {});
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      options.onFailure(error);
    }
  }
}

async function revoke(
  issuer: GrantIssuer,
  trajectory: Trajectory,
  { row, whole, isStopped }: GoneGrant,
  { now, onFailure }: WithdrawOptions,
): Promise<void> {
  const grant = { subject: PRINCIPAL, trajectory: trajectory.id, actions: [REVOKE_ACTION], scopes: ['writ:**'] };
  const by = issuer.brief({ ...grant, nonce: `withdraw ${writId(whole.writ)}` }, now);
  const reason = isStopped ? `${row.value.principal} was stopped.` : REASON;
  try {
    const { ruling, propagated } = await trajectory.writs.revoke({ writ: whole, by, reason, principal: PRINCIPAL });
    if (ruling.ruling !== 'committed') throw notRevoked(trajectory, whole, ruling);
    // The next opening of the trajectory tells the others.
    for (const { error } of propagated) if (error !== undefined) onFailure(error);
  } catch (error) {
    // No writ counts in a trajectory that has ended.
    if (!isAssizeError(error, 'concluded')) throw error;
  }
}

function notRevoked({ id }: Trajectory, { writ }: WritChain, { detail }: Exclude<Ruling, { ruling: 'committed' }>) {
  return new ConfigError(
    'grant_not_revoked',
    `The grant with the writ ${writId(writ)} could not be revoked in ${id}: ${detail}. Revoke it with assize writ revoke.`,
    { evidence: { trajectory_id: id, writ_id: writId(writ) } },
  );
}
