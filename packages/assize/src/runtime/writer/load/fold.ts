import {
  type Chain,
  type DomainRef,
  type Entry,
  type Folded,
  type Hash,
  type LedgerStore,
  type Replayer,
  share,
} from '#ledger';
import { AuthorityFold } from '../../authority/fold.ts';
import type { Writs } from '../../authority/writs.ts';
import { Overrides } from '../known/overrides.ts';
import { RequestIndex } from '../known/request-index.ts';

/** The folded entries of a trajectory up to one entry: everything that opening it needs. */
export interface FoldedTrajectory {
  readonly chain: Chain;
  readonly fold: Folded;
  readonly writs: Writs;
  readonly requests: RequestIndex;
  readonly domain: DomainRef;
  /** An entry overrode an invariant, so the state may still break it. */
  readonly overridden: boolean;
}

export interface FoldOptions {
  /** Continues this fold, and changes it. */
  readonly from?: FoldedTrajectory;
  /** Stop after the entry with this id. */
  readonly until?: Hash;
}

/** Replays a trajectory with all checks that need no domain code. @throws LedgerFault */
export async function foldTrajectory(
  trajectoryId: string,
  replayer: Replayer,
  store: Pick<LedgerStore, 'blob'>,
  options: FoldOptions = {},
): Promise<FoldedTrajectory> {
  const { from } = options;
  const authority = new AuthorityFold(trajectoryId, from);
  const requests = from?.requests ?? new RequestIndex();
  const overrides = new Overrides(from?.overridden);
  const onEntry = (entry: Entry): void => {
    const { payload } = entry;
    authority.note(entry);
    if (payload.kind !== 'root' && payload.kind !== 'branch') requests.addEntry(payload);
    overrides.note(payload);
  };
  const { chain, fold } = await replayer.replay(trajectoryId, {
    ...options,
    onEntry,
    onInherited: (revoked) => authority.inherit(revoked),
  });
  const writs = await authority.settle((hash) => store.blob(hash));
  return {
    chain,
    fold,
    writs,
    requests,
    domain: chain.domain as DomainRef,
    overridden: overrides.stand,
  };
}

/**
 * An independent copy. It shares the state until one of the two changes it. The original stays as
 * it is.
 */
export function copyOf({
  chain,
  fold,
  writs,
  requests,
  domain,
  overridden,
}: FoldedTrajectory): FoldedTrajectory {
  const copy = { chain: chain.copy(), writs: writs.copy(), requests: new RequestIndex(requests) };
  return { ...copy, fold: share(fold), domain, overridden };
}
