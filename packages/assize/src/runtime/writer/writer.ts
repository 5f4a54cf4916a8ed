import type { Reservation } from '#authority';
import { isAssizeError, thrownText } from '#base';
import { DEFAULT_LIMITS } from '#canon';
import type { Authority, Domain } from '#kernel';
import {
  type BatchClock,
  type EntryRow,
  entryRow,
  type Hash,
  type Instant,
  type LedgerStore,
  ownBatch,
  type Payload,
  type PendingPayload,
  signed,
} from '#ledger';
import { currentTracer } from '#traces';
import { authorityFor } from '../authority/check.ts';
import type { WritChain } from '../authority/writs.ts';
import { clockAhead, haltedError, RuntimeError } from '../errors.ts';
import type { EntryPosition, EntryTerms } from '../records/entry-payloads.ts';
import type { PayloadBlobs } from '../records/payload-blobs.ts';
import { withinEntrySize } from '../records/too-large-error.ts';
import { resolveUnknownCommit, storeRefusal } from './append-errors.ts';
import {
  type AdjudicatedChange,
  type AppliedEntry,
  applyEntry,
  type Moves,
  resolvedBy,
} from './apply.ts';
import { WriteContention } from './contention.ts';
import { Reservations } from './freeze/reservations.ts';
import { RecentCommits } from './known/recent-commits.ts';
import { WakeSignal } from './listeners/signal.ts';
import { NO_UPDATES, type SliceUpdates, Subscriptions } from './listeners/subscriptions.ts';
import { tellWait } from './listeners/tell-wait.ts';
import type { TrajectoryState, TrajectoryWriterContext } from './ports.ts';
import { COMMIT_ATTEMPTS_MAX, type PreparedCommit } from './prepared.ts';
import { requireSigner } from './require-signer.ts';

const NOTHING = (): void => undefined;
/** When a caller that awaits this continues, the current synchronous ruling has ended. */
const RULED: Promise<void> = Promise.resolve();

/** Memory at one moment: its last entry, and the seq of the next one. */
interface MemoryPlace {
  readonly parts: TrajectoryState;
  readonly head: TrajectoryState['chain']['head'];
  readonly seq: number;
}

/**
 * The only writer of a trajectory in this process. The chain and the state in memory move
 * immediately; the writer waits until the store has the entries. If the store reports that another
 * writer appended first, the writer discards everything not yet durable and reads the new entries.
 * Callers then prepare their proposals again.
 */
export class Writer {
  readonly id: string;
  readonly context: TrajectoryWriterContext;
  readonly subscriptions: Subscriptions = new Subscriptions();
  parts: TrajectoryState;
  /** The last entry that this writer knows to be durable. */
  lastDurable: { readonly id: Hash; readonly seq: number };
  /** Memory differs from the store: it must be reloaded before anything else is adjudicated. */
  stale: boolean = false;
  /** Commits that memory accepted, for proposals with preconditions. */
  readonly recentCommits: RecentCommits = new RecentCommits();
  /**
   * Counts reloads: an answer for an earlier generation of memory must not start another reload.
   */
  #generation: number = 0;
  /** The open approvals, for a domain in which they reserve what they would change. */
  readonly reservations: Reservations;
  readonly #contention: WriteContention;
  #loading: Promise<void> | undefined;
  /** The last append sent to the store. */
  #sent: Promise<unknown> | undefined;
  #alone: Promise<unknown> | undefined;
  #isRuling: boolean = false;
  /** The clock at its last reading: the time of the next entry, unless the head's time is later. */
  #reading: Instant = '';
  /** The store's time, after it refused an entry that no clock may delay. */
  #storeTime: Instant | undefined;
  /** Errors that an append threw. No other state of memory would prevent them. */
  readonly #appendErrors: WeakSet<object> = new WeakSet();
  /** Woken when a pending proposal may have been resolved, here or by another writer. */
  readonly decisionSignal: WakeSignal = new WakeSignal();

  constructor(id: string, parts: TrajectoryState, context: TrajectoryWriterContext) {
    this.id = id;
    this.parts = parts;
    this.lastDurable = { id: parts.chain.head as Hash, seq: parts.chain.seq - 1 };
    this.context = context;
    this.reservations = new Reservations(context, (read) => this.readValues(read));
    this.#contention = new WriteContention(context.store, id, context.pause);
  }

  // ── from here to the append nothing awaits ──

  /** max(clock, head's time) (docs/decisions/004-time-of-an-entry.md). */
  now(): Instant {
    this.#reading = this.context.clock.now();
    return later(this.#reading, this.parts.chain.at);
  }

  /**
   * The same for an entry that no clock may delay (`apply` marks it as `undelayed`). After the
   * store has refused the clock, the store's time replaces a later reading.
   */
  undelayedNow(): Instant {
    const reading = this.context.clock.now();
    const most = this.#storeTime ?? reading;
    this.#reading = reading < most ? reading : most;
    return later(this.#reading, this.parts.chain.at);
  }

  /** @throws RuntimeError `halted` */
  refuseIfHalted(): void {
    const { halted } = this.parts.chain;
    if (halted !== undefined) throw haltedError(this.id, halted);
  }

  /** @throws RuntimeError `wrong_signer` */
  refuseIfOtherKey(): void {
    requireSigner(this.parts.chain, this.context.signer);
  }

  nextPosition(at: Instant): EntryPosition {
    const { chain } = this.parts;
    return { trajectory_id: this.id, seq: chain.seq, parent: chain.head, at };
  }

  /** `domain`: the version that the entry puts in force. Default: the one in force. */
  entryTerms(at: Instant, kept: PayloadBlobs, domain: Domain = this.parts.domain): EntryTerms {
    return {
      place: this.nextPosition(at),
      parentCommit: this.parts.chain.lastCommit,
      domain,
      kept,
    };
  }

  /**
   * Makes an entry and moves everything in memory past it. The caller sends the batch with
   * `commit`.
   *
   * @throws the errors of `payload` and `make`; LedgerFault; AuthorityError for amounts beyond a
   * budget. The change is undone then, and memory is as in the store or is reloaded.
   */
  apply(
    payload: () => Payload,
    { change, facts, writs = [], others, undelayed }: Moves = {},
  ): AppliedEntry {
    const { head, at } = this.parts.chain;
    let made: {
      readonly row: EntryRow;
      readonly payload: Payload;
      readonly rest: readonly EntryRow[];
    };
    let waited: PendingPayload | undefined;
    try {
      made = this.#make(payload(), others);
      if (currentTracer() !== undefined) waited = this.#openOf(resolvedBy(made.payload));
      applyEntry(this.parts, { ...made.row, payload: made.payload });
    } catch (error) {
      change?.undo();
      // The chain has the entry, and the store never gets it.
      if (this.parts.chain.head !== head) this.#discard(this.#generation);
      throw error;
    }
    const { row, rest } = made;
    this.parts.writs.stored(writs);
    change?.keep();
    const resolves = resolvedBy(made.payload);
    const batch = {
      rows: [row, ...rest] as const,
      facts: facts?.accept(row.id),
      sliceUpdates: change === undefined ? NO_UPDATES : this.#notify(row, change),
      clock: clockOf(this.context, this.#reading, at),
      ...(undelayed && { undelayed }),
      ...(resolves !== undefined && { resolves }),
      ...(waited !== undefined && { waited }),
    };
    return { row, payload: made.payload, batch };
  }

  #openOf(id: Hash | undefined): PendingPayload | undefined {
    return id === undefined ? undefined : this.parts.chain.open.get(id);
  }

  #make(unsigned: Payload, others: Moves['others']) {
    this.refuseIfOtherKey();
    const payload = signed(unsigned, this.context.signer);
    const row = rowOf(payload);
    return { row, payload, rest: others?.(row) ?? [] };
  }

  /** @throws CanonError for a payload that is too large; RuntimeError `wrong_signer` */
  make(payload: Payload): EntryRow {
    this.refuseIfOtherKey();
    return rowOf(signed(payload, this.context.signer));
  }

  /** `committing`: the epoch of the tool transaction, if its commit calls this method. */
  authority(
    writ: WritChain,
    principal: string,
    at: Instant,
    {
      approving = false,
      committing,
    }: { readonly approving?: boolean; readonly committing?: number | undefined } = {},
  ): Authority {
    const { verifier, policy } = this.context;
    const use = { writ, principal, trajectoryId: this.id, at, approving };
    return authorityFor(use, this.parts.writs, verifier, policy, this.reserved(committing));
  }

  /** The budget reserved for compensations in this process. */
  reserved(committing?: number): readonly Reservation[] {
    return this.context.reservedFor(this.id, committing);
  }

  /** Notes the changes of a commit that memory now has; subscribers get them when it is durable. */
  #notify({ id }: EntryRow, { changes }: AdjudicatedChange): SliceUpdates {
    const paths = changes.map(({ keys }) => keys);
    this.recentCommits.add({ id, paths });
    return this.subscriptions.updatesOf(paths);
  }

  // ── the append is queued; from here the store is awaited ──

  /**
   * Returns the answer when the store has the entries. Returns undefined if another writer appended
   * first and everything must be prepared again.
   */
  async commit<Answer>(prepared: PreparedCommit<Answer>): Promise<Answer | undefined> {
    try {
      return await this.#commit(prepared);
    } catch (error) {
      if (typeof error === 'object' && error !== null) this.#appendErrors.add(error);
      throw error;
    }
  }

  /** Whether an append threw the error. So no state of memory explains it. */
  isAppendError(error: object): boolean {
    return this.#appendErrors.has(error);
  }

  async #commit<Answer>(prepared: PreparedCommit<Answer>): Promise<Answer | undefined> {
    const { rows, blobs, erasure, effects, facts, asked, clock, undelayed, answer } = prepared;
    const life = this.#generation;
    let result: Awaited<ReturnType<LedgerStore['commit']>>;
    this.#contention.sent();
    try {
      const batch = {
        entries: rows,
        blobs,
        ...erasure,
        ...(effects && { effects }),
        ...(facts && { facts }),
        ...(asked && { repeats: asked.repeats }),
        ...(clock && { clock }),
      };
      // The name of another trajectory, as a delegation begins one, is new to the store.
      const sent = this.context.store.commit(rows.length === 1 ? ownBatch(batch) : batch);
      this.#sent = sent;
      result = await sent;
    } catch (error) {
      // Nothing was queued; memory is ahead of the store.
      if (facts !== undefined) this.context.beliefs?.complete(facts, false);
      this.#discard(life);
      await this.tryReload();
      throw error;
    } finally {
      this.#contention.answered();
    }
    // A partition that was read while a part of it was erased contains erased data.
    if (facts !== undefined)
      this.context.beliefs?.complete(facts, result.status === 'committed' && erasure === undefined);
    if (result.status === 'outdated' && asked !== undefined)
      this.context.beliefs?.withdrawQuestions(asked.partitions);
    if (result.status === 'committed') {
      this.#contention.committed();
      if (undelayed) this.#storeTime = undefined;
      if (erasure !== undefined) await this.#forgetErased();
      this.#isDurable(prepared);
      return answer;
    }
    if (result.status === 'conflict' && life === this.#generation) this.#contention.conflicted();
    this.#discard(life);
    if (result.status === 'ahead') {
      if (undelayed) {
        this.#storeTime = result.now;
        return undefined;
      }
      await this.tryReload();
      throw clockAhead(clock as BatchClock, result.now);
    }
    if (result.status === 'fenced' || result.status === 'taken') {
      await this.tryReload();
      throw storeRefusal(result);
    }
    return result.status === 'unknown' ? this.#settleUnknown(prepared, result.cause) : undefined;
  }

  #forgetErased(): Promise<void> {
    this.reservations.forget();
    this.parts = { ...this.parts, erasures: undefined };
    return this.context.forgetErased(this.id);
  }

  /** Notifies subscribers, listeners and waiting callers. */
  #isDurable({
    rows: [row],
    sliceUpdates,
    resolves,
    waited,
    closing = [],
  }: PreparedCommit<unknown>): void {
    if (row.seq > this.lastDurable.seq) this.lastDurable = { id: row.id, seq: row.seq };
    this.subscriptions.publish(sliceUpdates, (error) =>
      this.context.notifications.failed(row, error),
    );
    this.context.onDurable?.();
    this.context.notifications.notify(row, resolves);
    for (const closed of closing) this.context.notifications.notify(closed.row, closed.resolves);
    const tracer = currentTracer();
    if (tracer !== undefined)
      for (const closed of [{ row, resolves, waited }, ...closing]) tellWait(tracer, closed);
    if (resolves !== undefined || closing.length > 0 || this.parts.chain.answered !== undefined)
      this.decisionSignal.notifyAll();
  }

  /**
   * Resolves when the store has answered all appends. The answers go to the callers that sent them.
   */
  async flushed(): Promise<void> {
    await this.#sent?.then(NOTHING, NOTHING);
  }

  /**
   * An entry of the store. Waits for the store only if the entry is not there yet, so a slow commit
   * delays no older entry.
   */
  async findDurable(entryId: Hash): Promise<EntryRow | undefined> {
    const { store } = this.context;
    const row = await store.resolve(entryId);
    if (row !== undefined) return row;
    await this.flushed();
    return store.resolve(entryId);
  }

  /**
   * Reads values of entries in memory. The store may not have the entry of a value yet. The read is
   * then repeated when the store has answered.
   */
  async readValues<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (!isAssizeError(error, 'blob_missing')) throw error;
      await this.flushed();
      return read();
    }
  }

  /** Runs steps one after the other, with no proposal in between. */
  async runExclusive<T>(step: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone;
    const done = step();
    this.#alone = done.then(NOTHING, NOTHING);
    try {
      return await done;
    } finally {
      this.#alone = undefined;
    }
  }

  /**
   * Runs one synchronous ruling. Domain code called by it, such as a rule or a policy, may propose
   * here. Such a proposal waits (`busy`), because it would otherwise be adjudicated on a
   * half-changed state.
   */
  runRuling<T>(rule: () => T): T {
    this.#isRuling = true;
    try {
      return rule();
    } finally {
      this.#isRuling = false;
    }
  }

  /** The promise to await before anything is proposed. */
  get busy(): Promise<unknown> | undefined {
    return this.#alone ?? (this.#isRuling ? RULED : undefined);
  }

  async #settleUnknown<Answer>(prepared: PreparedCommit<Answer>, cause: unknown): Promise<Answer> {
    const [{ id, seq }] = prepared.rows;
    const says = `The store did not confirm whether entry ${id} was committed: ${reasonOf(cause)}. Open the store again and look up the id.`;
    try {
      await resolveUnknownCommit(this.context.store, id, {
        says,
        cause,
        evidence: { trajectory_id: this.id, seq },
      });
    } catch (error) {
      await this.tryReload();
      throw error;
    }
    if (prepared.erasure !== undefined) await this.#forgetErased();
    this.#isDurable(prepared);
    return prepared.answer;
  }

  /**
   * The generation of memory: changes when memory is discarded. Noted commits may then be gone, and
   * a reload may include commits of other writers.
   */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Whether another writer appended without this writer knowing, or an entry in flight was lost to
   * it. Memory is then discarded. For answers that append nothing, because a refused append would
   * report it. `parts`: the memory of the answer. Another caller may have read memory again since.
   */
  async isBehind(parts: TrajectoryState = this.parts): Promise<boolean> {
    const before = this.#place();
    // Otherwise an answer could depend on an entry that never becomes durable.
    await this.flushed();
    return this.isOvertaken(parts, before);
  }

  /**
   * Same as `isBehind`, for an answer that depends on no entry: appends in flight are not awaited.
   */
  async isOvertaken(
    parts: TrajectoryState = this.parts,
    before: MemoryPlace = this.#place(),
  ): Promise<boolean> {
    const there = await this.context.store.head(this.id);
    const { chain } = this.parts;
    const isLater = there !== undefined && there.seq >= chain.seq;
    const isOther = there !== undefined && there.seq === chain.seq - 1 && there.id !== chain.head;
    const isSame = this.parts === before.parts;
    const wasOther =
      there !== undefined && isSame && there.seq === before.seq - 1 && there.id !== before.head;
    if (isLater || isOther || wasOther) this.#discard(this.#generation);
    // Memory has entries in flight that were added meanwhile. Their answers show whose entry it is.
    else if (there !== undefined && there.seq >= before.seq && there.seq < chain.seq - 1)
      await this.flushed();
    return this.stale || this.parts !== parts;
  }

  #place(): MemoryPlace {
    const { parts } = this;
    return { parts, head: parts.chain.head, seq: parts.chain.seq };
  }

  /**
   * Whether an adjudication on memory would most likely fail, because memory is stale or other
   * writers are active.
   */
  get isLikelyStale(): boolean {
    return this.stale || this.#contention.isOthersTurn;
  }

  /** The trajectory was opened, and interrupted work of a crash is complete. */
  openingCompleted(): void {
    this.#contention.opened();
  }

  /** Call before a new proposal is adjudicated on stale memory. @throws the errors of `ready` */
  async refresh(): Promise<void> {
    const life = this.#generation;
    await this.flushed();
    this.#discard(life);
    await this.ready();
  }

  /**
   * Reloads the trajectory, once for all waiting callers. @throws the errors of the store or the
   * replay; memory is then still stale
   */
  async ready(): Promise<void> {
    while (this.stale) {
      this.#loading ??= this.#load().then(
        (parts) => {
          const isNew = parts.chain.head !== this.parts.chain.head;
          this.parts = parts;
          this.stale = false;
          this.#loading = undefined;
          if (isNew)
            this.subscriptions.publish(this.subscriptions.allUpdates(), (error) =>
              this.context.notifications.failed({ trajectory_id: this.id }, error),
            );
          this.decisionSignal.notifyAll();
        },
        (error) => {
          this.#loading = undefined;
          throw error;
        },
      );
      await this.#loading;
    }
  }

  async #load(): Promise<TrajectoryState> {
    const { base, chain } = this.parts;
    // A continued read changes the base. If it fails, for any reason, the base is inconsistent and
    // unusable.
    this.parts = { ...this.parts, base: undefined };
    await this.#contention.waitForTurn();
    const parts = await this.context.reload(this.id, base);
    this.#contention.read(parts.chain.seq > chain.seq);
    return parts;
  }

  /** Evicts everything in memory and reloads it. */
  async reload(): Promise<void> {
    await this.flushed();
    this.#discard(this.#generation);
    this.parts = { ...this.parts, base: undefined };
    await this.tryReload();
  }

  /**
   * Reloads early, so that no reader sees discarded state. If it fails, the next write retries and
   * gets the error.
   */
  tryReload(): Promise<void> {
    return this.ready().catch(() => undefined);
  }

  /** Gives up because another writer always appended first. */
  async conflictError(): Promise<RuntimeError> {
    await this.tryReload();
    return new RuntimeError(
      'conflict',
      `Other writers of ${this.id}, or of the trajectories that it reads, committed first ${COMMIT_ATTEMPTS_MAX} times. Try again.`,
      {
        retryable: true,
      },
    );
  }

  /** Discards everything that is not durable. */
  #discard(life: number): void {
    if (life !== this.#generation) return;
    this.#generation++;
    this.stale = true;
  }
}

/**
 * The clock that the store checks for an entry. Undefined for an entry that does not move the
 * ledger's time, and for a runtime without a limit.
 */
export function clockOf(
  { maxClockAheadMs }: Pick<TrajectoryWriterContext, 'maxClockAheadMs'>,
  reading: Instant,
  headAt: Instant,
): BatchClock | undefined {
  return maxClockAheadMs === undefined || reading <= headAt
    ? undefined
    : { at: reading, maxAheadMs: maxClockAheadMs };
}

/** Without the check of `maxInstant`: the runtime has checked both. */
export function later(a: Instant, b: Instant): Instant {
  return a < b ? b : a;
}

function reasonOf(cause: unknown): string {
  return thrownText(cause).replace(/\.$/, '');
}

/** @throws CanonError for a payload that is too large */
function rowOf(payload: Payload): EntryRow {
  return withinEntrySize('The entry', DEFAULT_LIMITS, () => entryRow(payload));
}
