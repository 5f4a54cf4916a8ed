import { AuthorityError, covers, type Policy, safely, writId } from '#authority';
import { isAssizeError, type Json } from '#base';
import { CanonError } from '#canon';
import type { Authority, HeldBack } from '#kernel';
import { type Hash, type Instant, LedgerFault, type PendingPayload, type PolicyRecord } from '#ledger';
import { loadWrit, type WritChain, Writs } from '../../authority/writs.ts';
import { RuntimeError } from '../../errors.ts';
import { type EntryPlace, type Findings, isSame } from './report.ts';

/** What is recorded of the authority of one proposal. */
export interface RecordedClaim {
  readonly place: EntryPlace;
  readonly at: Instant;
  readonly writ_id?: Hash;
  readonly policy?: PolicyRecord;
  /** Why it was refused, where a writ, a policy or a budget did it. */
  readonly refused?: { readonly by: 'writ' | 'policy' | 'budget'; readonly detail: string };
  /** What it waits for, where that may be one of its tools, which are not asked about again. */
  readonly held?: HeldBack;
}

/**
 * Of what waits with effects: writ or policy may have held back one of its tools, and not its action, or a tool that can be neither
 * undone nor held did. That one may have wanted a kind of counselor besides: the channel has what it wanted.
 */
export function heldWithTools({ reason, detail, channel, proposal }: PendingPayload): Pick<RecordedClaim, 'held'> {
  // What is believed is not asked again.
  if (reason === 'contradiction') return { held: { reason, detail, channel } };
  if (proposal.delta.effects.length === 0) return {};
  if (reason === 'irreversible') return { held: { reason, detail, channel } };
  return reason === 'policy_needs_approval' || reason === 'writ_requires_approval' ? { held: { reason, detail } } : {};
}

/** The writs of one trajectory, as its entries have them. */
export class RecordedWrits {
  protected readonly writs: Writs = new Writs();
  readonly #blob: (hash: Hash) => Promise<string | undefined>;

  constructor(blob: (hash: Hash) => Promise<string | undefined>) {
    this.#blob = blob;
  }

  /** Takes the writs of the entry that a trajectory begins with. @throws LedgerFault */
  bind({ trajectory_id, seq, writs }: { trajectory_id: string; seq: number; writs: readonly Json[] }): void {
    try {
      this.writs.bind(writs);
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      throw new LedgerFault({ trajectory_id, seq, code: 'writ_tampered', detail: error.message }, error);
    }
  }

  /** The writ with its ancestors; undefined where the ledger does not have it, as it need not for a refusal. */
  async writ(id: Hash | undefined): Promise<WritChain | undefined> {
    if (id === undefined) return undefined;
    const known = this.writs.get(id);
    if (known !== undefined) return known;
    try {
      const loaded = await loadWrit(id, this.writs, this.#blob);
      this.writs.admit(loaded);
      return loaded;
    } catch (error) {
      if (error instanceof RuntimeError || error instanceof AuthorityError || error instanceof CanonError)
        return undefined;
      throw error;
    }
  }
}

/** Answers the kernel's questions as they were answered when the entries of one trajectory were made. */
export class RecordedAuthority extends RecordedWrits {
  readonly #policy: Policy | undefined;
  readonly #findings: Findings;

  constructor(blob: (hash: Hash) => Promise<string | undefined>, policy: Policy | undefined, findings: Findings) {
    super(blob);
    this.#policy = policy === undefined ? undefined : safely(policy);
    this.#findings = findings;
  }

  /** For a proposal. Whether a writ held it back for a person is said by the writ; all else by the record. */
  answers(claim: RecordedClaim, writ: WritChain | undefined): Authority {
    const { refused, policy } = claim;
    return {
      admits: ({ action }) =>
        refused?.by === 'writ'
          ? { ok: false, detail: refused.detail }
          : { ok: true, needsApproval: isHeldBack(writ, action) },
      decides: (asked) => {
        if (policy === undefined) return undefined;
        this.#askAgain(claim, policy, writ, asked);
        return { ruling: policy, detail: refused?.by === 'policy' ? refused.detail : '' };
      },
      affords: () => (refused?.by === 'budget' ? { ok: false, detail: refused.detail } : { ok: true }),
      holdsBack: () => claim.held,
    };
  }

  /** Whether answering needs the writ: it is not read for plain commits, which no writ held back. */
  asks({ policy }: Pick<RecordedClaim, 'policy'>): boolean {
    return policy !== undefined && policy.digest === this.#policy?.digest;
  }

  #askAgain(
    { place, at }: RecordedClaim,
    recorded: PolicyRecord,
    chain: WritChain | undefined,
    asked: Parameters<Authority['decides']>[0],
  ): void {
    if (this.#policy === undefined || !this.asks({ policy: recorded }) || chain === undefined) {
      this.#findings.takes('policy');
      return;
    }
    const { writ } = chain;
    const { decision, rule } = this.#policy.evaluate({
      ...asked,
      principal: writ.subject,
      writ_id: writId(writ),
      trajectory_id: place.trajectory_id,
      at,
    });
    const now = { digest: recorded.digest, decision, ...(rule === undefined ? {} : { rule }) };
    if (!isSame(recorded, now)) this.#findings.differs(place, 'policy', recorded, now);
  }
}

/** Whether a writ lets an action be done only with an approval. */
export function isHeldBack(chain: WritChain | undefined, action: string): boolean {
  return chain?.writ.require_approval?.some((name) => covers(name, action)) === true;
}
