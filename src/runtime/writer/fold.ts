import {
  type Chain,
  type DomainRef,
  type Entry,
  type Folded,
  type Hash,
  type LedgerStore,
  type Replayer,
  share,
  type VectorItem,
} from '#ledger';
import { AuthorityFold } from '../authority/fold.ts';
import type { Writs } from '../authority/writs.ts';
import { RuledProposals } from './request-index.ts';

/** What the entries of a trajectory come to, up to one of them: all that opening it needs of them. */
export interface FoldedTrajectory {
  readonly chain: Chain;
  readonly fold: Folded;
  readonly writs: Writs;
  readonly ruled: RuledProposals;
  readonly domain: DomainRef;
  /** A rule was broken in it with somebody's knowledge, so the state may break it still. */
  readonly overridden: boolean;
}

export interface FoldOptions {
  /** Goes on from there, and changes it. */
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
  const ruled = from?.ruled ?? new RuledProposals();
  let domain = from?.domain;
  let overridden = from?.overridden ?? false;
  const onEntry = (entry: Entry): void => {
    const { payload } = entry;
    authority.note(entry);
    if (payload.kind === 'root' || payload.kind === 'branch') domain = payload.domain;
    else ruled.note(payload);
    overridden ||= ('detection_vector' in payload && payload.detection_vector?.some(isBroken)) === true;
  };
  const { chain, fold } = await replayer.replay(trajectoryId, {
    ...options,
    onEntry,
    onInherited: (revoked) => authority.inherit(revoked),
  });
  const writs = await authority.settle((hash) => store.blob(hash));
  return { chain, fold, writs, ruled, domain: domain as DomainRef, overridden };
}

function isBroken({ result }: VectorItem): boolean {
  return result !== 'pass';
}

/** One that goes on by itself, and shares the state as long as neither changes it; what was folded stays as it is. */
export function copyOf({ chain, fold, writs, ruled, domain, overridden }: FoldedTrajectory): FoldedTrajectory {
  const copy = { chain: chain.copy(), writs: writs.copy(), ruled: new RuledProposals(ruled) };
  return { ...copy, fold: share(fold), domain, overridden };
}
