import { writId } from '#authority';
import { arg, checkArgument, type Json, markOwnPackage } from '#base';
import { copyJson, WORLD_LIMITS } from '#canon';
import {
  BELIEVE_ACTION,
  type Domain,
  type RoleArguments,
  type RoleName,
  type RoleParams,
  roleScope,
  type SliceOf,
  World,
} from '#kernel';
import type { EntryRow, Halt, Hash, Instant, RoleRef } from '#ledger';
import { Approvals, type PendingStatus } from './approve/approvals.ts';
import { Expiries } from './approve/pending/expire.ts';
import type { WritChain } from './authority/writs.ts';
import type { TrajectoryContext } from './context.ts';
import { Delegations } from './delegate/delegate.ts';
import { type HaltInput, type HaltOutcome, TrajectoryHalts } from './delegate/halt.ts';
import { TrajectoryWrits } from './delegate/revoke.ts';
import { Erasures } from './erase/erase.ts';
import { Memory, type MemoryOptions, type MemoryPorts } from './memory/memory.ts';
import { requireFactStore } from './memory/plan/plan-beliefs.ts';
import { pendingClaimsOf } from './memory/plan/withdrawn-sources.ts';
import type { ForeseenProposal } from './propose/gather.ts';
import { judgeAt } from './propose/judge.ts';
import { Proposals } from './propose/propose.ts';
import type { ErasureInput, ErasurePreview, ErasureRuling } from './records/erasure-input.ts';
import { checkKey, type Proposal, type ProposalInput } from './records/intent.ts';
import type { Judgement } from './records/judgement.ts';
import {
  type EffectOutcome,
  type RuledProposal,
  type Ruling,
  ruledProposal,
} from './records/ruling.ts';
import type { Transaction } from './transactions/body/transaction.ts';
import type { TransactionOptions } from './transactions/body/transaction-options.ts';
import { TransactionRunner } from './transactions/commit/run-transaction.ts';
import type { TransactionOutcome } from './transactions/commit/transaction-outcome.ts';
import { type LedgerWriter, OpenLedgerWriter } from './transactions/settle/ledger-writer.ts';
import {
  type FailedCommit,
  type OnFailureOutcome,
  proposeOnFailure,
} from './transactions/settle/on-failure.ts';
import { requireGiven, Upgrades } from './upgrade/upgrade.ts';
import type { Upgrade, UpgradeOptions } from './upgrade/upgrade-input.ts';
import type { SliceListener } from './writer/listeners/subscriptions.ts';
import type { TrajectoryState } from './writer/ports.ts';
import { COMMIT_ATTEMPTS_MAX } from './writer/prepared.ts';
import { leaveFromMemory, type SnapshotSink } from './writer/snapshots/from-memory.ts';
import { type TurnPorts, TurnScopedPorts } from './writer/turn-ports.ts';
import { Writer } from './writer/writer.ts';

/** The memory of an open trajectory, for reading. @internal */
export interface TrajectoryMemory {
  readonly world: World;
  readonly domain: Domain;
  readonly halted: Halt | undefined;
}

/**
 * An open trajectory: one state, one writer in this process, one entry per ruling.
 *
 * Nothing awaits between the first rule and the append, so rulings are serial. The head in memory
 * moves immediately, and the ruling is returned once its entry is durable. If the store reports
 * that another writer appended first, the trajectory discards everything that is not yet durable,
 * reloads, and adjudicates the proposal again.
 *
 * `Trajectory<typeof domain>` accepts only the names of that domain and has typed slices.
 * `Trajectory` accepts any names, for surfaces that learn the domain at run time. Both behave the
 * same.
 */
export class Trajectory<D extends Domain = Domain> {
  static {
    markOwnPackage(Trajectory.prototype);
  }

  readonly id: string;
  /** The pending proposals, and the decisions about them. */
  readonly approvals: Approvals;
  /** The delegations to other trajectories, and the delegation that created this trajectory. */
  readonly delegations: Delegations<Trajectory>;
  /** The revocations of writs. */
  readonly writs: TrajectoryWrits;
  readonly #ports: TurnScopedPorts;
  readonly #writer: Writer;
  readonly #context: TrajectoryContext;
  readonly #expiries: Expiries;
  readonly #proposals: Proposals;
  readonly #transactions: TransactionRunner;
  readonly #erasures: Erasures;
  readonly #upgrades: Upgrades;
  readonly #halts: TrajectoryHalts;

  /** `open` opens another trajectory of the same runtime: a child of this trajectory. */
  constructor(
    id: string,
    parts: TrajectoryState,
    context: TrajectoryContext,
    open: (trajectoryId: string) => Promise<Trajectory>,
  ) {
    this.id = id;
    this.#ports = new TurnScopedPorts(id, context.clock, context.random, () => this.head);
    const { clock, random, saltGenerator } = this.#ports;
    const onDurable = (): void => context.entriesAdded(id);
    this.#writer = new Writer(id, parts, { ...context, clock, random, saltGenerator, onDurable });
    this.#context = context;
    const { beliefs, effects } = context;
    const children = { open, effectsSettled: async () => void (await effects?.recorded()) };
    const expiries = new Expiries(this.#writer);
    this.#expiries = expiries;
    const ports = { writer: this.#writer, beliefs, effects, expiries, turn: this.#ports };
    this.approvals = new Approvals(ports, expiries);
    this.delegations = new Delegations(this.#writer, expiries, children);
    this.writs = new TrajectoryWrits(this.#writer, this.delegations, children);
    this.#halts = new TrajectoryHalts(this.#writer, this.delegations, children);
    this.#proposals = new Proposals(ports);
    this.#transactions = new TransactionRunner(this.#writer, this.#proposals, effects);
    this.#erasures = new Erasures(ports);
    this.#upgrades = new Upgrades(this.#writer, expiries);
    Object.freeze(this);
  }

  /**
   * The ledger writer through which the runtime records the outcomes of effects.
   *
   * @internal
   */
  static ledgerWriter(trajectory: Trajectory): LedgerWriter {
    return new OpenLedgerWriter(trajectory.#writer);
  }

  /**
   * Proposes the change that the domain declares for failed effects.
   *
   * @throws the errors of `answerFailure`
   * @internal
   */
  static proposeOnFailure(
    trajectory: Trajectory,
    failure: FailedCommit,
  ): Promise<OnFailureOutcome | undefined> {
    return proposeOnFailure(trajectory.#writer, trajectory.#proposals, failure);
  }

  /**
   * Whether a writ covers a role now, for at least one action. A writ that does not cover a role
   * does not show the role's slice either.
   *
   * @throws RuntimeError `unknown_writ`, `bad_writ`
   * @internal
   */
  static grantsRole(trajectory: Trajectory, given: ProposalInput['writ'], role: RoleRef): boolean {
    const writer = trajectory.#writer;
    const { domain, writs } = writer.parts;
    const writ = writs.present(given);
    const authority = writer.authority(writ, writ.writ.subject, writer.now());
    const scopes = [roleScope(domain, role)];
    const own = Object.entries(domain.actions)
      .filter(([, { process }]) => domain.roles[role.name]?.processes.includes(process))
      .map(([action]) => action);
    return [...own, BELIEVE_ACTION].some((action) => authority.admits({ action, scopes }).ok);
  }

  /**
   * Whether a writ covers a use now. The scopes may be patterns. A pattern must be granted whole.
   *
   * @throws RuntimeError `unknown_writ`, `bad_writ`
   * @internal
   */
  static covers(
    trajectory: Trajectory,
    given: ProposalInput['writ'],
    use: { readonly action: string; readonly scopes: readonly string[] },
  ): boolean {
    const writer = trajectory.#writer;
    const writ = writer.parts.writs.present(given);
    return writer.authority(writ, writ.writ.subject, writer.now()).admits(use).ok;
  }

  /**
   * Reads the entries of other processes, so that the next answers know their revocations.
   *
   * @throws the errors of the store or the replay
   * @internal
   */
  static async catchUp(trajectory: Trajectory): Promise<void> {
    if (await trajectory.#writer.isBehind()) await trajectory.#writer.ready();
  }

  /** The earliest expiry of an approval in memory. @internal */
  static nextExpiry(trajectory: Trajectory): Instant | undefined {
    return trajectory.#writer.parts.chain.open.nextExpiry;
  }

  /**
   * Records the approvals that have expired, unless another process did.
   *
   * @throws the errors of `catchUp` and of an append
   * @internal
   */
  static async recordExpired(trajectory: Trajectory): Promise<void> {
    for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
      await Trajectory.catchUp(trajectory);
      if (!trajectory.#expiries.hasExpired()) return;
      await trajectory.#expiries.recordExpired();
    }
    throw await trajectory.#writer.conflictError();
  }

  /** Whether memory has no entry of that position. @internal */
  static isBehind(trajectory: Trajectory, seq: number): boolean {
    return seq >= trajectory.length;
  }

  /**
   * Reads the state in memory without a copy. Nothing of it may leave `read` or be changed there.
   *
   * @internal
   */
  static readState<T>(trajectory: Trajectory, read: (state: Json) => T): T {
    return read(trajectory.#writer.parts.world.state as Json);
  }

  /**
   * Whether a writ or a writ above it is revoked here.
   *
   * @internal
   */
  static isRevoked(trajectory: Trajectory, { writ, chain }: WritChain): boolean {
    const { revoked } = trajectory.#writer.parts.writs;
    return [writ, ...chain].some((link) => revoked.has(writId(link)));
  }

  /**
   * A writ of the trajectory with its ancestors, by its id. Undefined for an unknown writ.
   *
   * @internal
   */
  static writOf(trajectory: Trajectory, id: Hash): WritChain | undefined {
    return trajectory.#writer.parts.writs.get(id);
  }

  /**
   * The calls that the proposal with an idempotency key made, with their outcomes. Empty before its
   * commit.
   *
   * @internal
   */
  static callsOf(
    trajectory: Trajectory,
    key: string,
    given: ProposalInput['writ'],
  ): Promise<readonly EffectOutcome[]> {
    const { writ } = trajectory.#writer.parts.writs.present(given);
    return trajectory.#proposals.callsOf(key, writ.subject, (id) =>
      trajectory.approvals.statusOf(id),
    );
  }

  /**
   * The ruling on the proposal with an idempotency key: the last one, if an approval has ended.
   * Undefined if the proposal left no entry.
   *
   * @internal
   */
  static async rulingOn(
    trajectory: Trajectory,
    key: string,
    given: ProposalInput['writ'],
  ): Promise<RuledProposal | undefined> {
    const { writ } = trajectory.#writer.parts.writs.present(given);
    const statusOf = (id: Hash): Promise<PendingStatus> => trajectory.approvals.statusOf(id);
    const ruling = await trajectory.#proposals.lastRuling(key, writ.subject, statusOf);
    return ruling && ruledProposal(ruling, trajectory.domain);
  }

  /**
   * The id of a proposal.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`
   * @internal
   */
  static proposalIdOf(trajectory: Trajectory, input: ProposalInput): Hash {
    return trajectory.#proposals.idOf(input);
  }

  /**
   * An entry of the store. If the entry is still being written, resolves once it is durable.
   *
   * @internal
   */
  static findDurable(trajectory: Trajectory, entryId: Hash): Promise<EntryRow | undefined> {
    return trajectory.#writer.findDurable(entryId);
  }

  /**
   * Reads memory, with the last entry of memory once that is durable. `erasures`: their number in
   * the store now. Memory of another number is read again first, because it may have erased values.
   * The result of `read` must not refer to memory.
   *
   * @throws RuntimeError `conflict`, and the errors of reading the trajectory
   * @internal
   */
  static async readMemory<T>(
    trajectory: Trajectory,
    erasures: number | undefined,
    read: (memory: TrajectoryMemory) => T,
  ): Promise<{ readonly entry: EntryRow; readonly result: T }> {
    const writer = trajectory.#writer;
    for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
      if (writer.stale || (await writer.isOvertaken())) await writer.ready();
      if (writer.parts.erasures === undefined || writer.parts.erasures !== erasures)
        await writer.reload();
      if (writer.stale) continue;
      const { world, chain, domain } = writer.parts;
      const head = chain.head as Hash;
      const result = read({ world, domain, halted: chain.halted });
      const entry = await writer.findDurable(head);
      if (entry !== undefined) return { entry, result };
    }
    throw await writer.conflictError();
  }

  /**
   * Leaves a snapshot of memory. Returns false if the trajectory must be read for one.
   *
   * @internal
   */
  static leaveSnapshot(trajectory: Trajectory, snapshots: SnapshotSink): Promise<boolean> {
    return leaveFromMemory(trajectory.#writer, snapshots);
  }

  /**
   * Marks the work of opening this trajectory as complete.
   *
   * @internal
   */
  static openingCompleted(trajectory: Trajectory): void {
    trajectory.#writer.openingCompleted();
  }

  get domain(): D {
    return this.#writer.parts.domain as D;
  }

  /**
   * The id of the last entry. It may not be durable yet while rulings are awaited. `sliceAt` and
   * `Assize.branch` in this process wait until the entry is durable. The entry never becomes
   * durable if another process appended first. Read in the same turn as a slice, it is the start of
   * `precondition`.
   */
  get head(): Hash {
    return this.#writer.parts.chain.head as Hash;
  }

  /** Number of entries. */
  get length(): number {
    return this.#writer.parts.chain.seq;
  }

  /**
   * Reads what other processes have committed, now. Without it, an open trajectory follows them by
   * itself: on PostgreSQL immediately, on SQLite within about a second.
   *
   * @throws RuntimeError `invalid_ledger`; the errors of the store
   */
  refresh(): Promise<void> {
    return Trajectory.catchUp(this as unknown as Trajectory);
  }

  /** A copy of the whole state, for people and tests. Agents get `slice`. */
  state(): Json {
    return copyJson(this.#writer.parts.world.state, WORLD_LIMITS);
  }

  /** The part of the state that a role sees, as a copy (Definition A.7). */
  slice<Name extends RoleName<D>>(
    role: Name,
    ...[params = {}]: RoleArguments<D, Name>
  ): SliceOf<D, Name> {
    return this.#writer.parts.world.slice(role, params) as SliceOf<D, Name>;
  }

  /**
   * The slice of a role after a given entry, as a copy.
   *
   * @throws LedgerFault if this trajectory has no such entry; KernelError `invalid_domain` for an
   * undeclared role
   */
  async sliceAt(entryId: Hash, role: string, params: RoleParams = {}): Promise<unknown> {
    if (entryId === this.head) return this.#writer.parts.world.slice(role, params);
    await this.#writer.findDurable(entryId);
    const { state, owned } = await this.#writer.context.replayer.stateAt(this.id, entryId);
    return new World(this.domain, state as never, owned).slice(role, params);
  }

  /**
   * Calls back with the new slice of a role after every durable commit that overlaps its footprint.
   * Also calls back after a reload because another writer appended first. Returns a function that
   * stops the calls.
   *
   * @throws KernelError `invalid_domain` for an undeclared role
   */
  subscribe<Name extends RoleName<D>>(
    role: Name,
    params: NonNullable<RoleArguments<D, Name>[0]>,
    listener: SliceListener<SliceOf<D, Name>>,
  ): () => void {
    const { parts, subscriptions } = this.#writer;
    const slice = (): SliceOf<D, Name> =>
      this.#writer.parts.world.slice(role, params) as SliceOf<D, Name>;
    slice();
    return subscriptions.add(
      parts.domain.footprint(role, params),
      slice,
      listener as SliceListener,
    );
  }

  /**
   * Proposes an action. A refusal is a result; an error means that nothing was recorded.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`, `bad_writ`, `observation_missing`,
   * `idempotency_conflict`, `conflict`, `commit_unknown`, `clock_ahead`, `concluded`, `not_found`
   * for an `precondition.since` that names no entry of this trajectory; CanonError for arguments
   * that are not JSON
   */
  async propose(input: Proposal<D>): Promise<Ruling> {
    checkKey((input as ProposalInput | undefined)?.idempotencyKey);
    return await this.#proposals.propose(input as ProposalInput);
  }

  /**
   * The ruling that a proposal would get, and the change that it would record. Writes nothing,
   * calls no tool, and makes no other proposal wait. `at`: after that entry, with the state, the
   * writs and the domain of that time. Default: now.
   *
   * An error that `propose` would throw for a reason of the domain or its tools is a result
   * (`refused`). No judge of contradictions is asked. At an entry, statements are not compared with
   * facts.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`, `bad_writ`, `observation_missing`,
   * `not_found`, `domain_mismatch`; CanonError for arguments that are not JSON
   */
  async judge(input: ForeseenProposal, at?: Hash): Promise<Judgement> {
    if (at === undefined) return this.#proposals.judge(input);
    return judgeAt(this.#context, this.id, at, input);
  }

  /**
   * The ruling on the proposal of a principal with an idempotency key, from any process. Undefined
   * if there is none. For a decided approval, the ruling of the decision.
   *
   * @throws RuntimeError `invalid_ledger`; ArgumentError `bad_argument`
   */
  async rulingOf(idempotencyKey: string, principal: string): Promise<Ruling | undefined> {
    checkArgument(arg.text, idempotencyKey, 'idempotencyKey');
    checkArgument(arg.text, principal, 'principal');
    return this.#proposals.wholeRulingFor(idempotencyKey, principal);
  }

  /**
   * Uses tools and commits their effects with an action of the domain, as one proposal. All of it
   * takes effect, or none.
   *
   * Buffered effects run once after the commit, also after a crash. Effects that execute
   * immediately are compensated if no commit follows. If an effect fails permanently,
   * `Action.onFailure` decides: the effect is marked unresolved, or the transaction is rolled back
   * with compensation. The transaction waits only for older transactions that access the same
   * resources.
   *
   * A refusal is a result. An error of the body, a tool that did nothing and a deadline are errors,
   * thrown after everything was compensated.
   *
   * @throws EffectError `unknown_tool`, `bad_input`, `not_authorised`, `scope_exceeded`, `stale`,
   * `resource_in_doubt`, `tool_failed`, `outcome_unknown`, `key_collision`, `deadline`,
   * `lease_lost`; RuntimeError `bad_intent`, `bad_argument`, and the errors of `propose`;
   * AuthorityError `bad_argument`; the errors of the body
   */
  transaction<T>(
    options: TransactionOptions,
    body: (tx: Transaction<D>) => Promise<T> | T,
  ): Promise<TransactionOutcome<T>> {
    return this.#transactions.run(options, body);
  }

  /**
   * The facts of a space, for reads and writes under a writ. The domain must declare a `memory`. A
   * branch sees the facts of its source as of the branch entry. Its own statements stay in the
   * branch.
   *
   * @throws RuntimeError `bad_argument` if the store keeps no facts; ArgumentError `bad_argument`
   */
  memory(options: MemoryOptions): Memory {
    const beliefs = requireFactStore(this.#context.beliefs);
    const acts: MemoryPorts = {
      domain: this.domain,
      propose: (input) => this.propose(input as Proposal<D>),
      erase: this.erase.bind(this),
      has: (claim) => beliefs.has(claim, this.id),
      pendingOf: async (of) => {
        if (this.#writer.stale || (await this.#writer.isBehind())) await this.#writer.ready();
        return pendingClaimsOf(of, this.approvals.pending(), this.#context.store);
      },
    };
    return new Memory(options, { ...this.#context, clock: this.#ports.clock }, acts, this.id);
  }

  /**
   * Proposes or resolves in `step` with the time and randomness of a turn instead of the runtime's
   * own, so that the same entries can be made again. Callers must propose alone: concurrent
   * proposals here also get the turn's time and randomness. Names of observations by oracle key are
   * not checked (`checkObservationName`), because a recorded turn is proposed as it was recorded.
   *
   * @internal
   */
  withTurn<T>(turn: TurnPorts, step: () => Promise<T>): Promise<T> {
    return this.#ports.withTurn(turn, step);
  }

  /**
   * Halts the trajectory: the emergency stop. From this entry on, proposals, approvals,
   * delegations, erasures, upgrades and tool transactions throw `halted`, and leave no entry.
   * Revocations, rejections by counselors and outcomes of effects are still recorded. Effects of
   * committed transactions end as recorded. Trajectories of open delegations adopt the halt.
   *
   * The halt is adjudicated like a proposal, under a writ for `assize.halt` on `halt:TRAJECTORY`.
   * The writ and all its ancestors must name that action and a scope `halt:…`. A halt never
   * requires approval, and neither a freeze nor a clock delays it. Halting again returns the
   * earlier entry.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`, `bad_writ`, `concluded`, `conflict`,
   * `commit_unknown`; ArgumentError `bad_argument`
   */
  halt(input: HaltInput): Promise<HaltOutcome> {
    return this.#halts.change('halt', input);
  }

  /**
   * Ends a halt, under a writ that could halt. Trajectories of open delegations adopt it. A halt
   * that the delegator of this trajectory made is ended there.
   *
   * @throws RuntimeError `already_done`; `halted` if the halt comes from the delegator; the errors
   * of `halt`
   */
  resume(input: HaltInput): Promise<HaltOutcome> {
    return this.#halts.change('resume', input);
  }

  /** The halt that stands, or undefined. */
  get halted(): Halt | undefined {
    const { halted } = this.#writer.parts.chain;
    return halted && { ...halted };
  }

  /**
   * Adopts a halt or a resume of the delegator.
   *
   * @internal
   */
  adoptHalt(entryId: Hash): Promise<void> {
    return this.#halts.adopt(entryId);
  }

  /**
   * Erases sensitive data. The input selects the data in one or more ways:
   *
   * - paths of the state: the values at or below them, every value ever written there, and the
   *   arguments and observations of the proposals that wrote them. At a path without sensitive
   *   values, only those of proposals with sensitive arguments;
   * - entries: all of their sensitive data;
   * - facts of a subject, of a predicate of a subject, or of one claim: the facts, all statements,
   *   questions and recalls of them here, and the sensitive values that their asserting principals
   *   wrote into the state.
   *
   * The kernel adjudicates an erasure like any proposal, under a writ for `assize.erase`. After the
   * commit the store no longer has the erased strings. Hashes stay, states and facts have
   * `{"$erased": hash}`, and copies at paths that are not sensitive stay.
   *
   * Statements of other trajectories about the same facts must be erased there; `remaining` names
   * those trajectories. Names are erased with their last use. Copies of the facts in the state at
   * paths that are not sensitive stay; `unmarked` names their entries, and `remaining` then
   * includes this trajectory.
   *
   * Values that a branch inherited are erased in its source. Copies, backups and exports made
   * earlier are not reached.
   *
   * @throws RuntimeError `bad_intent`, `nothing_to_erase`, `not_found`, and the errors of
   * `propose`; StoreError `store_not_scrubbed` if the erasure is committed but erased bytes may
   * still be in the store's file; its message says what to do
   */
  erase(input: ErasureInput): Promise<ErasureRuling> {
    return this.#erasures.erase(input);
  }

  /**
   * The data that `erase` would erase with the same input. Writes nothing, and adjudicates nothing.
   *
   * @throws RuntimeError `bad_intent`, `nothing_to_erase`, `not_found`
   */
  previewErasure(input: ErasureInput): Promise<ErasurePreview> {
    return this.#erasures.preview(input);
  }

  /**
   * Continues the trajectory under another version of its domain, with one commit entry. `migrate`
   * changes the state in place. The result must fit the new schema and pass every rule of the new
   * version, or a counselor overrides those rules. The writ grants `assize.upgrade` on
   * `upgrade:NAME:VERSION`.
   *
   * Keys, budgets, names of transactions, revocations and delegations go on. A pending proposal
   * goes on if it is the same under the new version, and is closed otherwise. An upgrade never
   * waits for an approval, and a frozen state does not stop it.
   *
   * The runtime must have the new version in `domains`. Open the trajectory again for the types of
   * the new version. A program without the new version gets `domain_mismatch` from then on.
   *
   * @throws RuntimeError `already_done`, `bad_intent`, `bad_argument`, `unknown_writ`, `bad_writ`,
   * `concluded`, `halted`, `conflict`, `commit_unknown`; KernelError
   * `unauthorised_counselor`; ArgumentError `bad_argument`
   */
  async upgrade(next: Domain, options: UpgradeOptions): Promise<Upgrade> {
    requireGiven(next, this.#context);
    return this.#upgrades.upgrade(next, options);
  }

  /**
   * Reloads the trajectory, so that values erased in another trajectory and inherited here are
   * evicted from memory.
   *
   * @internal
   */
  reload(): Promise<void> {
    return this.#writer.reload();
  }

  /**
   * Finishes work that a crash interrupted between this trajectory and its children. Creates a
   * child that has no root yet, propagates revocations and halts to children, and concludes
   * children that have answered. Runs whenever a trajectory is opened.
   *
   * @internal
   */
  async completeDelegations(): Promise<void> {
    await this.writs.complete();
    await this.#halts.complete();
    await this.delegations.complete();
  }
}
