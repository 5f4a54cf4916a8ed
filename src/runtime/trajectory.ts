import { form, type Json, madeHere, requireForm } from '#base';
import { copyJson, WORLD_LIMITS } from '#canon';
import { type Domain, type RoleArguments, type RoleName, type RoleParams, type SliceOf, World } from '#kernel';
import type { EntryRow, Hash, PendingPayload } from '#ledger';
import { Resolutions } from './approve/approve.ts';
import { Decisions, type PendingStatus } from './approve/await-decision.ts';
import type { TrajectoryContext } from './context.ts';
import { Delegations, type OpenDelegation, type Origin } from './delegate/delegate.ts';
import { type Revocation, type RevocationInput, Revocations } from './delegate/revoke.ts';
import type { Conclusion, DelegationInput } from './delegate/terms.ts';
import { Erasures } from './erase/erase.ts';
import { Memory, type MemoryActs, type MemoryOptions } from './memory/memory.ts';
import { requireBeliefs } from './memory/plan/plan-beliefs.ts';
import { readQuestions } from './memory/plan/questions.ts';
import { Proposals } from './propose/propose.ts';
import type { ErasureInput, ErasureRuling } from './records/erasure-input.ts';
import { checkKey, type Proposal, type ProposalInput } from './records/intent.ts';
import type { AskedQuestion } from './records/questions.ts';
import type { ApprovalInput, FinalRuling, RejectionInput, Ruling } from './records/ruling.ts';
import { type TransactionOutcome, Transactions } from './transactions/body/run-transaction.ts';
import type { Transaction } from './transactions/body/transaction.ts';
import type { TransactionOptions } from './transactions/body/transaction-options.ts';
import { type Book, OpenBook } from './transactions/settle/ledger-writer.ts';
import { answerFailure, type Failure, type FailureAnswer } from './transactions/settle/on-failure.ts';
import type { AwaitOptions } from './writer/await-options.ts';
import type { TrajectoryParts } from './writer/ports.ts';
import type { SliceListener } from './writer/subscriptions.ts';
import { Ports, type TurnPorts } from './writer/turn-ports.ts';
import { Writer } from './writer/writer.ts';

/**
 * An open trajectory: one world, one writer in this process, one entry a ruling.
 *
 * From the first rule to the append nothing awaits, so rulings are serial; the in-memory head moves at once and the
 * answer waits for the disk. When the store says that another writer was faster, everything that was not yet durable
 * is discarded, the trajectory is read anew and the proposal is judged on what it finds.
 *
 * As `Trajectory<typeof domain>` it takes what that domain knows and nothing else, and its slices are typed; as
 * `Trajectory` it takes what comes, for surfaces that learn the domain at run time. What it does is the same.
 */
export class Trajectory<D extends Domain = Domain> {
  static {
    madeHere(Trajectory.prototype);
  }

  readonly id: string;
  readonly #ports: Ports;
  readonly #writer: Writer;
  readonly #context: TrajectoryContext;
  readonly #open: (trajectoryId: string) => Promise<Trajectory>;
  readonly #proposals: Proposals;
  readonly #resolutions: Resolutions;
  readonly #decisions: Decisions;
  readonly #transactions: Transactions;
  readonly #delegations: Delegations;
  readonly #erasures: Erasures;
  readonly #revocations: Revocations;

  /** `open` opens another trajectory of the same runtime: a child of this one. */
  constructor(
    id: string,
    parts: TrajectoryParts,
    context: TrajectoryContext,
    open: (trajectoryId: string) => Promise<Trajectory>,
  ) {
    this.id = id;
    this.#ports = new Ports(id, context.clock, context.random, () => this.head);
    const { clock, random, saltsOf } = this.#ports;
    this.#writer = new Writer(id, parts, { ...context, clock, random, saltsOf });
    this.#context = context;
    this.#open = open;
    const { beliefs, effects } = context;
    const children = { open, effectsSettled: async () => void (await effects?.told()) };
    this.#resolutions = new Resolutions(this.#writer, beliefs, effects);
    this.#decisions = new Decisions(this.#writer, this.#resolutions);
    this.#proposals = new Proposals(this.#writer, beliefs, this.#resolutions, this.#ports);
    this.#transactions = new Transactions(this.#writer, this.#proposals, effects);
    this.#delegations = new Delegations(this.#writer, this.#resolutions, children);
    this.#erasures = new Erasures(this.#writer, beliefs, this.#proposals, this.#resolutions);
    this.#revocations = new Revocations(this.#writer, this.#delegations, children);
  }

  /** Where the runtime writes what became of effects. */
  static bookOf(trajectory: Trajectory): Book {
    return new OpenBook(trajectory.#writer);
  }

  /** Where the runtime proposes what is to be committed for effects that have failed. @throws as `answerFailure` */
  static answerFailure(trajectory: Trajectory, failure: Failure): Promise<FailureAnswer | undefined> {
    return answerFailure(trajectory.#writer, trajectory.#proposals, failure);
  }

  /** An entry of the store, where it is only on its way there as soon as it is there. */
  static durable(trajectory: Trajectory, entryId: Hash): Promise<EntryRow | undefined> {
    return trajectory.#writer.durable(entryId);
  }

  /** What its opening had to complete is completed. */
  static opened(trajectory: Trajectory): void {
    trajectory.#writer.opened();
  }

  get domain(): D {
    return this.#writer.parts.domain as D;
  }

  /**
   * The id of the last entry. It may not be durable yet while rulings are awaited: `sliceAt` and `Assize.branch` of this process wait
   * until it is, and it never is where another process was faster. Read in the same turn as a slice, it is what `ifUnchanged` counts from.
   */
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
  slice<Name extends RoleName<D>>(role: Name, ...[params = {}]: RoleArguments<D, Name>): SliceOf<D, Name> {
    return this.#writer.parts.world.slice(role, params) as SliceOf<D, Name>;
  }

  /**
   * The slice of a role as it was after an entry, as a copy.
   *
   * @throws LedgerFault when there is no such entry here; KernelError `invalid_domain` for a role that there is not
   */
  async sliceAt(entryId: Hash, role: string, params: RoleParams = {}): Promise<unknown> {
    if (entryId === this.head) return this.#writer.parts.world.slice(role, params);
    await this.#writer.durable(entryId);
    const { state, owned } = await this.#writer.context.replayer.stateAt(this.id, entryId);
    return new World(this.domain, state as never, owned).slice(role, params);
  }

  /** Open approvals, oldest first, by entry id; copies, each made when it is looked at: to ask which there are costs none. */
  pending(): { readonly id: Hash; readonly payload: PendingPayload }[] {
    return [...this.#writer.parts.chain.open].map(([id, payload]) => copiedWhenSeen(id, payload));
  }

  /**
   * What has to be chosen before something that is pending can be approved: an answer for each (`ApprovalInput.answers`). None where it
   * waits for something else.
   *
   * @throws RuntimeError `not_pending`, `erased`; ArgumentError `bad_argument`
   */
  async questionsOf(pendingId: Hash): Promise<readonly AskedQuestion[]> {
    requireForm(form.text, pendingId, 'pendingId');
    return readQuestions(this.#writer, pendingId);
  }

  /**
   * Calls back with the new slice of a role after every durable commit that met its footprint, and when the trajectory
   * had to be read anew because another writer was faster. Returns how to stop.
   *
   * @throws KernelError `invalid_domain` for a role that there is not
   */
  subscribe<Name extends RoleName<D>>(
    role: Name,
    params: NonNullable<RoleArguments<D, Name>[0]>,
    listener: SliceListener<SliceOf<D, Name>>,
  ): () => void {
    const { parts, subscriptions } = this.#writer;
    const slice = (): SliceOf<D, Name> => this.#writer.parts.world.slice(role, params) as SliceOf<D, Name>;
    slice();
    return subscriptions.add(parts.domain.footprint(role, params), slice, listener as SliceListener);
  }

  /**
   * Proposes an action. A refusal is an answer; an error means that nothing was recorded.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`, `bad_writ`, `observation_missing`, `idempotency_conflict`, `conflict`,
   * `commit_unknown`, `clock_behind`, `concluded`, `not_found` for an `ifUnchanged` since no entry of this trajectory; CanonError
   * for arguments that are not JSON
   */
  async propose(input: Proposal<D>): Promise<Ruling> {
    checkKey((input as ProposalInput | undefined)?.idempotencyKey);
    return await this.#proposals.propose(input as ProposalInput);
  }

  /**
   * Uses tools, and commits what they do with an action of the domain, as one proposal: all of it takes effect, or none. What is
   * held until the commit is done after it, once, also after a crash; what acts at once is undone where it does not come to a
   * commit. Where one of those fails for good, that waits for a person, or all is undone, as the action says (`Action.onFailure`).
   * Waits for older transactions that touch the same resources, and for nobody else.
   *
   * A refusal is an answer. An error of the body, a tool that did nothing and a deadline are errors, after all was undone.
   *
   * @throws EffectError `unknown_tool`, `bad_input`, `not_authorised`, `scope_exceeded`, `stale`, `resource_in_doubt`,
   * `tool_failed`, `outcome_unknown`, `key_collision`, `deadline`, `tenure_lost`; RuntimeError `bad_intent`, `bad_option`, and as
   * `propose`; AuthorityError `bad_resource`; what the body throws
   */
  transaction<T>(
    options: TransactionOptions,
    body: (tx: Transaction) => Promise<T> | T,
  ): Promise<TransactionOutcome<T>> {
    return this.#transactions.run(options, body);
  }

  /**
   * What is believed in a space, to read and to write under a writ. The domain has to declare a `memory`. A branch sees what its source
   * believed where it begins, and what it says itself stays in it.
   *
   * @throws RuntimeError `bad_option` where the store keeps no facts; ArgumentError `bad_argument`
   */
  memory(options: MemoryOptions): Memory {
    const beliefs = requireBeliefs(this.#context.beliefs);
    const acts: MemoryActs = {
      domain: this.domain,
      propose: (input) => this.propose(input as Proposal<D>),
      erase: this.erase.bind(this),
      has: (claim) => beliefs.has(claim, this.id),
    };
    return new Memory(options, { ...this.#context, clock: this.#ports.clock }, acts, this.id);
  }

  /**
   * Proposes or resolves in `step` with the time and the chance of a turn in place of the runtime's own, so that the same
   * entries can be made again. For one who proposes alone: what others propose here meanwhile has them too. Of what is observed by oracle
   * key, names are not asked about (`checkObservationName`): a turn that is on record is proposed as it was recorded.
   */
  during<T>(turn: TurnPorts, step: () => Promise<T>): Promise<T> {
    return this.#ports.during(turn, step);
  }

  /**
   * Commits what is pending, as the counselor it names (decisions §2.1). Where it takes the approval of several people, each
   * but the last is answered `escalated`: it is recorded that they approved, and the proposal waits for the next one under the
   * id of that entry, as it was put up and as long as it would have.
   *
   * @throws RuntimeError `bad_intent`, `not_pending`, `effect_waits`, `digest_mismatch`, `frozen`, `bad_writ`; KernelError
   * `unauthorised_counselor`, `approved_before`, `changed_since`, `override_needed`, `invalid_replacement`;
   * ArgumentError `bad_argument`. Nothing is recorded then.
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
   * gave its final answer first, `conflict`, `clock_behind`; ArgumentError `bad_argument`; the signal's reason
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
   * AuthorityError `not_attenuated`, `wrong_key`, `bad_writ`, `bad_resource`; KernelError `invalid_state`; ArgumentError `bad_argument`. Nothing is
   * recorded then, but for `commit_unknown`.
   */
  async delegate(input: DelegationInput): Promise<Trajectory> {
    return this.#open(await this.#delegations.delegate(input));
  }

  /**
   * Erases what is sensitive at or below places of the state, and all that was ever written there, with the arguments and
   * observations of the proposals that wrote it; or everything sensitive in some entries; or what is believed of a subject, a
   * predicate of it or by one claim, with all that said, asked or recalled it here, and the sensitive values that who
   * said it wrote into the state. It is adjudicated like any proposal, under a writ for `assize.erase`, and once it is committed the store has the texts no more: hashes stay as they
   * are, states and facts have `{"$erased": hash}`, and what was copied into places that are not sensitive stays.
   *
   * What other trajectories have said of the same is erased there; `left` names them. Names go with the last of them. What the state has of
   * it at places that are not sensitive stays; `unmarked` names the entries, and `left` this trajectory then.
   *
   * Values that were inherited by a branch are erased in its source. A copy, backup or export that was made before is not
   * reached.
   *
   * @throws RuntimeError `bad_intent`, `nothing_to_erase`, `not_found`, and as `propose`; StoreError `store_not_scrubbed` where it is
   *   committed, and bytes of it may still be in the file of the store: it says what to do
   */
  erase(input: ErasureInput): Promise<ErasureRuling> {
    return this.#erasures.erase(input);
  }

  /**
   * Revokes a writ with all below it, for good: from this entry on nothing is done under it here, nor in the trajectories
   * that were delegated to under it. It is adjudicated like a proposal, under a writ for `assize.revoke` on `writ:ID` whose
   * holder stands above: one of the ancestors of what is revoked, or a root writ of the key that issued its root and that names
   * both the action and `writ:ID`, `writ:*` or `writ:**`. It does not wait for a person, and goes on while an approval freezes
   * the world. Revoking again gives the earlier entry.
   *
   * Where an open delegation could not be reached, `carried` says why: opening this trajectory, or revoking again, completes it.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`, `bad_writ`, `concluded`, `conflict`, `commit_unknown`, `clock_behind`;
   * ArgumentError `bad_argument`
   */
  revoke(input: RevocationInput): Promise<Revocation> {
    return this.#revocations.revoke(input);
  }

  /**
   * Takes over a revocation from the trajectory that delegated to this one, by its entry there, and carries it on. The same
   * again gives the same entry; undefined where this trajectory gave its final answer, which nothing follows.
   *
   * @throws RuntimeError `not_found` for what revokes nothing that this trajectory stands under, and as `revoke`
   */
  takeOverRevocation(entryId: Hash): Promise<EntryRow | undefined> {
    return this.#revocations.takeOver(entryId);
  }

  /** The ids of the writs that were revoked here, or where this branch begins; with each, all below it is. */
  revoked(): Hash[] {
    return [...this.#writer.parts.writs.revoked];
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
   * what opening the child throws; CanonError for an answer that is not JSON; ArgumentError `bad_argument`
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
   * tells it what was revoked above it, concludes what a child has answered. Done whenever a trajectory is opened.
   */
  async completeDelegations(): Promise<void> {
    await this.#revocations.complete();
    await this.#delegations.complete();
  }
}

/** A payload is never changed once it is recorded: whenever it is copied, the copy is the same. */
function copiedWhenSeen(id: Hash, recorded: PendingPayload): { readonly id: Hash; readonly payload: PendingPayload } {
  let copy: PendingPayload | undefined;
  return {
    id,
    get payload() {
      copy ??= structuredClone(recorded);
      return copy;
    },
  };
}
