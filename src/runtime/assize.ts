import { createWritVerifier, type Policy, parseWrit, safely, type Writ, type WritVerifier } from '#authority';
import {
  form,
  isAssizeError,
  type Json,
  madeHere,
  maxInstant,
  refuseOtherCopy,
  requireForm,
  signText,
  verifyText,
} from '#canon';
import { EffectError, type Resolvers, type Tool, TRIES, TRIES_MAX } from '#effects';
import { type Domain, detailOf, initialState, requireOwnDomain, stateFault, World } from '#kernel';
import {
  type BlobRow,
  type BranchPayload,
  Chain,
  type EffectStore,
  type EntryRow,
  type EntrySigner,
  entryRow,
  type Folded,
  type Hash,
  isHash,
  type LedgerStore,
  type PendingPayload,
  payloadFault,
  Replayer,
  type RootPayload,
  readRow,
  type SnapshotStore,
  type TrajectoryInfo,
} from '#ledger';
import type { Embedder } from '#memory';
import { type Clock, type OracleStore, type Pause, type Random, systemClock, systemPause, systemRandom } from '#oracle';
import { begunWith, checkWrits, policyHash, refOf, rootPayload, vectorOf } from './beginning.ts';
import type { AwaitOptions } from './decisions.ts';
import { awaitedAnswers, type EffectAnswer } from './effects/answers.ts';
import { type Book, ClosedBook } from './effects/book.ts';
import { Effects, type EffectsOptions, type Frontier, type LeftEffect } from './effects/effects.ts';
import type { Failure, FailureAnswer } from './effects/failure.ts';
import { type EffectsQuery, type EffectTransaction, readEffects } from './effects/listing.ts';
import { checkedEffectResolution, type EffectResolution, type ResolvedEffect } from './effects/resolution.ts';
import { RuntimeError } from './errors.ts';
import { copyOf, type FoldedTrajectory } from './fold-trajectory.ts';
import { DOMAIN, DOMAINS, requireOwnDomains } from './forms.ts';
import { Kept, saltsAt } from './kept.ts';
import { Beliefs, type DerivedEntry, derivedFrom, type Judge, MemoryView, requireBeliefs } from './memory/index.ts';
import { type NoticeListeners, Notices } from './notices.ts';
import { Hands, type ParallelOptions } from './parallel/index.ts';
import { randomHex } from './random-hex.ts';
import { Reading, valid } from './reading.ts';
import { COMPILER_VERSION } from './records.ts';
import type { Revocation, RevocationInput } from './revoke.ts';
import { RuledProposals } from './ruled-proposals.ts';
import { type SnapshotListener, Snapshots } from './snapshots/snapshots.ts';
import { Trajectory } from './trajectory.ts';
import type { Base, Surroundings, TrajectoryParts } from './writer.ts';
import { Writs } from './writs.ts';

export interface AssizeOptions extends NoticeListeners {
  readonly store: LedgerStore;
  /** The oracle log that observations by key are in; most often the same store. */
  readonly oracle?: Pick<OracleStore, 'oracleGet'>;
  /** Where snapshots are kept, so that opening need not replay all; most often the same store. Default: there are none. */
  readonly snapshots?: SnapshotStore;
  /** Told when a snapshot could not be used or left, which nothing else fails for. Default: a warning of the process. */
  readonly onSnapshotFailed?: SnapshotListener;
  /** The domains whose trajectories may be opened. */
  readonly domains: readonly Domain[];
  /** Public keys whose root writs count. Never taken from a writ. */
  readonly anchors: readonly string[];
  readonly policy?: Policy;
  /** Signs every entry; default: entries are not signed. */
  readonly signer?: EntrySigner;
  /** Judges each proposal by every rule on the whole state. The rulings are the same, and slow: for who doubts it. */
  readonly strict?: boolean;
  /** How long a pending approval stays open, in milliseconds. Default: for ever. */
  readonly approvalMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Before what lost to another writer is judged again. Default: a few milliseconds, by chance, longer each time. */
  readonly pause?: Pause;
  /**
   * Lets other threads find out what proposals to one domain will do, ahead of their turns; the rulings are the same. It pays
   * where `apply` and the rules together take a good part of a millisecond, proposals come many at once and touch different
   * places, and there are processors to spare. Where they take little, the messages cost more than they spare. To be ended
   * with `close`. Default: all is judged in this thread.
   */
  readonly parallel?: ParallelOptions;
  /** Who chooses between facts that contradict each other, where their predicate declares `rule`. Default: a person. */
  readonly judge?: Judge;
  /** Who makes vectors of texts, for recalls by `embedding` and `hybrid`. Default: nobody; what is believed is found by its words. */
  readonly embedder?: Embedder;
  /**
   * What agents may do outside of the world, in transactions (`Trajectory.transaction`). The store has to keep an effect log, as
   * those of this package do. With tools, the runtime is to be ended with `close`.
   */
  readonly tools?: readonly Tool[];
  /**
   * Milliseconds that a transaction which hangs may hold up who comes where it has acted: its lease. Half of it is for a body that is
   * silent (`idleMs` of a transaction says otherwise), and half for calls of tools, to act and to undo, that are not answered or
   * refused, however often they are tried. What nobody can tell by then waits for a person. Default 120,000.
   */
  readonly holdMs?: number;
  /** Milliseconds after which the answer of a tool is taken for lost. At most a quarter of `holdMs`; default a sixth of it, 20,000. */
  readonly callMs?: number;
  /**
   * Calls of one effect after the commit, or to undo it, that may fail or be lost before it is left to a person; pauses between them grow
   * from some milliseconds to some ten seconds. From 1 to 100. Default 3.
   */
  readonly tries?: number;
  /**
   * Milliseconds after which other processes go on with what this one has at work with tools, when nothing is heard of it. Only where
   * the store can be shared, as on PostgreSQL; else it is had until the process ends. Default 10,000.
   */
  readonly leaseMs?: number;
  /**
   * Give the canonical names of what transactions of tools touch, by kind of scope: one thing that has several names is one thing, and
   * writs, policies and the effect log know it by the canonical one. Default: names are taken as they are.
   */
  readonly resolvers?: Resolvers;
  /** Whether transactions of tools wait for older ones that conflict. Default `derived`; `none` is for experiments only. */
  readonly frontier?: Frontier;
}

export interface CreateOptions {
  /** Default: random. */
  readonly trajectoryId?: string;
  /** Default: the domain's own. */
  readonly initial?: unknown;
  /** Root writs, and children that shall be known from the beginning. */
  readonly writs?: readonly Writ[];
  readonly note?: string;
  /** Begin although the state breaks invariants; the entry then carries the detection vector. */
  readonly override?: boolean;
}

export interface BranchOptions extends Omit<CreateOptions, 'initial' | 'note'> {
  readonly note: string;
}

/** Which of what waits is asked for. */
export interface PendingQuery {
  /** Default: all of the store. */
  readonly trajectoryId?: string;
  /** What waits for this channel, as the entries name it. Default: all of them. */
  readonly channel?: string;
}

/** Something that waits for a person, and where. */
export interface OpenPending {
  readonly trajectoryId: string;
  /** Under which it is approved or rejected. */
  readonly id: Hash;
  readonly payload: PendingPayload;
}

/**
 * The runtime over one store: begins, opens and branches trajectories. Closing it does not close the store, which
 * was given.
 */
export class Assize {
  readonly #options: AssizeOptions;
  readonly #store: LedgerStore;
  readonly #verifier: WritVerifier;
  readonly #around: Surroundings;
  readonly #snapshots: Snapshots;
  readonly #replayer: Replayer;
  readonly #reading: Reading;
  readonly #hands: Hands | undefined;
  readonly #effects: Effects | undefined;
  readonly #open: Map<string, Promise<Trajectory>> = new Map();
  /** Those of them that have a writer: also while what a crash left half done is completed. */
  readonly #writing: Map<string, Trajectory> = new Map();
  #policy: Policy | undefined;

  static {
    madeHere(Assize.prototype);
  }

  /**
   * @throws AssizeError for an anchor that is no public key; RuntimeError `bad_option`; CopyError `other_copy` for a domain, tool or
   * store that another copy of the package has made; ArgumentError `bad_argument`
   */
  constructor(options: AssizeOptions) {
    requireForm(ASSIZE_OPTIONS, options, 'options');
    refuseOtherCopies(options);
    checkEntryOptions(options);
    this.#options = options;
    this.#store = options.store;
    this.#verifier = createWritVerifier({ anchors: options.anchors });
    this.#snapshots = new Snapshots(options.snapshots, options.store, options.onSnapshotFailed);
    this.#replayer = new Replayer(options.store, (trajectoryId, seq) => this.#snapshots.find(trajectoryId, seq));
    this.#reading = new Reading(options.store, this.#replayer, this.#snapshots);
    this.#policy = options.policy === undefined ? undefined : safely(options.policy);
    this.#hands = options.parallel === undefined ? undefined : new Hands(options.parallel, options.domains);
    this.#effects = effectsFor(options, {
      bookOf: (trajectoryId) => this.#bookOf(trajectoryId),
      answer: (failure) => this.#answer(failure),
    });
    this.#around = {
      store: options.store,
      clock: options.clock ?? systemClock,
      random: options.random ?? systemRandom,
      verifier: this.#verifier,
      policy: this.#policy,
      signer: options.signer,
      approvalMs: options.approvalMs,
      replayer: this.#replayer,
      oracle: options.oracle,
      nameFor: (given) => this.#nameFor(given),
      domainOf: (ref) => this.#domain(ref),
      pause: options.pause ?? systemPause,
      notices: new Notices(options),
      effects: this.#effects,
      beliefs: Beliefs.of(options.store, options.random ?? systemRandom, options.judge),
      embedder: options.embedder,
      hands: this.#hands,
      reload: (trajectoryId, base) => this.#reload(trajectoryId, base),
      open: (trajectoryId) => this.open(trajectoryId),
      erased: (trajectoryId) => this.#forgetErased(trajectoryId),
    };
  }

  trajectories(): Promise<TrajectoryInfo[]> {
    return this.#store.trajectories();
  }

  /**
   * What waits for a person now, in all trajectories or one, oldest first in each, whoever wrote it: also what a process that
   * ended told nobody of. One trajectory is read when it is come to, from its snapshot on where there is one, and else whole;
   * nothing of it is kept. No domain is needed. What has expired is there until somebody opens or proposes something.
   *
   * @throws RuntimeError `not_found`, `invalid_ledger`; ArgumentError `bad_argument`
   */
  async *pending(query: PendingQuery = {}): AsyncGenerator<OpenPending> {
    requireForm(form.object, query, 'query');
    const { trajectoryId, channel } = query;
    const names =
      trajectoryId === undefined
        ? (await this.#store.trajectories()).map(({ trajectory_id }) => trajectory_id)
        : [trajectoryId];
    for (const name of names) {
      const { chain } = (await this.#reading.read(name, unmade)).folded;
      for (const [id, payload] of chain.open)
        if (channel === undefined || payload.channel === channel) yield { trajectoryId: name, id, payload };
    }
  }

  /**
   * What is and was believed in a space, for reading: what is shared, or with `trajectoryId` what that one sees, which may be a branch.
   *
   * @throws RuntimeError `bad_option` where the store keeps no facts
   */
  memory(space: string, trajectoryId?: string): MemoryView {
    requireBeliefs(this.#around.beliefs);
    return new MemoryView(space, this.#around, trajectoryId);
  }

  /**
   * Every commit that followed from an entry, however many steps away: by what they believe, and by the recalls that they observed.
   * Reads the whole store.
   *
   * @throws RuntimeError `not_found`; LedgerFault for a blob that is not there; ArgumentError `bad_argument`
   */
  async derived(entryId: Hash): Promise<readonly DerivedEntry[]> {
    requireForm(form.text, entryId, 'entryId');
    return derivedFrom({ store: this.#store, replayer: this.#replayer }, entryId);
  }

  /** A name for a trajectory that nobody has: for writs that must name theirs before it begins. */
  newTrajectoryId(): string {
    return `t-${randomHex(this.#around.random, 12)}`;
  }

  /**
   * Begins a trajectory with a root entry.
   *
   * @throws RuntimeError `exists`, `bad_name`, `broken_start`, `bad_writ`, `bad_option`, `domain_mismatch`; KernelError
   * `invalid_state`; ArgumentError `bad_argument`
   */
  async create<D extends Domain>(domain: D, options: CreateOptions = {}): Promise<Trajectory<D>> {
    requireForm(DOMAIN, domain, 'domain');
    requireOwnDomain(domain);
    requireForm(form.object, options, 'options');
    this.#domain(refOf(domain));
    const trajectoryId = this.#nameFor(options.trajectoryId);
    const state = initialState(domain, options.initial);
    const world = this.#worldOf(domain, { state: state as never, owned: undefined });
    const kept = new Kept(saltsAt(this.#around.random, trajectoryId));
    const { initial_state, sensitive } = begunWith(domain, state as Json, kept);
    const payload = rootPayload({
      trajectoryId,
      at: this.#around.clock.now(),
      domain: refOf(domain),
      initialState: initial_state,
      sensitive,
      writs: this.#checkWrits(options.writs),
      policy: this.#policy,
      vector: vectorOf(world, options.override === true),
      note: options.note,
    });
    return (await this.#begin(trajectoryId, payload, kept.blobs, world)) as Trajectory<D>;
  }

  /**
   * Begins a trajectory from a commit of another one, or from its root or branch entry. It inherits the state and what was
   * revoked by then, never open approvals, writs or budgets; the source is not changed.
   *
   * @throws RuntimeError `not_found`, `exists`, `broken_start`, `domain_mismatch`, `invalid_ledger`, `bad_writ`,
   * `bad_option`; ArgumentError `bad_argument`
   */
  async branch(sourceTrajectoryId: string, sourceEntryId: Hash, options: BranchOptions): Promise<Trajectory> {
    requireForm(form.text, sourceTrajectoryId, 'sourceTrajectoryId');
    requireForm(form.text, sourceEntryId, 'sourceEntryId');
    requireForm(form.object, options, 'options');
    const row = await this.#durable(sourceTrajectoryId, sourceEntryId);
    if (row === undefined || row.trajectory_id !== sourceTrajectoryId) {
      throw new RuntimeError('not_found', `${sourceTrajectoryId} has no entry ${sourceEntryId} to branch from.`);
    }
    if (row.kind !== 'commit' && row.kind !== 'root' && row.kind !== 'branch') {
      throw new RuntimeError(
        'not_found',
        `A branch begins at a commit, a root or a branch; ${sourceEntryId} is a ${row.kind}.`,
      );
    }
    const trajectoryId = this.#nameFor(options.trajectoryId);
    const source = await valid(() => this.#replayer.stateAt(sourceTrajectoryId, sourceEntryId));
    const revoked = await this.#replayer.revokedAt(sourceTrajectoryId, sourceEntryId);
    const domain = await this.#domainOfTrajectory(sourceTrajectoryId);
    const world = this.#worldOf(domain, source);
    const vector = vectorOf(world, options.override === true);
    const payload: BranchPayload = {
      kind: 'branch',
      trajectory_id: trajectoryId,
      seq: 0,
      parent: null,
      at: maxInstant(this.#around.clock.now(), readRow(row).payload.at),
      source_trajectory_id: sourceTrajectoryId,
      source_commit_id: sourceEntryId,
      domain: refOf(domain),
      compiler_version: COMPILER_VERSION,
      writs: this.#checkWrits(options.writs),
      note: options.note,
      ...policyHash(this.#policy),
      ...(vector === undefined ? {} : { detection_vector: vector }),
    };
    return this.#begin(trajectoryId, payload, [], world, revoked);
  }

  /** An entry, where it is only on its way to the store as soon as it is there. */
  #durable(trajectoryId: string, entryId: Hash): Promise<EntryRow | undefined> {
    const writing = this.#writing.get(trajectoryId);
    return writing === undefined ? this.#store.resolve(entryId) : Trajectory.durable(writing, entryId);
  }

  /**
   * Opens a trajectory: replays it, and refuses one that does not verify. The same one is opened once. What a crash left
   * half done between it and its delegations is completed first (`Trajectory.completeDelegations`); what it left at work with tools
   * that are here is begun to be gone on with, which nobody waits for (`recoverEffects` does). Where there is a snapshot, only what
   * came after it is replayed; what it stands on is for `verify` to check.
   *
   * With a domain, it has to be that one's, and is typed by it.
   *
   * @throws RuntimeError `not_found`, `domain_mismatch`, `invalid_ledger`
   */
  open(trajectoryId: string): Promise<Trajectory>;
  open<D extends Domain>(trajectoryId: string, domain: D): Promise<Trajectory<D>>;
  async open(trajectoryId: string, domain?: Domain): Promise<Trajectory> {
    const trajectory = await this.#opened(trajectoryId);
    if (domain !== undefined) checkDomainOf(trajectory, domain);
    return trajectory;
  }

  /** What an opening does besides reading; who may write nothing leaves it as it is. */
  protected async complete(trajectory: Trajectory): Promise<void> {
    await trajectory.completeDelegations();
    this.#effects?.takeUpLeft(trajectory.id);
  }

  #opened(trajectoryId: string): Promise<Trajectory> {
    let opened = this.#open.get(trajectoryId);
    if (opened === undefined) {
      opened = this.#openedAnew(trajectoryId);
      this.#open.set(trajectoryId, opened);
      opened.catch(() => this.#letGo(trajectoryId));
    }
    return opened;
  }

  /**
   * Revokes a writ in the trajectory that it is for, and in all that a descendant was delegated to (`Trajectory.revoke`).
   * `trajectoryId`: where; default: the trajectory that `by` names, or else the revoked writ. A writ that names none holds
   * in many, and is revoked in each by itself.
   *
   * @throws RuntimeError `bad_intent` where that is to be said, and as `open` and `Trajectory.revoke`; ArgumentError `bad_argument`
   */
  async revoke(options: RevocationInput & { readonly trajectoryId?: string }): Promise<Revocation> {
    requireForm(form.object, options, 'input');
    const { trajectoryId, ...input } = options;
    const where = trajectoryId ?? trajectoryOf(input.by) ?? trajectoryOf(input.writ);
    if (where === undefined)
      throw new RuntimeError('bad_intent', 'This is no revocation: say in which trajectory, the writs name none.');
    return (await this.open(where)).revoke(input);
  }

  async #openedAnew(trajectoryId: string): Promise<Trajectory> {
    await this.#hands?.ready();
    const { folded, erasures, made: parts } = await this.#reading.read(trajectoryId, this.#partsOf);
    this.#snapshots.leave(folded, erasures);
    const trajectory = new Trajectory(trajectoryId, parts, this.#around);
    // Not where it was let go meanwhile.
    if (this.#open.has(trajectoryId)) this.#writing.set(trajectoryId, trajectory);
    await this.complete(trajectory);
    Trajectory.opened(trajectory);
    return trajectory;
  }

  /** Lets go of an open trajectory; what it has in memory is freed. Leaves a snapshot where one is due. */
  release(trajectoryId: string): void {
    const opened = this.#open.get(trajectoryId);
    this.#letGo(trajectoryId);
    this.#hands?.release(trajectoryId);
    if (opened === undefined) return;
    this.#snapshots.later(trajectoryId, async () => {
      const trajectory = await opened.catch(() => undefined);
      if (trajectory === undefined || !this.#snapshots.isDue(trajectoryId, trajectory.length)) return;
      // From the store, and not what is in memory: that may be ahead of the disk, and knows more than the entries say.
      const { folded, erasures } = await this.#reading.read(trajectoryId, this.#partsOf);
      this.#snapshots.leave(folded, erasures);
    });
  }

  /** Lets go of all that is open, and waits for the snapshots that are being left. The store may be closed after that. */
  async close(): Promise<void> {
    // What became of effects is told to trajectories that are open.
    await this.#effects?.close();
    for (const trajectoryId of [...this.#open.keys()]) this.release(trajectoryId);
    await this.#snapshots.settled();
    await this.#hands?.close();
  }

  /**
   * Takes over what an earlier process left at work with tools, and waits until all of it is seen to that can be without a
   * person. It is done anyway with the first transaction, and where a trajectory is opened that has some of it. Answers with what waits
   * for a person then.
   *
   * @throws RuntimeError `bad_option` where there are no tools; as long as another process has them at work, the signal's reason, and
   * `closed` when this runtime is closed
   */
  async recoverEffects(signal?: AbortSignal): Promise<LeftEffect[]> {
    if (this.#effects === undefined) throw badOption('there are no tools; give some');
    const held = await this.#effects.held(signal);
    await held.recovered();
    await held.told();
    return held.left();
  }

  /**
   * Takes down what a person decided about an effect that is in doubt, or could not be done or undone, and goes on with its
   * transaction. When nothing of that is left, what it claimed is free. A decision is taken once.
   *
   * @throws EffectError `bad_resolution`, `needs_confirmation`, `not_left`, `unknown_effect`, `already_resolved`,
   * `tenure_lost`, after which it can be done again; RuntimeError `bad_option` where there are no tools (an empty list will
   * do, as long as none has to be called); the signal's reason
   */
  async resolveEffect(resolution: EffectResolution, signal?: AbortSignal): Promise<ResolvedEffect> {
    const checked = checkedEffectResolution(resolution);
    if (this.#effects === undefined) throw badOption('there are no tools; give some');
    const held = await this.#effects.held(signal);
    await held.recovered();
    try {
      return await held.resolve(checked);
    } catch (error) {
      if (error instanceof EffectError && error.code === 'tenure_lost') await this.#effects.beginAnew(held);
      throw error;
    }
  }

  /**
   * What the effect log has of transactions of tools: of those that have not ended, by epoch; of the one that is asked for; or of all, the
   * youngest first. It is read as it is: no tools are needed, nothing is taken over, and who is at work is not disturbed.
   *
   * @throws RuntimeError `bad_option` where the store keeps no effect log, or more is asked at once than one of these; ArgumentError
   * `bad_argument`
   */
  async effects(query: EffectsQuery = {}): Promise<EffectTransaction[]> {
    requireForm(EFFECTS_QUERY, query, 'query');
    const { all = false, epoch, limit, before } = query;
    if (all ? epoch !== undefined : limit !== undefined || before !== undefined)
      throw badOption('limit and before are for all transactions, and an epoch is for one');
    return readEffects(effectLogOf(this.#store), query);
  }

  /**
   * Waits until all that the tools of a commit are to do is done, or waits for a person, by whomever and in whichever process, and
   * answers with what became of each, in the order of the commit. For commits that were approved, or are of a transaction with a name;
   * of others only who made them is told. No tools are needed. What they answered may be observed by what is proposed next; of what
   * could be neither undone nor held, the ledger has it too. What other processes do is seen when the store is looked at again, a few
   * times a second.
   *
   * @throws RuntimeError `not_found` for what is no such commit, `still_pending` when the clock has come to `until`, `bad_option`
   * where the store keeps no effect log; ArgumentError `bad_argument`; the signal's reason
   */
  async awaitEffects(commitId: Hash, options: AwaitOptions = {}): Promise<EffectAnswer[]> {
    const { clock, pause } = this.#around;
    const told = async (): Promise<void> => this.#effects?.told();
    return awaitedAnswers(commitId, options, { store: effectLogOf(this.#store), clock, pause, told });
  }

  /** No domain is needed to tell of effects: a trajectory that is not open here is read for it, and let go. */
  #bookOf(trajectoryId: string): Book {
    // Not waited for: what completes an opening may wait for what is told here.
    const writing = this.#writing.get(trajectoryId);
    if (writing !== undefined) return Trajectory.bookOf(writing);
    const read = async (name: string): Promise<Chain> => (await this.#reading.read(name, unmade)).folded.chain;
    return new ClosedBook(trajectoryId, { ...this.#around, read });
  }

  /** A trajectory that is not open here is opened for it, if its domain is here: what it proposes is ruled on. */
  async #answer(failure: Failure): Promise<FailureAnswer | undefined> {
    const { trajectoryId } = failure;
    let trajectory = this.#writing.get(trajectoryId);
    try {
      trajectory ??= await this.open(trajectoryId);
    } catch (error) {
      if (isAssizeError(error, 'domain_mismatch') || isAssizeError(error, 'invalid_ledger')) return undefined;
      throw error;
    }
    return Trajectory.answerFailure(trajectory, failure);
  }

  #letGo(trajectoryId: string): void {
    this.#open.delete(trajectoryId);
    this.#writing.delete(trajectoryId);
  }

  #nameFor(given: string | undefined): string {
    if (given === undefined) return this.newTrajectoryId();
    if (typeof given === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(given)) return given;
    throw new RuntimeError(
      'bad_name',
      `${typeof given === 'string' ? JSON.stringify(given) : `A thing of the type ${typeof given}`} can't name a trajectory; use 1 to 128 letters, digits, dots, colons, dashes or underscores.`,
    );
  }

  async #begin(
    trajectoryId: string,
    payload: RootPayload | BranchPayload,
    blobs: BlobRow[],
    world: World,
    revoked: ReadonlySet<Hash> = new Set(),
  ): Promise<Trajectory> {
    await this.#hands?.ready();
    const row = entryRow(payload, this.#options.signer);
    const malformed = payloadFault(payload);
    if (malformed !== undefined) throw badOption(`the first entry would not verify: ${malformed}`);
    const result = await this.#store.commit({ entries: [row], blobs });
    if (result.status === 'conflict') {
      throw new RuntimeError(
        'exists',
        `There is a trajectory ${trajectoryId} already; open it, or choose another name.`,
      );
    }
    if (result.status === 'unknown') {
      throw new RuntimeError(
        'commit_unknown',
        `The store could not tell whether ${trajectoryId} was begun; open it anew and look.`,
        {
          evidence: { id: row.id },
          cause: result.cause,
          retryable: true,
        },
      );
    }
    const parts = this.#begun(trajectoryId, world);
    parts.chain.accept({ ...row, payload });
    parts.chain.inherit(revoked);
    parts.writs.bind(payload.writs);
    parts.writs.inherit(revoked);
    const trajectory = new Trajectory(trajectoryId, parts, this.#around);
    this.#open.set(trajectoryId, Promise.resolve(trajectory));
    this.#writing.set(trajectoryId, trajectory);
    return trajectory;
  }

  #worldOf(domain: Domain, { state, owned }: Pick<Folded, 'state' | 'owned'>): World {
    return new World(domain, state, owned, { strict: this.#options.strict === true });
  }

  #begun(trajectoryId: string, world: World): TrajectoryParts {
    return {
      domain: world.domain,
      chain: new Chain(trajectoryId),
      world,
      writs: new Writs(),
      ruled: new RuledProposals(),
      base: undefined,
    };
  }

  /** What a branch inherited, or a delegation handed over, is in memory there too. */
  async #forgetErased(trajectoryId: string): Promise<void> {
    this.#replayer.forget();
    await this.#snapshots.drop(trajectoryId);
    for (const [name, opened] of this.#open) {
      if (name === trajectoryId) continue;
      // One that can't be opened has nothing to forget, and who opened it was told.
      const trajectory = await opened.catch(() => undefined);
      await trajectory?.forget();
    }
  }

  /**
   * For a writer that met others, and will meet them again: what was read is kept as it is, to be gone on from the next time,
   * and the writer gets a copy, which shares the state.
   */
  async #reload(trajectoryId: string, before: Base | undefined): Promise<TrajectoryParts> {
    const base = await this.#reading.readOn(trajectoryId, before, this.#partsOf);
    return { ...this.#partsOf(copyOf(base)), base };
  }

  /** @throws RuntimeError `domain_mismatch`, `invalid_ledger` */
  readonly #partsOf = ({ chain, fold, writs, ruled, overridden, domain: ref }: FoldedTrajectory): TrajectoryParts => {
    const domain = this.#domain(ref);
    const world = this.#worldOf(domain, fold);
    if (!overridden) world.excuse();
    checkState(world, chain.trajectoryId, overridden);
    return { domain, chain, world, writs, ruled, base: undefined };
  };

  async #domainOfTrajectory(trajectoryId: string): Promise<Domain> {
    const [first] = await this.#store.entries(trajectoryId, { from: 0, limit: 1 });
    return this.#domain((readRow(first as EntryRow).payload as RootPayload | BranchPayload).domain);
  }

  #domain(ref: { name: string; version: string; hash: string }): Domain {
    const found = this.#options.domains.find(({ hash }) => hash === ref.hash);
    if (found !== undefined) return found;
    const known = namedOnce(this.#options.domains);
    const changed = this.#options.domains.some(({ name, version }) => name === ref.name && version === ref.version)
      ? 'The domain has changed since the trajectory was begun; a changed domain needs a new version, and a branch.'
      : 'Give the domain that the trajectory was begun with (on the command line: --domain FILE).';
    throw new RuntimeError(
      'domain_mismatch',
      `${changed} It is of ${ref.name}@${ref.version} (${ref.hash.slice(0, 12)}); the domains given are ${known || 'none'}.`,
      { evidence: { domain: ref } },
    );
  }

  #checkWrits(writs: readonly Writ[] = []): readonly Json[] {
    return checkWrits(writs as unknown as readonly Json[], this.#verifier);
  }
}

/** For who needs the trajectory as it is, without its domain. */
const unmade = (): undefined => undefined;

const ASSIZE_OPTIONS = form.members({
  store: form.object,
  domains: DOMAINS,
  policy: form.optional(form.members({ evaluate: form.code })),
  signer: form.optional(form.object),
  embedder: form.optional(form.members({ id: form.text, dimensions: form.whole, embed: form.code })),
});

/** A policy need not be of this copy: it is only asked, with what it is given, and is told apart by its digest. */
function refuseOtherCopies({ store, oracle, snapshots, domains }: AssizeOptions): void {
  requireOwnDomains(domains);
  for (const [name, given] of Object.entries({ store, oracle, snapshots }))
    refuseOtherCopy(given, `The option ${name}`);
}

const FROM_ONE = form.of('a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) > 0);

const EFFECTS_QUERY = form.members({
  trajectoryId: form.optional(form.text),
  epoch: form.optional(FROM_ONE),
  all: form.optional(form.of('true or false', (value) => typeof value === 'boolean')),
  limit: form.optional(FROM_ONE),
  before: form.optional(FROM_ONE),
});

/** What stands in every entry: one that does not hold would make a ledger that never opens again. */
function checkEntryOptions({ signer, policy, anchors, approvalMs, embedder }: AssizeOptions): void {
  if (!Array.isArray(anchors) || anchors.length === 0)
    throw badOption('anchors must name the public key of at least one root, or no writ would ever count');
  if (approvalMs !== undefined && !(Number.isSafeInteger(approvalMs) && approvalMs > 0 && approvalMs < 10 ** 12))
    throw badOption('approvalMs must be a whole number of milliseconds above 0');
  if (policy !== undefined && !isHash(policy.digest)) throw badOption('the digest of the policy is no hash');
  if (embedder !== undefined && (embedder.id === '' || !embedder.id.isWellFormed() || embedder.id.includes('\0')))
    throw badOption('the embedder needs an id that names its model');
  if (embedder?.dimensions === 0) throw badOption('an embedder has one dimension at least');
  if (signer === undefined) return;
  const { publicKey, privateKey } = signer;
  if (!verifyText('entry', '', signText('entry', '', privateKey), publicKey))
    throw badOption('the two keys of the signer are not a pair');
}

/** @throws RuntimeError `bad_option`; EffectError `invalid_tool`, `bad_resolver` */
function effectsFor(
  {
    tools,
    store,
    random = systemRandom,
    pause = systemPause,
    holdMs = HOLD_MS,
    callMs = Math.max(1, Math.floor(holdMs / 6)),
    tries = TRIES,
    leaseMs = LEASE_MS,
    frontier = 'derived',
    resolvers,
  }: AssizeOptions,
  trajectories: Pick<EffectsOptions, 'bookOf' | 'answer'>,
): Effects | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools)) throw badOption('tools must be a list of what `declareTool` makes');
  const log = effectLogOf(store);
  if (!(Number.isSafeInteger(holdMs) && holdMs >= HOLD_MS_MIN && holdMs < 2 ** 31))
    throw badOption(`holdMs must be a whole number of milliseconds from ${HOLD_MS_MIN}`);
  if (!(Number.isSafeInteger(callMs) && callMs > 0 && callMs <= holdMs / 4))
    throw badOption(
      `callMs must be a whole number of milliseconds above 0, and at most a quarter of holdMs, which is ${holdMs}: a call that hangs holds others up`,
    );
  if (!(Number.isSafeInteger(tries) && tries >= 1 && tries <= TRIES_MAX))
    throw badOption(`tries must be a whole number from 1 to ${TRIES_MAX}`);
  if (!(Number.isSafeInteger(leaseMs) && leaseMs >= LEASE_MS_MIN && leaseMs < 2 ** 31))
    throw badOption(`leaseMs must be a whole number of milliseconds from ${LEASE_MS_MIN}`);
  if (frontier !== 'derived' && frontier !== 'none') throw badOption('frontier is derived, or none for experiments');
  const blob = (hash: Hash) => log.blob(hash);
  const given = { store: log, tools, random, pause, callMs, tries, holdMs, leaseMs, frontier, resolvers, blob };
  return new Effects({ ...given, ...trajectories });
}

/** @throws RuntimeError `bad_option` */
function effectLogOf(store: LedgerStore): LedgerStore & EffectStore {
  if (typeof (store as Partial<EffectStore>).holdEffects === 'function') return store as LedgerStore & EffectStore;
  throw badOption('tools need a store that keeps an effect log');
}

/** How long what hangs may hold others up, by default, and at least. */
const HOLD_MS = 120_000;
const HOLD_MS_MIN = 100;

/** How long a process may be silent, by default, and at least: a process that works is silent now and then. */
const LEASE_MS = 10_000;
const LEASE_MS_MIN = 100;

/** Each name and version once, with the hashes of all that have it. */
function namedOnce(domains: readonly Domain[]): string {
  const hashes = new Map<string, string[]>();
  for (const { name, version, hash } of domains) {
    const named = `${name}@${version}`;
    hashes.set(named, [...(hashes.get(named) ?? []), hash.slice(0, 12)]);
  }
  const told = (all: readonly string[]): string =>
    all.length === 1 ? `${all}` : `declared in ${all.length} ways: ${all.join(' and ')}`;
  return [...hashes].map(([named, all]) => `${named} (${told(all)})`).join(', ');
}

/** A domain that is declared alike is the same one, as it is to the ledger. */
function checkDomainOf({ id, domain }: Trajectory, wanted: Domain): void {
  if (domain.hash === wanted?.hash) return;
  const name = (of: Domain | null): string => `${of?.name}@${of?.version} (${String(of?.hash).slice(0, 12)})`;
  throw new RuntimeError(
    'domain_mismatch',
    `${id} is of ${name(domain)} and not of ${name(wanted)}; open it with its own domain, or with none to have it untyped.`,
    { evidence: { domain: refOf(domain) } },
  );
}

/** Chain and hashes say that nothing was changed; this says that what was committed could have been. */
function checkState(world: World, trajectoryId: string, overridden: boolean): void {
  const misfit = stateFault(world.domain.state, world.state);
  const [broken] = overridden ? [] : world.failing;
  const what = misfit ?? (broken === undefined ? undefined : `it breaks ${broken.rule.id}: ${detailOf(broken)}`);
  if (what === undefined) return;
  throw new RuntimeError(
    'invalid_ledger',
    `The state of ${trajectoryId} is none that ${world.domain.name}@${world.domain.version} lets come about: ${what}. Where the domain's rules were changed, give it a new version and branch.`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}

function trajectoryOf(given: RevocationInput['writ']): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  return parseWrit('writ' in given ? given.writ : given).trajectory;
}

function badOption(what: string): RuntimeError {
  return new RuntimeError('bad_option', `The options can’t be used: ${what}.`);
}
