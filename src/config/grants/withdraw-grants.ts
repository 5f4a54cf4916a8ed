import { issueWrit, writId } from '#authority';
import { isAssizeError } from '#base';
import { addMicros, type Instant, type KeyPair } from '#canon';
import { type LedgerStore, REVOKE_ACTION } from '#ledger';
import { type Assize, listWrits, type Ruling, type Trajectory, type WritChain } from '#runtime';
import { ConfigError } from '../errors.ts';
import type { GrantIssuer } from './grant-issuer.ts';

const PRINCIPAL = 'assize:server';
const REASON = 'The configuration no longer has this grant.';
const PERIOD_MICROS = 60 * 60 * 1_000_000;

export interface WithdrawOptions {
  readonly root: KeyPair;
  readonly store: LedgerStore;
  readonly assize: Assize;
  readonly now: Instant;
  /** Only the grants in this trajectory. */
  readonly trajectoryId?: string;
  /** Is told of a trajectory that cannot be opened. Its grants are withdrawn the next time. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Revokes the used grants that the configuration no longer has, with every writ below them: those
 * of other principals and of delegations too. A grant that was edited is such a grant.
 */
export async function withdrawGrants(issuer: GrantIssuer, options: WithdrawOptions): Promise<void> {
  for (const { row, whole } of await issuer.gone(options.trajectoryId)) {
    const id = row.value.trajectory;
    try {
      const trajectory = await options.assize.open(id);
      await revoke(trajectory, whole, options);
      const known = (await listWrits(options.store, id)).find((listed) => listed.id === writId(whole.writ));
      await issuer.withdraw(row, known?.spent ?? {});
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      options.onFailure(error);
    }
  }
}

async function revoke(trajectory: Trajectory, whole: WritChain, { root, now }: WithdrawOptions): Promise<void> {
  const by = issueWrit(
    {
      issuer: root.publicKey,
      subject: PRINCIPAL,
      trajectory: trajectory.id,
      actions: [REVOKE_ACTION],
      scopes: ['writ:**'],
      not_before: addMicros(now, -PERIOD_MICROS),
      expires: addMicros(now, PERIOD_MICROS),
      max_depth: 0,
      nonce: `withdraw ${writId(whole.writ)}`,
    },
    root.privateKey,
  );
  try {
    const { ruling } = await trajectory.writs.revoke({ writ: whole, by, reason: REASON, principal: PRINCIPAL });
    if (ruling.ruling !== 'committed') throw notRevoked(trajectory, whole, ruling);
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
