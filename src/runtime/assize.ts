import { createWritVerifier, parseWrit, safely } from '#authority';
import { form, isAssizeError, madeHere, requireForm } from '#base';
import { EffectError } from '#effects';
import type { Domain } from '#kernel';
import { type Chain, type EntryRow, type Hash, type LedgerStore, Replayer, type TrajectoryInfo } from '#ledger';
import { forgetWords } from '#memory';
import { systemClock, systemPause, systemRandom } from '#oracle';
import { type OpenPending, type PendingQuery, pendingIn } from './approve/list-pending.ts';
import type { TrajectoryContext } from './context.ts';
import {
  Beginnings,
  type Begun,
  type BranchOptions,
  type CreateOptions,
  newTrajectoryId,
  trajectoryName,
} from './create.ts';
import type { Revocation, RevocationInput } from './delegate/revoke.ts';
import { checkDomainOf, domainAmong } from './domain-registry.ts';
import { RuntimeError } from './errors.ts';
import { type EffectsQuery, type EffectTransaction, readEffects } from './inspect/effects/list.ts';
import { Beliefs, requireBeliefs } from './memory/plan/plan-beliefs.ts';
import { type DerivedEntry, derivedFrom } from './memory/recall/derived.ts';
import { MemoryView } from './memory/recall/recall.ts';
import { type AssizeOptions, badOption, checkOptions, effectLogOf, effectsFor } from './options.ts';
import { Trajectory } from './trajectory.ts';
import { awaitedAnswers, type EffectAnswer } from './transactions/body/await-outcome.ts';
import type { LeftEffect } from './transactions/engine/engine.ts';
import type { Effects } from './transactions/engine/engines.ts';
import {
  checkedEffectResolution,
  type EffectResolution,
  type ResolvedEffect,
} from './transactions/engine/human-decision.ts';
import { ClosedBooks } from './transactions/settle/closed-ledgers.ts';
import type { Book } from './transactions/settle/ledger-writer.ts';
import type { Failure, FailureAnswer } from './transactions/settle/on-failure.ts';
import type { AwaitOptions } from './writer/await-options.ts';
import { copyOf, type FoldedTrajectory } from './writer/fold.ts';
import { Reading, unmade } from './writer/load.ts';
import { Notices } from './writer/notifications.ts';
import type { Base, TrajectoryParts } from './writer/ports.ts';
import { Snapshots } from './writer/snapshots/snapshots.ts';
import { partsRead } from './writer/state.ts';

export interface CloseOptions {
  /** Whether what earlier processes left at work, and was taken up here, is gone on with as far as can be. Default true. */
  readonly recover?: boolean;
}

/**
 * The runtime over one store: begins, opens and branches trajectories. Closing it does not close the store, which
 * was given.
 */
export class Assize {
  readonly #store: LedgerStore;
  readonly #context: TrajectoryContext;
  readonly #snapshots: Snapshots;
  readonly #replayer: Replayer;
  readonly #reading: Reading;
  readonly #effects: Effects | undefined;
  readonly #beginnings: Beginnings;
  readonly #strict: boolean;
  readonly #open: Map<string, Promise<Trajectory>> = new Map();
  /** Those of them that have a writer: also while what a crash left half done is completed. */
  readonly #writing: Map<string, Trajectory> = new Map();
  readonly #closedBooks: ClosedBooks;

  static {
    madeHere(Assize.prototype);
  }

  /**
   * @throws AssizeError for an anchor that is no public key; RuntimeError `bad_option`; CopyError `other_copy` for a domain, tool or
   * store that another copy of the package has made; ArgumentError `bad_argument`
   */
  constructor(options: AssizeOptions) {
    checkOptions(options);
    const verifier = createWritVerifier({ anchors: options.anchors });
    this.#store = options.store;
    this.#snapshots = new Snapshots(options.snapshots, options.store, options.onSnapshotFailed);
    this.#replayer = new Replayer(options.store, (trajectoryId, seq) => this.#snapshots.find(trajectoryId, seq));
    this.#reading = new Reading(options.store, this.#replayer, this.#snapshots);
    const policy = options.policy === undefined ? undefined : safely(options.policy);
    this.#effects = effectsFor(options, {
      bookOf: (trajectoryId) => this.#bookOf(trajectoryId),
      answer: (failure) => this.#answer(failure),
    });
    this.#context = {
      store: options.store,
      clock: options.clock ?? systemClock,
      random: options.random ?? systemRandom,
      verifier,
      policy,
      signer: options.signer,
      approvalMs: options.approvalMs,
      replayer: this.#replayer,
      oracle: options.oracle,
      nameFor: (given) => trajectoryName(given, this.#context.random),
      domainOf: (ref) => domainAmong(options.domains, ref),
      pause: options.pause ?? systemPause,
      notices: new Notices(options),
      effects: this.#effects,
      reservedFor: (trajectoryId, committing) => this.#effects?.reserved.of(trajectoryId, committing) ?? [],
      beliefs: Beliefs.of(options.store, options.random ?? systemRandom, options.judge),
      embedder: options.embedder,
      reload: (trajectoryId, base) => this.#reload(trajectoryId, base),
      erased: (trajectoryId) => this.#forgetErased(trajectoryId),
    };
    const read = async (name: string): Promise<Chain> => (await this.#reading.read(name, unmade)).folded.chain;
    this.#closedBooks = new ClosedBooks({ ...this.#context, read });
    this.#strict = options.strict === true;
    this.#beginnings = new Beginnings(this.#context, this.#strict, (trajectoryId, entryId) =>
      this.#durable(trajectoryId, entryId),
    );
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
  pending(query: PendingQuery = {}): AsyncGenerator<OpenPending> {
    const names = async (): Promise<string[]> =>
      (await this.#store.trajectories()).map(({ trajectory_id }) => trajectory_id);
    return pendingIn(query, this.#reading, names);
  }

  /**
   * What is and was believed in a space, for reading: what is shared, or with `trajectoryId` what that one sees, which may be a branch.
   *
   * @throws RuntimeError `bad_option` where the store keeps no facts
   */
  memory(space: string, trajectoryId?: string): MemoryView {
    requireBeliefs(this.#context.beliefs);
    return new MemoryView(space, this.#context, trajectoryId);
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
    return newTrajectoryId(this.#context.random);
  }

  /**
   * Begins a trajectory with a root entry.
   *
   * @throws RuntimeError `exists`, `bad_name`, `broken_start`, `bad_writ`, `bad_option`, `domain_mismatch`; KernelError
   * `invalid_state`; ArgumentError `bad_argument`
   */
  async create<D extends Domain>(domain: D, options: CreateOptions = {}): Promise<Trajectory<D>> {
    return this.#writes(await this.#beginnings.create(domain, options)) as Trajectory<D>;
  }

  /**
   * Begins a trajectory from a commit of another one, or from its root or branch entry. It inherits the state and what was
   * revoked by then, never open approvals, writs or budgets; the source is not changed.
   *
   * @throws RuntimeError `not_found`, `exists`, `broken_start`, `domain_mismatch`, `invalid_ledger`, `bad_writ`,
   * `bad_option`; ArgumentError `bad_argument`
   */
  async branch(sourceTrajectoryId: string, sourceEntryId: Hash, options: BranchOptions): Promise<Trajectory> {
    return this.#writes(await this.#beginnings.branch(sourceTrajectoryId, sourceEntryId, options));
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
    const { folded, erasures, made: parts } = await this.#reading.read(trajectoryId, this.#partsOf);
    this.#snapshots.leave(folded, erasures);
    const trajectory = new Trajectory(trajectoryId, parts, this.#context, (child) => this.open(child));
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
    if (opened === undefined) return;
    this.#snapshots.later(trajectoryId, async () => {
      const trajectory = await opened.catch(() => undefined);
      if (trajectory === undefined || !this.#snapshots.isDue(trajectoryId, trajectory.length)) return;
      // From the store, and not what is in memory: that may be ahead of the disk, and knows more than the entries say.
      const { folded, erasures } = await this.#reading.read(trajectoryId, this.#partsOf);
      this.#snapshots.leave(folded, erasures);
    });
  }

  /**
   * Has transactions stop that are not committed, which undoes them, and waits for that, for the calls that are in flight, and for what was
   * committed: at most for `holdMs`. Lets go of all that is open, and waits for the snapshots that are being left. The store may be closed
   * after that.
   *
   * With `recover: false` nothing more is taken up of what earlier processes left at work, and what is under way of that, or of what was
   * approved here, is gone on with only until its next call: the rest stays for whoever is next, as after a crash. Who waits for what was
   * left, or would decide about it, is told `closed`.
   *
   * @throws ArgumentError `bad_argument`
   */
  async close(options: CloseOptions = {}): Promise<void> {
    requireForm(CLOSE_OPTIONS, options, 'options');
    // What became of effects is told to trajectories that are open.
    await this.#effects?.close(options.recover);
    for (const trajectoryId of [...this.#open.keys()]) this.release(trajectoryId);
    await this.#snapshots.settled();
    forgetWords();
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
   * do, as long as none has to be called), `closed` when this runtime is closed before it is begun; ArgumentError `bad_argument`; the
   * signal's reason
   */
  async resolveEffect(resolution: EffectResolution, signal?: AbortSignal): Promise<ResolvedEffect> {
    const checked = checkedEffectResolution(resolution);
    if (this.#effects === undefined) throw badOption('there are no tools; give some');
    const held = await this.#effects.held(signal);
    await held.recovered(checked.epoch);
    try {
      return await held.resolve(checked);
    } catch (error) {
      if (error instanceof EffectError && error.code === 'tenure_lost') await this.#effects.beginAnew(held, error);
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
    const { clock, pause } = this.#context;
    const told = async (): Promise<void> => this.#effects?.told();
    return awaitedAnswers(commitId, options, { store: effectLogOf(this.#store), clock, pause, told });
  }

  /** No domain is needed to tell of effects: a trajectory that is not open here is read for it, and let go. */
  #bookOf(trajectoryId: string): Book {
    // Not waited for: what completes an opening may wait for what is told here.
    const writing = this.#writing.get(trajectoryId);
    if (writing !== undefined) return Trajectory.bookOf(writing);
    return this.#closedBooks.of(trajectoryId);
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

  /** From now on this runtime writes what has begun. */
  #writes({ trajectoryId, parts }: Begun): Trajectory {
    const trajectory = new Trajectory(trajectoryId, parts, this.#context, (child) => this.open(child));
    this.#open.set(trajectoryId, Promise.resolve(trajectory));
    this.#writing.set(trajectoryId, trajectory);
    return trajectory;
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
  readonly #partsOf = (folded: FoldedTrajectory): TrajectoryParts =>
    partsRead(folded, this.#context.domainOf(folded.domain), this.#strict);
}

const FROM_ONE = form.of('a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) > 0);

const BOOLEAN = form.of('true or false', (value) => typeof value === 'boolean');

const CLOSE_OPTIONS = form.options<CloseOptions>({ recover: form.optional(BOOLEAN) });

const EFFECTS_QUERY = form.options<EffectsQuery>({
  trajectoryId: form.optional(form.text),
  epoch: form.optional(FROM_ONE),
  all: form.optional(BOOLEAN),
  limit: form.optional(FROM_ONE),
  before: form.optional(FROM_ONE),
});

function trajectoryOf(given: RevocationInput['writ']): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  return parseWrit('writ' in given ? given.writ : given).trajectory;
}
