import type { Reservation } from '#authority';
import { DEFAULT_LIMITS, instantToMillis, maxInstant } from '#canon';
import type { Authority, Change } from '#kernel';
import { type Chain, type EntryRow, entryRow, type Hash, type Instant, type LedgerStore, type Payload } from '#ledger';
import type { Clock } from '#oracle';
import { authorityFor } from '../authority/check.ts';
import type { WritChain } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import type { Place } from '../records/entry-payloads.ts';
import { inOnePiece } from '../records/entry-size.ts';
import { rulingFrom } from '../records/ruling.ts';
import { Company } from './contention.ts';
import type { TrajectoryParts, TrajectoryWriterContext } from './ports.ts';
import { type Prepared, type Recorded, TRIES_MAX } from './prepared.ts';
import { AcceptedLog } from './recent-commits.ts';
import { writtenAfterAll } from './resolve-unknown-commit.ts';
import { Wakers } from './signal.ts';
import { refused } from './store-refusals.ts';
import { type News, Subscriptions } from './subscriptions.ts';

const NOTHING = (): void => undefined;
/** When whoever waits for it goes on, what was ruled on in one go is over. */
const RULED: Promise<void> = Promise.resolve();
/** How far the ledger may be ahead of the clock. */
const CLOCK_BEHIND_MS_MAX = 300_000;

/**
 * The one writer of a trajectory in this process: the chain and the world in memory, which move at once, and the disk, which
 * is waited for. When the store says that another writer was faster, everything that was not yet durable is discarded and
 * what is new is read; who was writing prepares again on what there is.
 */
export class Writer {
  readonly id: string;
  readonly context: TrajectoryWriterContext;
  readonly subscriptions: Subscriptions = new Subscriptions();
  parts: TrajectoryParts;
  /** Memory is ahead of the disk: it must be read anew before anything else is judged. */
  stale: boolean = false;
  /** Commits that memory accepts, for who rests on what is unchanged. */
  readonly log: AcceptedLog = new AcceptedLog();
  /** Counts reloads: an answer for an older life of the trajectory must not start another one. */
  #life: number = 0;
  readonly #company: Company;
  #loading: Promise<void> | undefined;
  /** What was sent to the store last. */
  #sent: Promise<unknown> | undefined;
  #alone: Promise<unknown> | undefined;
  #isRuling: boolean = false;
  /** Woken when something that waited may have been decided: here, or by others of whom was read. */
  readonly decided: Wakers = new Wakers();

  constructor(id: string, parts: TrajectoryParts, context: TrajectoryWriterContext) {
    this.id = id;
    this.parts = parts;
    this.context = context;
    this.#company = new Company(context.store, id, context.pause);
  }

  // ── from here to the append nothing awaits ──

  /** max(clock, head's time) (decisions §1.4). @throws RuntimeError `clock_behind` */
  now(): Instant {
    return timeOn(this.parts.chain, this.context.clock);
  }

  place(at: Instant): Place {
    const { chain } = this.parts;
    return { trajectory_id: this.id, seq: chain.seq, parent: chain.head, at };
  }

  /** Makes an entry that rules. @throws as `append` */
  enter(payload: Payload): Recorded {
    const row = this.append(payload);
    return { row, ruling: rulingFrom(row, payload) };
  }

  /** Makes the entry and moves the head in memory. @throws as `make`; LedgerFault. Nothing is changed then */
  append(payload: Payload): EntryRow {
    const row = this.make(payload);
    this.parts.chain.accept({ ...row, payload });
    return row;
  }

  /** @throws CanonError for a payload that is too large */
  make(payload: Payload): EntryRow {
    return inOnePiece('The entry', DEFAULT_LIMITS, () => entryRow(payload, this.context.signer));
  }

  /** Only an entry that can be written down is kept: an over-large payload is an error and changes nothing. */
  enterOrUndo(judged: { undo(): void }, payload: () => Payload): Recorded {
    try {
      return this.enter(payload());
    } catch (error) {
      judged.undo();
      throw error;
    }
  }

  /** `committing`: the epoch of a transaction of tools that it is asked for by its commit. */
  authority(
    writ: WritChain,
    principal: string,
    at: Instant,
    { approving = false, committing }: { readonly approving?: boolean; readonly committing?: number | undefined } = {},
  ): Authority {
    const { verifier, policy } = this.context;
    const use = { writ, principal, trajectoryId: this.id, at, approving };
    return authorityFor(use, this.parts.writs, verifier, policy, this.reserved(committing));
  }

  /** What of budgets is kept for undoing effects that are at work in this process. */
  reserved(committing?: number): readonly Reservation[] {
    return this.context.reservedFor(this.id, committing);
  }

  /** Notes what a commit changed that memory has now; for subscribers, when it is durable. */
  accepted({ id }: EntryRow, changes: readonly Pick<Change, 'keys'>[]): News {
    const paths = changes.map(({ keys }) => keys);
    this.log.add({ id, paths });
    return this.subscriptions.newsOf(paths);
  }

  // ── the append is queued; from here the disk is waited for ──

  /** Answers when the store has it; undefined when another writer was faster and all must be prepared again. */
  async written<Answer>(prepared: Prepared<Answer>): Promise<Answer | undefined> {
    const { rows, blobs, erasing, effects, facts, asked, answer } = prepared;
    const life = this.#life;
    let result: Awaited<ReturnType<LedgerStore['commit']>>;
    this.#company.sent();
    try {
      const batch = {
        entries: rows,
        blobs,
        ...erasing,
        ...(effects && { effects }),
        ...(facts && { facts }),
        ...(asked && { repeats: asked.repeats }),
      };
      const sent = this.context.store.commit(batch);
      this.#sent = sent;
      result = await sent;
    } catch (error) {
      // Nothing was queued; what is in memory is ahead of the disk.
      this.context.beliefs?.settled(facts ?? [], false);
      this.#discard(life);
      await this.reread();
      throw error;
    } finally {
      this.#company.answered();
    }
    // Who has read a partition while something of it was erased has read what is gone now.
    this.context.beliefs?.settled(facts ?? [], result.status === 'committed' && erasing === undefined);
    if (result.status === 'outdated' && asked !== undefined) this.context.beliefs?.unasked(asked.partitions);
    if (result.status === 'committed') {
      this.#company.won();
      if (erasing !== undefined) await this.context.erased(this.id);
      this.#isDurable(prepared);
      return answer;
    }
    if (result.status === 'conflict' && life === this.#life) this.#company.lost();
    this.#discard(life);
    if (result.status === 'fenced' || result.status === 'taken') {
      await this.reread();
      throw refused(result);
    }
    return result.status === 'unknown' ? this.#settleUnknown(prepared, result.cause) : undefined;
  }

  /** Tells everybody whom it concerns. */
  #isDurable({ rows: [row], news, resolves }: Prepared<unknown>): void {
    this.subscriptions.publish(news);
    this.context.notices.tell(row, resolves);
    if (resolves !== undefined || this.parts.chain.answered !== undefined) this.decided.wake();
  }

  /** When the store has answered all that was sent to it; what it answered is for those who sent it. */
  async settled(): Promise<void> {
    await this.#sent?.then(NOTHING, NOTHING);
  }

  /** An entry of the store. Only where it isn't there yet is the store waited for: a commit that is held up holds up no older entry. */
  async durable(entryId: Hash): Promise<EntryRow | undefined> {
    const { store } = this.context;
    const row = await store.resolve(entryId);
    if (row !== undefined) return row;
    await this.settled();
    return store.resolve(entryId);
  }

  /** Something that nothing is proposed beside, one after the other. */
  async alone<T>(step: () => Promise<T>): Promise<T> {
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
   * What is ruled on in one go. Host code that is asked for it, as a rule or a policy is, may propose here: that waits (`busy`), or it would be
   * ruled on in the middle of this, on a state that is half changed.
   */
  ruling<T>(rule: () => T): T {
    this.#isRuling = true;
    try {
      return rule();
    } finally {
      this.#isRuling = false;
    }
  }

  /** What has to be waited for before anything is proposed. */
  get busy(): Promise<unknown> | undefined {
    return this.#alone ?? (this.#isRuling ? RULED : undefined);
  }

  async #settleUnknown<Answer>(prepared: Prepared<Answer>, cause: unknown): Promise<Answer> {
    const [{ id, seq }] = prepared.rows;
    const says = `The store could not tell whether entry ${id} was committed; open it anew and look the id up. What it says: ${reasonOf(cause)}.`;
    try {
      await writtenAfterAll(this.context.store, id, { says, cause, evidence: { trajectory_id: this.id, seq } });
    } catch (error) {
      await this.reread();
      throw error;
    }
    if (prepared.erasing !== undefined) await this.context.erased(this.id);
    this.#isDurable(prepared);
    return prepared.answer;
  }

  /** Another number once memory was discarded: commits that were noted may be gone, and others' be in what is read anew. */
  get life(): number {
    return this.#life;
  }

  /**
   * Whether another writer went on without this one knowing, or something that is on its way to the disk was lost on it; memory is
   * then discarded. For answers that append nothing, because an append would be told.
   */
  async isBehind(): Promise<boolean> {
    // Or an answer could rest on an entry that never comes to be.
    await this.settled();
    return this.isOvertaken();
  }

  /** As `isBehind`, for an answer that rests on no entry: what is on its way to the disk is not waited for. */
  async isOvertaken(): Promise<boolean> {
    const there = await this.context.store.head(this.id);
    const { head, seq } = this.parts.chain;
    const behind = there !== undefined && (there.seq >= seq || (there.seq === seq - 1 && there.id !== head));
    if (behind) this.#discard(this.#life);
    return this.stale;
  }

  /** Whether what is judged on memory would most likely be in vain: it is known to be wrong, or others write too. */
  get isOld(): boolean {
    return this.stale || this.#company.isTheirTurn;
  }

  /** It was opened, and what a crash had left half done is completed. */
  opened(): void {
    this.#company.opened();
  }

  /** Before something new is judged on old memory. @throws as `ready` */
  async freshen(): Promise<void> {
    const life = this.#life;
    await this.settled();
    this.#discard(life);
    await this.ready();
  }

  /** Reads the trajectory anew, once for all who wait. @throws what the store or replay throws; then still stale */
  async ready(): Promise<void> {
    while (this.stale) {
      this.#loading ??= this.#load().then(
        (parts) => {
          const isNew = parts.chain.head !== this.parts.chain.head;
          this.parts = parts;
          this.stale = false;
          this.#loading = undefined;
          if (isNew) this.subscriptions.publish(this.subscriptions.allNews());
          this.decided.wake();
        },
        (error) => {
          this.#loading = undefined;
          throw error;
        },
      );
      await this.#loading;
    }
  }

  async #load(): Promise<TrajectoryParts> {
    const { base, chain } = this.parts;
    // Reading on changes it: where that fails, for whatever reason, it is half of one thing and half of another.
    this.parts = { ...this.parts, base: undefined };
    await this.#company.letIn();
    const parts = await this.context.reload(this.id, base);
    this.#company.read(parts.chain.seq > chain.seq);
    return parts;
  }

  /** Forgets all that is in memory, and reads it anew. */
  async forget(): Promise<void> {
    await this.settled();
    this.#discard(this.#life);
    this.parts = { ...this.parts, base: undefined };
    await this.reread();
  }

  /** So that nobody is shown what was discarded. Where it fails, the next who writes tries again and hears why. */
  reread(): Promise<void> {
    return this.ready().catch(() => undefined);
  }

  /** Gives up: another writer was always faster. */
  async lost(): Promise<RuntimeError> {
    await this.reread();
    return new RuntimeError(
      'conflict',
      `Others were faster ${TRIES_MAX} times, at ${this.id} or at what it reads; try again.`,
      {
        retryable: true,
      },
    );
  }

  /** Forgets what is not durable. */
  #discard(life: number): void {
    if (life !== this.#life) return;
    this.#life++;
    this.stale = true;
  }
}

/** max(clock, head's time) (decisions §1.4). @throws RuntimeError `clock_behind` */
export function timeOn({ at }: Pick<Chain, 'at'>, clock: Clock): Instant {
  const now = clock.now();
  if (now >= at) return now;
  const behindMs = instantToMillis(at) - instantToMillis(now);
  if (behindMs > CLOCK_BEHIND_MS_MAX) {
    throw new RuntimeError(
      'clock_behind',
      `The clock says ${now}, but the ledger's last entry is of ${at}; set the clock right.`,
      {
        evidence: { now, at },
      },
    );
  }
  return maxInstant(now, at);
}

function reasonOf(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
}
