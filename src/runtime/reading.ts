import {
  type Chain,
  type DomainRef,
  type Entry,
  type Folded,
  type Hash,
  LedgerFault,
  type LedgerStore,
  type Replayed,
  type Replayer,
  share,
  type VectorItem,
} from '#ledger';
import { AuthorityFold } from './authority-fold.ts';
import { RuledProposals } from './ruled-proposals.ts';
import type { Writs } from './writs.ts';

/** A copy of what was read, to go on from. */
export interface Read {
  readonly chain: Chain;
  readonly fold: Folded;
  readonly writs: Writs;
  readonly ruled: RuledProposals;
  readonly domain: DomainRef;
  /** Whether a state was ever recorded that breaks a rule. */
  readonly overridden: boolean;
}

/**
 * A trajectory as far as it was read from the store. An open trajectory goes on from a copy, which shares the state and runs
 * ahead of the store; when it has to be discarded, only what is new is read, and what it has written itself since.
 */
export class Reading {
  readonly #store: LedgerStore;
  readonly #replayer: Replayer;
  readonly #trajectoryId: string;
  readonly #authority: AuthorityFold;
  readonly #ruled: RuledProposals = new RuledProposals();
  /** None before the first entry, and after an error, which may have left it half way. */
  #replayed: Replayed | undefined;
  #domain: DomainRef | undefined;
  #overridden = false;

  private constructor(store: LedgerStore, replayer: Replayer, trajectoryId: string) {
    this.#store = store;
    this.#replayer = replayer;
    this.#trajectoryId = trajectoryId;
    this.#authority = new AuthorityFold(trajectoryId);
  }

  /** Reads all of it. @throws LedgerFault */
  static async of(store: LedgerStore, replayer: Replayer, trajectoryId: string): Promise<Reading> {
    const reading = new Reading(store, replayer, trajectoryId);
    await reading.#read();
    return reading;
  }

  /** Reads what is new. False where that does not follow: then all has to be read, to see what the matter is. */
  async goOn(): Promise<boolean> {
    const before = this.#replayed;
    if (before === undefined) return false;
    this.#replayed = undefined;
    try {
      await this.#read(before);
      return true;
    } catch (error) {
      if (!(error instanceof LedgerFault)) throw error;
      return false;
    }
  }

  /** @throws LedgerFault for an authority that does not hold */
  async copy(): Promise<Read> {
    const { chain, fold } = this.#replayed as Replayed;
    return {
      chain: chain.copy(),
      fold: share(fold),
      writs: await this.#authority.settle((hash) => this.#store.blob(hash)),
      ruled: new RuledProposals(this.#ruled),
      domain: this.#domain as DomainRef,
      overridden: this.#overridden,
    };
  }

  async #read(from?: Replayed): Promise<void> {
    const onEntry = (entry: Entry): void => this.#note(entry);
    this.#replayed = await this.#replayer.replay(this.#trajectoryId, { onEntry, ...(from && { from }) });
  }

  #note(entry: Entry): void {
    const { seq, payload } = entry;
    this.#authority.note(entry);
    if (payload.kind === 'root' || payload.kind === 'branch') this.#domain = payload.domain;
    const ruled = ruledBy(entry);
    if (ruled !== undefined) this.#ruled.add(ruled, seq);
    this.#overridden ||= ('detection_vector' in payload && payload.detection_vector?.some(isBroken)) === true;
  }
}

/** The proposal that an entry rules on, or the delegation that it concludes. */
function ruledBy({ payload }: Entry): Hash | undefined {
  if (payload.kind === 'pending_approval') return payload.proposal.proposal_id;
  if (payload.kind === 'delegation') return payload.concludes;
  return 'proposal_id' in payload ? payload.proposal_id : undefined;
}

function isBroken({ result }: VectorItem): boolean {
  return result !== 'pass';
}
