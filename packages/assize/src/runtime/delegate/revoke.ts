import { mayRevoke, parseWrit, type Writ, writId } from '#authority';
import { arg, checkArgument, markOwnPackage } from '#base';
import { type Authority, adjudicateRevocation, REVOKE_ACTION } from '#kernel';
import {
  type Chain,
  checkRow,
  type DelegationPayload,
  type Entry,
  type EntryRow,
  type Hash,
  type Instant,
  type RevocationArgs,
  type RevocationPayload,
  readRow,
  revocationArgs,
  revokedBy,
} from '#ledger';
import { badWrit, verified, type WritChain, type Writs } from '../authority/writs.ts';
import { concluded, RuntimeError } from '../errors.ts';
import { builtInProposal, type GatheredProposal } from '../records/intent.ts';
import { type Ruling, rulingOf } from '../records/ruling.ts';
import { randomHex } from '../records/salts.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import {
  type Planned,
  type RulingStep,
  untilCommitted,
  whenFree,
} from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import type { Children } from './children.ts';
import type { Delegations } from './delegate.ts';
import { adoptStop, type Propagated, propagate, reasonFault, recordStop } from './stops.ts';

/** The writ to revoke, and the authority for it. */
export interface RevocationInput {
  /**
   * The writ to revoke. It may be for another trajectory. Its id, or the writ itself if it is not
   * known here.
   */
  readonly writ: Hash | Writ | WritChain;
  /** The reason; it stays in the ledger. */
  readonly reason: string;
  /**
   * The writ that authorises the revocation, as in a proposal. It grants `assize.revoke` on
   * `writ:ID`, and its holder stands above the revoked writ.
   */
  readonly by: Hash | Writ | WritChain;
  /** Default: the subject of `by`. */
  readonly principal?: string;
}

export interface Revocation {
  readonly ruling: Ruling;
  /**
   * For each open delegation under the revoked writ, whether its trajectory has recorded the
   * revocation. Empty for a refusal.
   */
  readonly propagated: readonly Propagated[];
}

const REVOCATION = arg.options<RevocationInput>({
  writ: arg.any,
  reason: arg.any,
  by: arg.any,
  principal: arg.any,
});

/**
 * Revokes writs (`Trajectory.writs`). A revocation is a proposal of the built-in action; only writ,
 * policy and budget adjudicate it, and a frozen state does not stop it. A committed revocation is
 * propagated to trajectories that descendants of the writ were delegated to, as an entry there.
 * Each trajectory refuses by its own entries.
 */
export class TrajectoryWrits {
  static {
    markOwnPackage(TrajectoryWrits.prototype);
  }

  readonly #writer: Writer;
  readonly #delegations: Delegations;
  readonly #children: Children;

  constructor(writer: Writer, delegations: Delegations, children: Children) {
    this.#children = children;
    this.#writer = writer;
    this.#delegations = delegations;
    Object.freeze(this);
  }

  /**
   * Revokes a writ and all its descendants permanently. From this entry on, nothing is done under
   * them here or in trajectories that were delegated to under them.
   *
   * The revocation is adjudicated like a proposal, under a writ for `assize.revoke` on `writ:ID`.
   * The holder of that writ must stand above the revoked writ. It is an ancestor of the revoked
   * writ, or a root writ of the key that issued the revoked writ's root. Such a root writ must name
   * both the action and `writ:ID`, `writ:*` or `writ:**`. A revocation never requires approval. It
   * proceeds while an approval freezes the state, and at any reading of the clocks. Revoking again
   * returns the earlier entry.
   *
   * If an open delegation could not be reached, `propagated` gives the reason. Opening this
   * trajectory, or revoking again, completes the revocation.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`, `bad_writ`, `concluded`, `conflict`,
   * `commit_unknown`; ArgumentError `bad_argument`
   */
  async revoke(input: RevocationInput): Promise<Revocation> {
    const checked = checkedInput(input);
    const nonce = randomHex(this.#writer.context.random, 16);
    const { id, ruling } = await untilCommitted(this.#writer, () => this.#plan(checked, nonce));
    if (ruling.ruling !== 'committed') return { ruling, propagated: [] };
    return { ruling, propagated: await this.#propagate(id, ruling.entry.id) };
  }

  /**
   * The ids of the writs that were revoked here or before this branch started. Each revocation
   * includes all descendants.
   */
  revoked(): Hash[] {
    return [...this.#writer.parts.writs.revoked];
  }

  /**
   * Adopts a revocation from the trajectory that delegated to this trajectory, by its entry there,
   * and propagates it to children. Repeating the call returns the same entry. Returns undefined if
   * this trajectory gave its final answer, because nothing follows that.
   *
   * @throws RuntimeError `not_found` if the entry revokes no ancestor of this trajectory's writ,
   * and the errors of `revoke`
   *
   * @internal
   */
  async adopt(entryId: Hash): Promise<EntryRow | undefined> {
    const there = await this.#revokedThere(entryId);
    const entry = await untilCommitted(this.#writer, () => this.#planAdoption(there));
    if (entry === 'answered') return undefined;
    await this.#propagate(there.payload.action.args.writ, entry.id);
    return entry;
  }

  /**
   * Propagates revocations that may not have reached a child. Failures are left for later.
   *
   * @internal
   */
  async complete(): Promise<void> {
    const { writs, chain } = this.#writer.parts;
    if (writs.revoked.size === 0 || chain.delegated.size === 0) return;
    for (const id of [...writs.revoked]) {
      const entry = await this.#entryOf(id);
      if (entry !== undefined) await this.#propagate(id, entry.id);
    }
  }

  async #plan(input: RevocationInput, nonce: string): Promise<Planned<IdentifiedRuling>> {
    const { parts, context } = this.#writer;
    const by = parts.writs.present(input.by);
    verified(context.verifier, by, parts.writs.delegated);
    const revoked = this.#targetOf(input.writ);
    const held = context.verifier.verifyAnywhere(revoked.writ, revoked.chain);
    if (!held.ok) throw badWrit(held);
    const id = writId(revoked.writ);
    const before = await this.#entryOf(id);
    if (before !== undefined) return { answer: { id, ruling: rulingOf(before) } };
    return this.#unlessRevoked(id, () => this.#rule(input, by, revoked, nonce));
  }

  /** The step, unless another step holds the writer, or a concurrent call has revoked the writ. */
  #unlessRevoked<Answer>(id: Hash, rule: () => PreparedCommit<Answer>): RulingStep<Answer> {
    const writer = this.#writer;
    return whenFree(writer, () => {
      const { writs, requests } = writer.parts;
      return writs.revoked.has(id) && requests.seqOf(id) !== undefined ? undefined : rule();
    });
  }

  /** A known writ or an ancestor of one, a writ that was delegated from here, or the given writ. */
  #targetOf(given: RevocationInput['writ']): WritChain {
    const { writs, chain } = this.#writer.parts;
    const found =
      typeof given === 'string'
        ? (writs.find(given) ?? delegatedAs(given, writs, chain))
        : undefined;
    return found ?? writs.present(given);
  }

  /**
   * The durable entry that revokes a writ here; undefined if the writ is not revoked, or if memory
   * is stale.
   */
  async #entryOf(id: Hash): Promise<EntryRow | undefined> {
    const { id: trajectoryId, parts, context } = this.#writer;
    const seq = parts.requests.seqOf(id);
    if (seq === undefined || !parts.writs.revoked.has(id)) return undefined;
    await this.#writer.flushed();
    const [row] = await context.store.entries(trajectoryId, { from: seq, limit: 1 });
    return row !== undefined && revokedBy(readRow(row).payload) === id ? row : undefined;
  }

  // ── from here to the append nothing awaits ──

  #rule(
    input: RevocationInput,
    by: WritChain,
    revoked: WritChain,
    nonce: string,
  ): PreparedCommit<IdentifiedRuling> {
    const writer = this.#writer;
    const { chain, writs } = writer.parts;
    if (chain.answered !== undefined) throw concluded(writer.id, chain.answered);
    const at = writer.undelayedNow();
    const args: RevocationArgs = { writ: writId(revoked.writ), reason: input.reason };
    const proposer = { writ: by, principal: input.principal, nonce };
    const gathered = builtInProposal(writer.id, { action: REVOKE_ACTION, args }, proposer);
    const judged = adjudicateRevocation(
      gathered.intent.args,
      this.#authority(gathered, revoked, at),
    );
    if (judged.verdict === 'approved') writs.admit(revoked);
    const also = judged.verdict === 'approved' ? [revoked] : [];
    const prepared = recordStop(writer, gathered, judged, at, also);
    return { ...prepared, answer: { id: args.writ, ruling: prepared.answer } };
  }

  /**
   * The authority of the revoking writ, and a check that its holder stands above the revoked writ.
   */
  #authority({ writ, principal }: GatheredProposal, revoked: WritChain, at: Instant): Authority {
    const authority = this.#writer.authority(writ, principal, at);
    const detail = `the holder of the writ ${writId(writ.writ)} is not an ancestor of the writ to revoke`;
    return {
      ...authority,
      admits: (claim) => {
        const admitted = authority.admits(claim);
        return !admitted.ok || mayRevoke(writ, revoked) ? admitted : { ok: false, detail };
      },
    };
  }

  // ── entries of another trajectory ──

  /**
   * @throws RuntimeError `not_found` for an entry that revokes no writ delegated here; LedgerFault
   */
  async #revokedThere(entryId: Hash): Promise<Entry<RevocationPayload>> {
    const { parts, context, id } = this.#writer;
    const { chain, writs } = parts;
    const row = await context.store.resolve(entryId);
    const entry =
      row?.trajectory_id === chain.delegatedFrom?.trajectory_id ? row && checkRow(row) : undefined;
    const writ = entry && revocationArgs(entry.payload)?.writ;
    if (writ !== undefined && writs.isBelow(writs.delegated as Hash, writ))
      return entry as Entry<RevocationPayload>;
    throw new RuntimeError(
      'not_found',
      `${entryId} does not revoke a writ that was delegated to ${id}.`,
    );
  }

  async #planAdoption(there: Entry<RevocationPayload>): Promise<Planned<EntryRow | 'answered'>> {
    const { writ } = there.payload.action.args;
    const before = await this.#entryOf(writ);
    if (before !== undefined) return { answer: before };
    if (this.#writer.parts.chain.answered !== undefined) return { answer: 'answered' };
    const adopt = this.#unlessRevoked(writ, () => this.#adoptNow(there));
    return () => (this.#writer.parts.chain.answered === undefined ? adopt() : undefined);
  }

  #adoptNow(there: Entry<RevocationPayload>): PreparedCommit<EntryRow> {
    const { writ, reason } = there.payload.action.args;
    const from = { trajectory_id: there.trajectory_id, entry_id: there.id };
    const args: RevocationArgs = { writ, reason, from };
    return adoptStop(this.#writer, there, { action: REVOKE_ACTION, args }, adjudicateRevocation);
  }

  /**
   * Propagates the revocation to each open delegation of the revoked writ or of its descendants.
   */
  #propagate(id: Hash, entryId: Hash): Promise<Propagated[]> {
    const ports = {
      writer: this.#writer,
      delegations: this.#delegations,
      children: this.#children,
    };
    return propagate(
      ports,
      (start) => this.#isUnder(start, id),
      (child) => child.writs.adopt(entryId),
    );
  }

  #isUnder(start: DelegationPayload, id: Hash): boolean {
    const writ = parseWrit(start.writ);
    return writId(writ) === id || this.#writer.parts.writs.isBelow(writ.parent as Hash, id);
  }
}

/** The ruling on a revocation, with the id of the writ. */
interface IdentifiedRuling {
  readonly id: Hash;
  readonly ruling: Ruling;
}

/** The writ with that id that started an open delegation. */
function delegatedAs(id: Hash, writs: Writs, chain: Chain): WritChain | undefined {
  for (const { writ: given } of chain.delegated.values()) {
    const writ = parseWrit(given);
    if (writId(writ) !== id) continue;
    const above = writs.get(writ.parent as Hash) as WritChain;
    return { writ, chain: [above.writ, ...above.chain] };
  }
  return undefined;
}

/** A copy: the checked input stays the same while the call waits. */
function checkedInput(given: RevocationInput): RevocationInput {
  if (typeof given !== 'object' || given === null) throw badRevocation('it must be an object');
  checkArgument(REVOCATION, given, 'input');
  const input = { ...given };
  const { writ, reason, by, principal = '' } = input;
  if (!isGiven(writ)) throw badRevocation('pass the writ to revoke');
  if (!isGiven(by)) throw badRevocation('pass the writ that authorises the revocation');
  const fault = reasonFault(reason);
  if (fault !== undefined) throw badRevocation(fault);
  if (typeof principal !== 'string') throw badRevocation('`principal` must be a string');
  return input;
}

function isGiven(writ: unknown): boolean {
  return typeof writ === 'string' || (typeof writ === 'object' && writ !== null);
}

function badRevocation(what: string): RuntimeError {
  return new RuntimeError('bad_intent', `The revocation is not valid: ${what}.`);
}
