import { copyJson, type Json, WORLD_LIMITS } from '#canon';
import type { Domain, RoleParams } from '#kernel';
import type { EntryRow, Hash, PendingPayload } from '#ledger';
import { type AwaitOptions, Decisions, type PendingStatus } from './decisions.ts';
import { Delegations, type OpenDelegation, type Origin } from './delegate.ts';
import type { Conclusion, DelegationInput } from './delegation-input.ts';
import { type ErasureInput, Erasures } from './erase.ts';
import type { ProposalInput } from './intent.ts';
import { Proposals } from './propose.ts';
import { Resolutions } from './resolve.ts';
import type { ApprovalInput, FinalRuling, RejectionInput, Ruling } from './ruling.ts';
import type { SliceListener } from './subscriptions.ts';
import { type Surroundings, type TrajectoryParts, Writer } from './writer.ts';

/**
 * An open trajectory: one world, one writer in this process, one entry a ruling.
 *
 * From the first rule to the append nothing awaits, so rulings are serial; the in-memory head moves at once and the
 * answer waits for the disk. When the store says that another writer was faster, everything that was not yet durable
 * is discarded, the trajectory is read anew and the proposal is judged on what it finds.
 */
export class Trajectory {
  readonly id: string;
  readonly #writer: Writer;
  readonly #proposals: Proposals;
  readonly #resolutions: Resolutions;
  readonly #decisions: Decisions;
  readonly #delegations: Delegations;
  readonly #erasures: Erasures;

  constructor(id: string, parts: TrajectoryParts, around: Surroundings) {
    this.id = id;
    this.#writer = new Writer(id, parts, around);
    this.#resolutions = new Resolutions(this.#writer);
    this.#decisions = new Decisions(this.#writer, this.#resolutions);
    this.#proposals = new Proposals(this.#writer, this.#resolutions);
    this.#delegations = new Delegations(this.#writer, this.#resolutions);
    this.#erasures = new Erasures(this.#writer, this.#proposals, this.#resolutions);
  }

  get domain(): Domain {
    return this.#writer.parts.domain;
  }

  /** The id of the last entry. It may not be durable yet while rulings are awaited. */
  get head(): Hash {
    return this.#writer.parts.chain.head as Hash;
  }

  /** Number of entries. */
  get length(): number {
    return this.#writer.parts.chain.seq;
  }

  /** A copy of the whole state. For people and tests: agents get `slice`. */
  state(): Json {
    return copyJson(this.#writer.parts.world.state, WORLD_LIMITS);
  }

  /** The state itself, to read in the same turn and never to change. */
  peek(): unknown {
    return this.#writer.parts.world.state;
  }

  /** The part of the state that a role sees, as a copy (Definition A.7). */
  slice(role: string, params: RoleParams = {}): unknown {
    return this.#writer.parts.world.slice(role, params);
  }

  /** Open approvals, oldest first, by entry id; copies. */
  pending(): { id: Hash; payload: PendingPayload }[] {
    return [...this.#writer.parts.chain.open].map(([id, payload]) => ({ id, payload: structuredClone(payload) }));
  }

  /**
   * Calls back with the new slice of a role after every durable commit that met its footprint, and when the trajectory
   * had to be read anew because another writer was faster. Returns how to stop.
   *
   * @throws KernelError `invalid_domain` for a role that there is not
   */
  subscribe(role: string, params: RoleParams, listener: SliceListener): () => void {
    this.slice(role, params);
    const { parts, subscriptions } = this.#writer;
    return subscriptions.add(parts.domain.footprint(role, params), () => this.slice(role, params), listener);
  }

  /**
   * Proposes an action. A refusal is an answer; an error means that nothing was recorded.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`, `bad_writ`, `observation_missing`, `idempotency_conflict`, `conflict`,
   * `commit_unknown`, `clock_behind`, `concluded`; CanonError for arguments that are not JSON
   */
  propose(input: ProposalInput): Promise<Ruling> {
    return this.#proposals.propose(input);
  }

  /**
   * Commits what is pending, as the counselor it names (decisions §2.1). Where it takes the approval of several people, each
   * but the last is answered `escalated`: it is recorded that they approved, and the proposal waits for the next one under the
   * id of that entry, as it was put up and as long as it would have.
   *
   * @throws RuntimeError `bad_intent`, `not_pending`, `digest_mismatch`; KernelError `unauthorised_counselor`,
   * `approved_before`, `changed_since`, `override_needed`, `invalid_replacement`. Nothing is recorded then.
   */
  approve(pendingId: Hash, input: ApprovalInput): Promise<Ruling> {
    return this.#resolutions.approve(pendingId, input);
  }

  /** Refuses what is pending, as the counselor it names; one is enough, whoever has approved it. @throws as `approve` */
  reject(pendingId: Hash, input: RejectionInput): Promise<Ruling> {
    return this.#resolutions.reject(pendingId, input);
  }

  /**
   * What became of something that was pending once, also before this process began: reads one entry, and one more for each
   * approval that was not the last.
   *
   * @throws RuntimeError `never_pending`, `conflict`
   */
  resolutionOf(pendingId: Hash): Promise<PendingStatus> {
    return this.#decisions.statusOf(pendingId);
  }

  /**
   * Waits until something that is pending is decided for good, by whomever and in whichever process, and answers with the
   * commit or the rejection; also when it was decided before. When it expires meanwhile, that is recorded, and is the answer.
   * What other processes decide is seen when the store is looked at again, a few times a second.
   *
   * @throws RuntimeError `never_pending`, `still_pending` when the clock has come to `until`, `concluded` when the trajectory
   * gave its final answer first, `conflict`, `clock_behind`; the signal's reason
   */
  awaitCounselor(pendingId: Hash, options?: AwaitOptions): Promise<FinalRuling> {
    return this.#decisions.awaited(pendingId, options);
  }

  /**
   * Hands a task to a child trajectory: begins it, with a writ made from one of this trajectory. The writ is signed by who
   * holds that one, and only so counts in the child. Its budget is set aside here until `conclude`.
   *
   * With a name for the child, the same again is the same delegation, whatever became of the first call; the child is then
   * opened.
   *
   * @throws RuntimeError `bad_intent`, `bad_name`, `unknown_writ`, `bad_writ`, `budget_exhausted`, `frozen`, `exists`,
   * `idempotency_conflict`, `broken_start`, `domain_mismatch`, `concluded`, `conflict`, `commit_unknown`, `clock_behind`;
   * AuthorityError `not_attenuated`, `wrong_key`, `bad_writ`, `bad_resource`; KernelError `invalid_state`. Nothing is
   * recorded then, but for `commit_unknown`.
   */
  delegate(input: DelegationInput): Promise<Trajectory> {
    return this.#delegations.delegate(input);
  }

  /**
   * Erases what is sensitive at or below places of the state, and all that was ever written there, with the arguments and
   * observations of the proposals that wrote it; or everything sensitive in some entries. It is adjudicated like any
   * proposal, under a writ for `assize.erase`, and once it is committed the store has the texts no more: hashes stay as they
   * are, states have `{"$erased": hash}`, and what was copied into places that are not sensitive stays.
   *
   * Values that were inherited by a branch are erased in its source. A copy, backup or export that was made before is not
   * reached.
   *
   * @throws RuntimeError `bad_intent`, `nothing_to_erase`, `not_found`, and as `propose`
   */
  erase(input: ErasureInput): Promise<Ruling> {
    return this.#erasures.erase(input);
  }

  /** The delegation that this trajectory was begun by, with the writ that came with it; undefined for others. */
  get delegatedFrom(): Origin | undefined {
    return this.#delegations.origin;
  }

  /** Delegations that are not concluded, oldest first, by the id of the entry that started them; copies. */
  delegations(): OpenDelegation[] {
    return this.#delegations.list();
  }

  /**
   * Concludes a delegation: ends the child with its final answer, if it has not given one yet, and takes it over. What the
   * child spent stays spent here, the rest is free again. Returns the entry, whose payload has the `final_answer`. Without
   * `finalAnswer`, what the child answered is taken over, or it ends without one. The same again returns the same entry.
   *
   * @throws RuntimeError `not_delegated`, `still_delegated` when the child has open delegations itself,
   * `idempotency_conflict` when there is another final answer, `bad_intent`, `conflict`, `commit_unknown`, `clock_behind`, and
   * what opening the child throws; CanonError for an answer that is not JSON
   */
  conclude(delegationId: Hash, conclusion?: Conclusion): Promise<EntryRow> {
    return this.#delegations.conclude(delegationId, conclusion);
  }

  /**
   * Gives the final answer of a trajectory that a delegation began, and ends it: nothing follows, and what still waits for
   * approval is void. It is for the parent to conclude.
   *
   * @throws as `conclude`
   */
  answer(conclusion?: Conclusion): Promise<EntryRow> {
    return this.#delegations.answer(conclusion);
  }

  /** Reads it anew, so that what was erased in another trajectory, and came from there, is forgotten here too. */
  forget(): Promise<void> {
    return this.#writer.forget();
  }

  /**
   * Finishes what a crash left between this trajectory and those that it delegated to: begins a child that has no root yet,
   * concludes what a child has answered. Done whenever a trajectory is opened.
   */
  completeDelegations(): Promise<void> {
    return this.#delegations.complete();
  }
}
