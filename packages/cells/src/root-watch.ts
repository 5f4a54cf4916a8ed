import { ownerOf } from 'assize/internal/canon';
import {
  type EntryRow,
  haltArgs,
  isEffectEntry,
  passesHalt,
  readRow,
} from 'assize/internal/ledger';
import type { AppliedOrders } from './applied-orders.ts';
import type { CellPlace, CellsFile } from './cells-file.ts';
import { type DirectoryState, EVERY_TENANT } from './directory.ts';
import { CellsError } from './errors.ts';
import type { RootLog } from './root-log.ts';
import { tenantOf } from './tenant-of.ts';

export interface RootWatchOptions {
  readonly log: Pick<RootLog, 'head' | 'read'>;
  readonly file: Pick<CellsFile, 'cells' | 'silenceMs'>;
  /** The name of the cell. */
  readonly cell: string;
  readonly applied: Pick<AppliedOrders, 'read' | 'record'>;
  /** Compares the log of the cell with its checkpoint in the first directory that is read. */
  readonly compare: (directory: DirectoryState) => Promise<CellsError | undefined>;
  /** A monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** A halt of the root log. */
export interface TenantHalt {
  readonly reason: string;
  /** The sentence that names the command of its end. */
  readonly remedy: string;
}

/** The time between two reads of the root log. */
export const ROOT_POLL_MS = 1_000;

const NOTHING = async (): Promise<void> => undefined;

/**
 * Follows the root log for one cell, and says what may be written there. A process that has not
 * heard from the root log for the configured time writes nothing: a halt or a revocation may be in
 * it. Time is measured by the monotonic clock of the process, so no other clock counts.
 */
export class RootWatch {
  readonly #options: RootWatchOptions;
  #directory: DirectoryState | undefined;
  #head: string | undefined;
  /** When the read began after which everything that it found was applied. */
  #heardAt: number | undefined;
  /** The number of orders that are applied in the cell. */
  #applied = 0;
  #diverged: CellsError | undefined;
  #isCompared = false;
  #reading: Promise<void> | undefined;
  /** Whether the last read failed: a failure that lasts is reported once. */
  #isFailing = false;
  #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #listener: (directory: DirectoryState) => Promise<void> = NOTHING;

  constructor(options: RootWatchOptions) {
    this.#options = options;
    this.#onFailure = options.onFailure;
  }

  /** The directory as it was read last. @throws CellsError `cell_behind` before the first read */
  get directory(): DirectoryState {
    if (this.#directory === undefined) throw this.#silent();
    return this.#directory;
  }

  /** Seconds since the last read after which everything was applied. Undefined: never. */
  get silentSeconds(): number | undefined {
    return this.#heardAt === undefined
      ? undefined
      : (this.#options.nowMs() - this.#heardAt) / 1_000;
  }

  /**
   * Reads the root log now and every second from then on. A root log that cannot be read is
   * reported, and keeps the cell from writing.
   */
  async start(): Promise<void> {
    await this.read();
    this.#timer = setInterval(() => void this.read(), ROOT_POLL_MS).unref();
  }

  /**
   * The work of a server that applies orders. It gets the directory at each read, and the cell
   * counts as having heard when it has ended.
   */
  onOrders(apply: (directory: DirectoryState) => Promise<void>): void {
    this.#listener = apply;
  }

  /** Ends the work of the server, and waits for the orders that it applies now. */
  async endOrders(): Promise<void> {
    this.#listener = NOTHING;
    await this.#reading;
  }

  /** Ends the reads, and waits for the one in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  /** Receives the failures from now on. */
  reportTo(onFailure: (error: unknown) => void): void {
    this.#onFailure = onFailure;
  }

  /** Reads the root log once. A failure is reported, unless the last read failed too. */
  read(): Promise<void> {
    this.#reading ??= this.#read()
      .then(
        () => {
          this.#isFailing = false;
        },
        (error: unknown) => {
          if (!this.#isFailing) this.#onFailure(error);
          this.#isFailing = true;
        },
      )
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  /** Reads the root log once more, after the read in progress. */
  async readAgain(): Promise<void> {
    await this.#reading;
    await this.read();
  }

  /** Records that a server has applied the orders, for the other processes of the cell. */
  async recordApplied(orders: number): Promise<void> {
    await this.#options.applied.record(orders);
    this.#applied = Math.max(this.#applied, orders);
  }

  get isDiverged(): boolean {
    return this.#diverged !== undefined;
  }

  /** Stops all writes: the log of the cell does not continue its checkpoint in the root log. */
  diverge(error: CellsError): CellsError {
    this.#diverged = error;
    return error;
  }

  /**
   * The cell of a tenant. Undefined if it is placed nowhere. While the tenant moves, no cell writes
   * for it, and this is the one that it leaves.
   */
  placeOf(tenant: string): CellPlace | undefined {
    const placed = this.#tenant(tenant);
    return placed && this.#place(placed.cell);
  }

  /** The cell that a tenant moves to. Undefined if it does not move. */
  moveOf(tenant: string): string | undefined {
    return this.#tenant(tenant)?.to;
  }

  /** The cell for a new tenant: by rendezvous hashing over all cells of the file. */
  proposedFor(tenant: string): CellPlace {
    return ownerOf(
      tenant,
      this.#options.file.cells.map((cell) => ({ id: cell.name, cell })),
    )!.cell;
  }

  /** Whether this cell has the tenant and no move is in progress. */
  isHere(tenant: string): boolean {
    const placed = this.#tenant(tenant);
    return placed?.cell === this.#options.cell && placed.to === undefined;
  }

  /** The name of the cell. */
  get cell(): string {
    return this.#options.cell;
  }

  /** The halt of a tenant in every cell. Undefined if it is not halted. */
  haltOf(tenant: string): TenantHalt | undefined {
    const { halted } = this.directory;
    for (const name of [EVERY_TENANT, tenant])
      if (Object.hasOwn(halted, name)) return { reason: halted[name]!, remedy: remedyFor(name) };
    return undefined;
  }

  /** @throws CellsError `principal_revoked`, `cell_behind` */
  requireStanding(principal: string): void {
    const { revoked } = this.directory;
    if (!Object.hasOwn(revoked, principal)) return;
    throw new CellsError(
      'principal_revoked',
      `${principal} was revoked in every cell: ${revoked[principal]}`,
      {
        evidence: { principal },
      },
    );
  }

  /** @throws CellsError `cell_behind` if nothing was heard from the root log for that time */
  requireHeard(): void {
    if (!this.#isHeard) throw this.#silent();
  }

  /**
   * Whether this process may write the entries.
   *
   * @throws CellsError `cell_behind`, `cell_diverged`, `tenant_halted`, and those of `requireHere`
   */
  requireWritable(entries: readonly EntryRow[]): void {
    if (this.#diverged !== undefined) throw this.#diverged;
    const { orders } = this.directory;
    if (!this.#isHeard)
      throw this.#applied < orders ? waiting(orders, this.#applied) : this.#silent();
    for (const row of entries) {
      const tenant = tenantOf(row.trajectory_id);
      // A tenant can move when its calls in progress have ended.
      if (this.#leaves(tenant) && isEffectEntry(readRow(row).payload)) continue;
      this.requireHere(tenant);
      const halt = this.haltOf(tenant);
      if (halt !== undefined && !passesOrder(row))
        throw new CellsError(
          'tenant_halted',
          `The tenant ${tenant} is halted in every cell: ${halt.reason}. ${halt.remedy}`,
          { evidence: { tenant } },
        );
    }
  }

  /**
   * Whether this process may write entries at all.
   *
   * @throws CellsError `cell_behind`, `cell_diverged`, `cell_halted`
   */
  requireOpen(): void {
    this.requireWritable([]);
    const reason = this.directory.halted[EVERY_TENANT];
    if (reason !== undefined)
      throw new CellsError(
        'cell_halted',
        `Every tenant is halted in every cell: ${reason}. ${remedyFor(EVERY_TENANT)}`,
      );
  }

  /** @throws CellsError `other_cell`, `tenant_moves`, `tenant_not_placed` */
  requireHere(tenant: string): void {
    if (this.isHere(tenant)) return;
    const placed = this.#tenant(tenant);
    if (placed === undefined)
      throw new CellsError(
        'tenant_not_placed',
        `No cell has the tenant ${tenant}. Place it: assize cells place ${tenant}`,
        { evidence: { tenant } },
      );
    if (placed.to !== undefined)
      throw new CellsError(
        'tenant_moves',
        `The tenant ${tenant} moves to the cell ${placed.to}. Try again.`,
        {
          evidence: { tenant, cell: placed.to },
          retryable: true,
        },
      );
    const { url } = this.#place(placed.cell) ?? {};
    const where = url === undefined ? '' : `, at ${url}`;
    throw new CellsError(
      'other_cell',
      `The tenant ${tenant} lives in the cell ${placed.cell}${where}. Use that cell.`,
      {
        evidence: { tenant, cell: placed.cell, ...(url !== undefined && { url }) },
      },
    );
  }

  async #read(): Promise<void> {
    const { log, nowMs } = this.#options;
    const began = nowMs();
    const head = await log.head();
    if (head !== this.#head) {
      this.#directory = await log.read();
      this.#head = head;
    }
    const directory = this.#directory as DirectoryState;
    if (!this.#isCompared) {
      const fault = await this.#options.compare(directory);
      if (fault !== undefined) this.#onFailure(this.diverge(fault));
      this.#isCompared = true;
    }
    await this.#listener(directory);
    if (this.#applied < directory.orders)
      this.#applied = Math.max(this.#applied, await this.#options.applied.read());
    if (this.#applied >= directory.orders) this.#heardAt = began;
  }

  get #isHeard(): boolean {
    const { nowMs, file } = this.#options;
    return this.#heardAt !== undefined && nowMs() - this.#heardAt <= file.silenceMs;
  }

  /** Whether this cell has the tenant until its move has ended. */
  #leaves(tenant: string): boolean {
    const placed = this.#tenant(tenant);
    return placed?.cell === this.#options.cell && placed.to !== undefined;
  }

  #tenant(tenant: string): DirectoryState['tenants'][string] | undefined {
    const { tenants } = this.directory;
    return Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
  }

  #place(name: string): CellPlace | undefined {
    return this.#options.file.cells.find((cell) => cell.name === name);
  }

  #silent(): CellsError {
    const seconds = this.#options.file.silenceMs / 1_000;
    return new CellsError(
      'cell_behind',
      `This process has not heard from the root log for ${seconds} seconds, so the cell accepts no entry. Check the root store, and try again.`,
      { evidence: { seconds }, retryable: true },
    );
  }
}

function remedyFor(name: string): string {
  return `Resume it with: assize cells resume ${name === EVERY_TENANT ? `'${name}'` : name}`;
}

/**
 * Whether a tenant that is halted by the root log takes an entry here: that of a halted trajectory,
 * except the end of the halt (an order too).
 */
function passesOrder(row: EntryRow): boolean {
  const { payload } = readRow(row);
  return passesHalt(payload) && haltArgs(payload)?.does !== 'resume';
}

function waiting(orders: number, applied: number): CellsError {
  return new CellsError(
    'cell_behind',
    `The root log has ${orders} orders, and this cell has applied ${applied}. A server of the cell applies them: start one, and try again.`,
    { evidence: { orders, applied }, retryable: true },
  );
}
