import { isAssizeError } from 'assize/internal/base';
import type { Domain } from 'assize/internal/kernel';
import type { LedgerStore } from 'assize/internal/ledger';
import type { Assize, UpgradeOptions } from 'assize/internal/runtime';

export interface GatewayUpgrade extends Pick<UpgradeOptions, 'writ' | 'principal'> {
  readonly store: LedgerStore;
  readonly domain: Domain;
}

/**
 * Continues a trajectory of an earlier version of the domain under this one. Another trajectory
 * stays as it is, and so does one whose rules refuse it: its opening says then what to do.
 *
 * @throws the errors of `Assize.upgrade`
 */
export async function upgradeGateway(
  assize: Assize,
  trajectory: string,
  { store, domain, ...terms }: GatewayUpgrade,
): Promise<void> {
  const head = await store.head(trajectory);
  if (head === undefined) return;
  const { name, version } = await assize.domainAt(head);
  if (name !== domain.name || Number(version) >= Number(domain.version)) return;
  try {
    await assize.upgrade(trajectory, domain, { ...terms, reason: 'a new version of Assize' });
  } catch (error) {
    // Another process has done it.
    if (!isAssizeError(error, 'already_done')) throw error;
  }
}
