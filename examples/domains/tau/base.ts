import { type Assize, AssizeError, type Domain, type LedgerStore } from 'assize';
import type { Json } from 'assize/internal/base';
import { contentHash, WORLD_LIMITS } from 'assize/internal/canon';
import { blobOf, type Hash, type RootPayload, readRow } from 'assize/internal/ledger';

/** The trajectory that holds the database, and the entry from which the runs branch. */
export interface Base {
  readonly trajectoryId: string;
  readonly rootId: Hash;
}

/**
 * Creates the base trajectory, or finds the base of an earlier job with the same database and
 * domain. Its name derives from both, so another database or another policy gets a separate base.
 */
export async function openBase(
  assize: Assize,
  store: LedgerStore,
  domain: Domain,
  initial: unknown,
): Promise<Base> {
  const stateHash = contentHash(initial as Json, WORLD_LIMITS);
  const digest = contentHash({ domain: domain.hash, initial_state: stateHash }).slice(0, 12);
  const trajectoryId = `${domain.rules.length === 0 ? `${domain.name}-tools` : domain.name}-${digest}`;
  const [root] = await store.entries(trajectoryId, { from: 0, limit: 1 });
  if (root === undefined) {
    const note = `the database of tau-bench ${domain.name}`;
    const begun = await assize.create(domain, { trajectoryId, initial, note });
    return { trajectoryId, rootId: begun.head };
  }
  const payload = readRow(root).payload as RootPayload;
  // A small database stands in the entry itself.
  const begunWith = blobOf(payload.initial_state) ?? contentHash(payload.initial_state);
  if (payload.domain.hash !== domain.hash || begunWith !== stateHash) {
    throw new AssizeError(
      'base_mismatch',
      `The store has a trajectory ${trajectoryId} with another start. Use another store.`,
      { evidence: { trajectory_id: trajectoryId } },
    );
  }
  return { trajectoryId, rootId: root.id };
}
