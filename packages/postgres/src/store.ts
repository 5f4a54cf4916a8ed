import { arg, markOwnPackage } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import type {
  FactReads,
  Membership,
  ParallelReader,
  RowRange,
  SharedEffectStore,
} from 'assize/internal/ledger';
import {
  type Archivable,
  type ArchiveOptions,
  type ArchiveReport,
  archiveEntries,
} from 'assize/internal/stores/archive/archive-entries.ts';
import type { ArchiveState } from 'assize/internal/stores/archive/port.ts';
import { StoreArchive } from 'assize/internal/stores/archive/store-archive.ts';
import { checkInput, TEXT } from 'assize/internal/stores/check-input.ts';
import { CheckedStore } from 'assize/internal/stores/checked-store.ts';
import { sealsOf } from 'assize/internal/stores/entry-seals.ts';
import { closedError } from 'assize/internal/stores/errors.ts';
import type { Followable, StoreEvent } from 'assize/internal/stores/follow.ts';
import { MEMBERSHIP, RETIREMENT, SNAPSHOT_READ } from 'assize/internal/stores/input.ts';
import type { NativePort } from 'assize/internal/stores/native-port.ts';
import { readInParallel } from 'assize/internal/stores/parallel-reader.ts';
import { factReads } from 'assize/internal/stores/read-snapshot.ts';
import type { Retirable, Retirement } from 'assize/internal/stores/retirement.ts';
import type { Statement } from './connection/session.ts';
import type { Connections } from './connections.ts';
import { prepareRaise } from './effects/lease.ts';
import { prepareJoin } from './effects/members.ts';
import { readonlyError, storeError } from './errors.ts';
import { Following } from './ledger/follow.ts';
import { prepareFactAnswers, prepareReads } from './reads.ts';
import { retire } from './retirement.ts';
import { prepareSelfCheck } from './self-check.ts';
import { GroupCommit } from './writer/group-commit.ts';
import { Scrubber } from './writer/scrub.ts';
import { prepareWrites } from './writer/writes.ts';

/** The clock that the commit functions compare with. */
const TIME: Statement = {
  name: 'assize time',
  text: `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
};

/**
 * A store in one schema of a PostgreSQL database: a ledger with its Merkle log, an effect log, an
 * oracle log and facts. `openPostgres` creates it. Any number of processes can open the schema,
 * also to write to one trajectory. Of concurrent appends at one position, one is committed and the
 * others are conflicts.
 *
 * Commits are written in groups and answered when the server has them on disk. Reads see all
 * commits, also of other processes.
 *
 * A lost connection is replaced. Reads and unsent writes use the next connection, a commit in
 * flight is `unknown`, and `resolve` waits until the outcome is known.
 *
 * After `close` every call throws `store_closed`. Arguments that no row can hold throw
 * `store_invalid_input`, and an unreachable server throws `store_unreachable`. `errors.ts` defines
 * the other refusals.
 */
export class PostgresStore
  extends CheckedStore
  implements SharedEffectStore, Followable, Retirable, Archivable
{
  static {
    markOwnPackage(PostgresStore.prototype);
  }

  /** The location of the store: a URL without user, password and settings. */
  readonly path: string;
  readonly readonly: boolean;
  readonly #archive: StoreArchive;
  readonly #connections: Connections;
  readonly #group: GroupCommit | undefined;
  readonly #scrubber: Scrubber | undefined;
  readonly #followings = new Set<Following>();
  readonly #selfCheck: () => Promise<string[]>;
  #closed: Promise<void> | undefined;

  /** Accepts connections that `openPostgres` has checked and set up. `close` ends them. */
  constructor(connections: Connections) {
    const { path, schema, readers, writer, scrubbing } = connections;
    const seals = sealsOf(connections.rootKeys);
    const group = writer && new GroupCommit({ ...connections, writer, seals });
    const reads = prepareReads(connections, group?.knownFacts);
    const raise = prepareRaise(schema);
    const writes =
      group &&
      prepareWrites(group, connections, {
        hold: (signal) =>
          this.#working(() => connections.tenures.acquire(() => group.run(raise), signal), signal),
        writable: () => this.#writable(),
      });
    const access: NativePort = {
      read: (step) => this.#asked('Reading', () => step(reads)),
      writes: () => {
        this.#writable();
        return writes!;
      },
    };
    const archive = new StoreArchive(access, connections.archive);
    super(access, archive, seals);
    this.#archive = archive;
    this.path = path;
    this.readonly = writer === undefined;
    this.#connections = connections;
    this.#group = group;
    this.#scrubber = group && scrubbing && new Scrubber({ ...scrubbing, path, schema, group });
    this.#selfCheck = prepareSelfCheck(readers, schema);
  }

  async joinEffects(options: {
    readonly leaseMs: number;
    readonly signal?: AbortSignal;
  }): Promise<Membership> {
    this.#writable();
    checkInput(MEMBERSHIP, options, 'options');
    const { leaseMs, signal } = options;
    const { tenures } = this.#connections;
    return this.#working(
      () => tenures.share(prepareJoin(this.#connections, leaseMs), signal),
      signal,
    );
  }

  async time(): Promise<Instant> {
    const [row] = await this.#asked('Reading', () => this.#connections.readers.run(TIME));
    return row?.[0] as Instant;
  }

  async withReadSnapshot<T>(
    read: (facts: FactReads) => Promise<T>,
    options?: { readonly byText?: boolean },
  ): Promise<T> {
    this.#checkOpen();
    checkInput(arg.code, read, 'read');
    checkInput(SNAPSHOT_READ, options, 'options');
    const { readers } = this.#connections;
    const asked = <A>(step: () => A | Promise<A>): Promise<A> => this.#asked('Reading', step);
    return readers.atOneMoment((asking) =>
      read(factReads(prepareFactAnswers(asking, this.#connections), asked)),
    );
  }

  async retire(retirement: Retirement): Promise<void> {
    const group = this.#writable();
    checkInput(RETIREMENT, retirement, 'retirement');
    await group.run(retire(this.#connections.schema, retirement));
  }

  async scrub(): Promise<void> {
    this.#writable();
    try {
      await this.#archive.scrub(this);
    } finally {
      await this.#scrubber?.scrub();
    }
  }

  async archiveEntries(options: ArchiveOptions): Promise<ArchiveReport> {
    return archiveEntries(this.#archive.access(this), options);
  }

  async archiveState(): Promise<ArchiveState | undefined> {
    return this.#archive.state();
  }

  async selfCheck(): Promise<string[]> {
    return [...(await this.#asked('Reading', this.#selfCheck)), ...(await this.#archive.faults())];
  }

  async acquireWriteLock(trajectoryId: string): Promise<(() => void) | undefined> {
    this.#writable();
    checkInput(TEXT, trajectoryId, 'trajectoryId');
    return this.#connections.turns.acquire(trajectoryId);
  }

  readInParallel(ranges: readonly RowRange[]): ParallelReader {
    this.#checkOpen();
    const { url, archive, rootKeys } = this.#connections;
    return readInParallel({ url, archive, rootKeys }, ranges);
  }

  /**
   * Opens a dedicated connection for each listener. If that connection is lost, the listener
   * receives `missed` after the next one is open.
   */
  async follow(listener: (news: StoreEvent) => void): Promise<() => Promise<void>> {
    const following = await this.#asked('Following', () =>
      Following.start({ ...this.#connections, listener }),
    );
    this.#followings.add(following);
    return async () => {
      this.#followings.delete(following);
      await following.stop();
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#connections.tenures.refuse(closedError(this.path));
    await this.#scrubber?.idle();
    await this.#group?.close();
    await this.#connections.tenures.end();
    await this.#connections.turns.close();
    for (const following of this.#followings) await following.stop();
    await this.#connections.writer?.end();
    await this.#connections.readers.end();
  }

  /** Runs the step until the signal aborts. */
  async #working<T>(step: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await step();
    } catch (error) {
      throw signal?.aborted ? error : storeError(error, this.path, 'Working on the effects of');
    }
  }

  async #asked<T>(doing: string, step: () => T | Promise<T>): Promise<T> {
    this.#checkOpen();
    try {
      return await step();
    } catch (error) {
      throw storeError(error, this.path, doing);
    }
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw closedError(this.path);
  }

  #writable(): GroupCommit {
    this.#checkOpen();
    if (this.#group === undefined)
      throw readonlyError(this.path, 'it was opened with mode readonly');
    return this.#group;
  }
}
