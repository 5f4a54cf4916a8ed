import { isAssizeError } from 'assize/internal/base';
import type { DeploymentHost } from 'assize/internal/config';
import { HALT_ACTION, REVOKE_ACTION } from 'assize/internal/ledger';
import type { Assize } from 'assize/internal/runtime';
import type { DirectoryState } from '../directory.ts';
import { CellsError } from '../errors.ts';
import { ORDERS_PRINCIPAL } from '../explained-halt.ts';
import type { Cell } from '../open-cell.ts';
import { tenantOf } from '../tenant-of.ts';

/** Refusals that no later attempt changes: no process of this configuration writes there. */
const FINAL: readonly string[] = [
  'concluded',
  'domain_mismatch',
  'imported_trajectory',
  'invalid_ledger',
];

/**
 * Carries out the orders of the root log in one cell, as entries of its trajectories: halts,
 * resumes and revocations. Any number of servers may carry out the same order, because each looks
 * at what is in force.
 *
 * An order counts as applied when its halts and revocations are entries. Resumes follow, so that
 * the trajectories of a tenant that moved in hold up no other tenant.
 */
export class CellOrders {
  readonly #cell: Pick<Cell, 'own' | 'watch'>;
  readonly #host: Omit<DeploymentHost, 'domains'>;
  /** The runtime over the store itself: the orders also hold for tenants that have left. */
  readonly #assize: Assize;
  /** The directory whose orders were carried out by this process. */
  #done: DirectoryState | undefined;
  /** Trajectories whose halts may be over. */
  readonly #waiting: Set<string> = new Set();
  #resuming: Promise<void> | undefined;
  /** The work in progress: an order, or one resume. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(cell: Pick<Cell, 'own' | 'watch'>, host: Omit<DeploymentHost, 'domains'>) {
    this.#cell = cell;
    this.#host = host;
    this.#assize = host.runtimeOver(cell.own);
  }

  /** Carries out the halts and revocations of a directory. @throws the errors of the store */
  async apply(directory: DirectoryState): Promise<void> {
    if (this.#done?.orders !== directory.orders) await this.#inTurn(() => this.#apply(directory));
    this.#resuming ??= this.#resumeWaiting()
      .catch(this.#host.onFailure)
      .finally(() => {
        this.#resuming = undefined;
      });
  }

  /** Resolves when no resume is in progress. */
  async resumed(): Promise<void> {
    await this.#resuming;
  }

  /** Ends the runtime. The store stays open. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#resuming;
    await this.#assize.close({ recover: false });
  }

  async #apply(directory: DirectoryState): Promise<void> {
    const { own, watch } = this.#cell;
    const names = (await own.trajectories()).map(({ trajectory_id }) => trajectory_id);
    // At the start of the process, trajectories of resumed tenants may still be halted.
    const review = this.#done === undefined ? await own.trajectoriesToReview?.() : undefined;
    const halted = new Set(review ?? (this.#done === undefined ? names : []));
    for (const id of names) {
      const reason = this.#stopOf(directory, id);
      const wasStopped =
        halted.has(id) || (this.#done !== undefined && this.#stopOf(this.#done, id) !== undefined);
      if (reason !== undefined) await this.#attempt(id, () => this.#halt(id, reason));
      else if (wasStopped) this.#waiting.add(id);
    }
    for (const [principal, reason] of Object.entries(directory.revoked))
      await this.#revoke(
        principal,
        reason,
        (id) => this.#isHere(directory, id) && !this.#wasRevoked(principal, id),
      );
    await watch.recordApplied(directory.orders);
    this.#done = directory;
  }

  /** A failure leaves the rest for the next read of the root log. */
  async #resumeWaiting(): Promise<void> {
    for (const id of this.#waiting) {
      if (this.#isClosed) return;
      await this.#inTurn(async () => {
        if (this.#stopOf(this.#done!, id) === undefined)
          await this.#attempt(id, () => this.#resume(id));
        this.#waiting.delete(id);
      });
    }
  }

  /** Between a look at the orders and its entry, this process carries out no other order. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** The reason why a trajectory takes no entries here. Undefined if it does. */
  #stopOf({ halted, tenants }: DirectoryState, trajectoryId: string): string | undefined {
    const { cell } = this.#cell.watch;
    const tenant = tenantOf(trajectoryId);
    const placed = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
    if (placed?.to !== undefined) return `the tenant moves from ${placed.cell} to ${placed.to}`;
    if (placed !== undefined && placed.cell !== cell) return `the tenant lives in ${placed.cell}`;
    return halted['*'] ?? (Object.hasOwn(halted, tenant) ? halted[tenant] : undefined);
  }

  async #halt(id: string, reason: string): Promise<void> {
    const trajectory = await this.#assize.open(id);
    if (trajectory.halted !== undefined) return;
    const { writFor, clock } = this.#host;
    const writ = writFor(ORDERS_PRINCIPAL, HALT_ACTION, id, clock.now());
    requireDone(
      id,
      (await trajectory.halt({ reason: `root log: ${reason}`, writ, principal: ORDERS_PRINCIPAL }))
        .ruling,
    );
  }

  /** Ends a halt of the root log. That of a person stands. */
  async #resume(id: string): Promise<void> {
    const trajectory = await this.#assize.open(id);
    if (trajectory.halted?.principal !== ORDERS_PRINCIPAL) return;
    const { writFor, clock } = this.#host;
    const writ = writFor(ORDERS_PRINCIPAL, HALT_ACTION, id, clock.now());
    const reason = 'root log: the order has ended';
    try {
      requireDone(
        id,
        (await trajectory.resume({ reason, writ, principal: ORDERS_PRINCIPAL })).ruling,
      );
    } catch (error) {
      // Another server was faster.
      if (!isAssizeError(error, 'already_done')) throw error;
    }
  }

  /** Whether the tenant lives here, and does not leave. A copy that stays behind takes no entry. */
  #isHere({ tenants }: DirectoryState, trajectoryId: string): boolean {
    const tenant = tenantOf(trajectoryId);
    const placed = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
    return (
      placed === undefined || (placed.cell === this.#cell.watch.cell && placed.to === undefined)
    );
  }

  /** A trajectory that came later may have grants of a principal that was revoked before. */
  #wasRevoked(principal: string, trajectoryId: string): boolean {
    const done = this.#done;
    return (
      done !== undefined &&
      Object.hasOwn(done.revoked, principal) &&
      this.#isHere(done, trajectoryId)
    );
  }

  async #revoke(
    principal: string,
    reason: string,
    isDue: (trajectoryId: string) => boolean,
  ): Promise<void> {
    const { grants, writFor, clock } = this.#host;
    const places = await grants.placesOf(principal);
    for (const id of places.filter(isDue))
      await this.#attempt(id, async () => {
        const trajectory = await this.#assize.open(id);
        const by = writFor(ORDERS_PRINCIPAL, REVOKE_ACTION, id, clock.now());
        for (const writ of await grants.wholesOf(principal, id)) {
          const input = { writ, by, reason: `root log: ${reason}`, principal: ORDERS_PRINCIPAL };
          requireDone(id, (await trajectory.writs.revoke(input)).ruling);
        }
      });
  }

  async #attempt(id: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!FINAL.some((code) => isAssizeError(error, code))) throw error;
      this.#host.onFailure(error);
    } finally {
      this.#assize.release(id);
    }
  }
}

/** @throws CellsError `bad_config` */
function requireDone(trajectoryId: string, ruling: { readonly ruling: string }): void {
  if (ruling.ruling === 'committed') return;
  throw new CellsError(
    'bad_config',
    `An order of the root log was ${ruling.ruling} in ${trajectoryId}. The cell accepts no entry until it is applied.`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}
