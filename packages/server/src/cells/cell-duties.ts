import { type Cell, explainedHalt, reportCheckpoint, tenantOf } from '@assize/cells/internal';
import { isAssizeError } from 'assize/internal/base';
import type { ResolvedConfig } from 'assize/internal/config';
import type { Metrics } from '../log/metrics.ts';
import { Recurring } from '../recurring.ts';
import { CellOrders, type CellOrdersOptions } from './cell-orders.ts';

/** The time between two checkpoints of a cell in the root log. */
const REPORT_MS = 10_000;
/** The principal that places the tenants of configured worlds. */
const SERVER = 'assize:server';

/** The work of a server for its cell: orders of the root log, checkpoints, new tenants. */
export class CellDuties {
  readonly #cell: Cell;
  readonly #orders: CellOrders;
  readonly #onFailure: (error: unknown) => void;
  #reporting: Recurring | undefined;

  constructor(options: CellOrdersOptions) {
    this.#cell = options.cell;
    this.#onFailure = options.onFailure;
    this.#orders = new CellOrders(options);
  }

  /**
   * Applies the orders, and compares the log with its last checkpoint, before the cell serves.
   *
   * @throws CellsError `cell_diverged`; the errors of the stores
   */
  async start(): Promise<void> {
    const { watch, log, own, place } = this.#cell;
    const served = log.servedCell(place.name, own);
    watch.reportTo(this.#onFailure);
    watch.onOrders(async (directory) => {
      await this.#orders.apply(directory);
      await served.answer();
    });
    await watch.readAgain();
    await reportCheckpoint(this.#cell);
    this.#reporting = new Recurring(REPORT_MS, () => reportCheckpoint(this.#cell), this.#onFailure);
  }

  /** The worlds whose tenants live in this cell. A tenant without a cell gets one. */
  async worldsHere(worlds: ResolvedConfig['worlds']): Promise<ResolvedConfig['worlds']> {
    const { watch } = this.#cell;
    for (const id of Object.keys(worlds)) await this.place(tenantOf(id));
    return Object.fromEntries(Object.entries(worlds).filter(([id]) => watch.isHere(tenantOf(id))));
  }

  /** Places a tenant that no cell has, by its name. */
  async place(tenant: string): Promise<void> {
    const { log, watch } = this.#cell;
    if (watch.placeOf(tenant) !== undefined) return;
    try {
      await log.order('place', { tenant, cell: watch.proposedFor(tenant).name }, SERVER);
    } catch (error) {
      // Another server may have placed it.
      if (!isAssizeError(error, 'order_refused')) throw error;
    }
    await watch.readAgain();
  }

  /** @throws CellsError `principal_revoked`, `root_silent` */
  readonly requireStanding = (principal: string): void => this.#cell.watch.requireStanding(principal);

  /** @throws CellsError if the cell accepts no entries at all; same as `RootWatch.requireOpen` */
  requireReady(): void {
    this.#cell.watch.requireOpen();
  }

  /** An error in the words of the root log, if an order of it is the cause. */
  explained(error: unknown): unknown {
    return explainedHalt(error, this.#cell.watch);
  }

  measure(metrics: Metrics): void {
    const { watch } = this.#cell;
    metrics.gauge({
      name: 'assize_root_silence_seconds',
      help: 'Seconds since the cell heard from the root log with every order applied.',
      read: () => watch.silentSeconds ?? Number.MAX_SAFE_INTEGER,
    });
    metrics.gauge({
      name: 'assize_cell_diverged',
      help: '1 if the log of the cell does not continue its checkpoint in the root log.',
      read: () => (watch.isDiverged ? 1 : 0),
    });
  }

  async stop(): Promise<void> {
    await this.#reporting?.stop();
    await this.#cell.watch.endOrders();
    await this.#orders.close();
  }
}
