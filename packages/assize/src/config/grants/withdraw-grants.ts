import { writId } from '#authority';
import { isAssizeError } from '#base';
import type { Instant } from '#canon';
import { type LedgerStore, REVOKE_ACTION } from '#ledger';
import { type Assize, listWrits, type Ruling, type Trajectory, type WritChain } from '#runtime';
import { ConfigError } from '../errors.ts';
import type { GrantIssuer } from './grant-issuer.ts';

/** The name under which the server itself revokes and rejects. */
export const PRINCIPAL = 'assize:server';
const REASON = 'The configuration no longer has this grant.';

export interface WithdrawOptions {
  readonly store: LedgerStore;
  readonly assize: Assize;
  readonly now: Instant;
  /** Only the grants in this trajectory. */
  readonly trajectoryId?: string;
  /** Called for a trajectory that cannot be opened. Its grants are withdrawn the next time. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Revokes the used grants that the configuration no longer has, and those of stopped agents, with
 * every writ below them: those of other principals and of delegations too. A grant that was edited
 * is such a grant.
 */
export async function withdrawGrants(issuer: GrantIssuer, options: WithdrawOptions): Promise<void> {
  for (const gone of await issuer.gone(options.trajectoryId)) {
    const { row, whole, isStopped } = gone;
    const id = row.value.trajectory;
    try {
      const trajectory = await options.assize.open(id);
      await revoke(
        issuer,
        trajectory,
        whole,
        isStopped ? stopOf(row.value.principal) : REASON,
        options,
      );
      const known = (await listWrits(options.store, id)).find(
        (listed) => listed.id === writId(whole.writ),
      );
      await issuer.withdraw(row, known?.spent ?? {});
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      options.onFailure(error);
    }
  }
}

/**
 * Revokes the writs of a stopped agent, and of the names below it, that came from no grant: in
 * every trajectory that knows them.
 */
export async function revokeWritsOf(
  issuer: GrantIssuer,
  agent: string,
  options: WithdrawOptions,
): Promise<void> {
  const { store, assize, now, onFailure } = options;
  for (const { trajectory_id: id } of await store.trajectories()) {
    try {
      for (const { writ, chain, revoked, delegated } of await listWrits(store, id)) {
        const isIts = writ.subject === agent || writ.subject.startsWith(`${agent}/`);
        if (!isIts || revoked !== undefined || delegated === true || writ.expires <= now) continue;
        await revoke(issuer, await assize.open(id), { writ, chain }, stopOf(agent), options);
      }
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      onFailure(error);
    }
  }
}

const stopOf = (agent: string): string => `${agent} was stopped.`;

async function revoke(
  issuer: GrantIssuer,
  trajectory: Trajectory,
  whole: WritChain,
  reason: string,
  { now, onFailure }: WithdrawOptions,
): Promise<void> {
  const grant = {
    subject: PRINCIPAL,
    trajectory: trajectory.id,
    actions: [REVOKE_ACTION],
    scopes: ['writ:**'],
  };
  const by = issuer.brief({ ...grant, nonce: `withdraw ${writId(whole.writ)}` }, now);
  try {
    const { ruling, propagated } = await trajectory.writs.revoke({
      writ: whole,
      by,
      reason,
      principal: PRINCIPAL,
    });
    if (ruling.ruling !== 'committed') throw notRevoked(trajectory, whole, ruling);
    // The next opening of the trajectory tells the others.
    for (const { error } of propagated) if (error !== undefined) onFailure(error);
  } catch (error) {
    // No writ counts in a trajectory that has ended.
    if (!isAssizeError(error, 'concluded')) throw error;
  }
}

function notRevoked(
  { id }: Trajectory,
  { writ }: WritChain,
  { detail }: Exclude<Ruling, { ruling: 'committed' }>,
) {
  return new ConfigError(
    'grant_not_revoked',
    `The grant with the writ ${writId(writ)} could not be revoked in ${id}: ${detail}. Revoke it with assize writ revoke.`,
    { evidence: { trajectory_id: id, writ_id: writId(writ) } },
  );
}
