import { setTimeout as pause } from 'node:timers/promises';
import { exportLines, importLines } from '@assize/audit/internal/export';
import { isAssizeError } from 'assize/internal/base';
import {
  type FactStore,
  type Hash,
  integrateLog,
  Replayer,
  verifyTrajectory,
  wasImported,
} from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import { rebuildMemory } from 'assize/internal/runtime';
import { openStore, type Store } from 'assize/internal/stores';
import type { AppliedOrders } from './applied-orders.ts';
import { type CellPlace, type CellsFile, cellNamed } from './cells-file.ts';
import type { DirectoryState } from './directory.ts';
import { CellsError } from './errors.ts';
import type { RootLog } from './root-log.ts';
import { copySideRows, dropRuns } from './side-rows.ts';
import { TenantLog } from './tenant-log.ts';
import { tenantOf } from './tenant-of.ts';

/** A step of a move, for people who wait. */
export type MoveStep = 'stopping' | 'settling' | 'copying' | 'verifying' | 'remembering' | 'moved';

export interface MoveOptions {
  readonly file: CellsFile;
  readonly log: RootLog;
  readonly tenant: string;
  /** The name of the cell that the tenant moves to. */
  readonly to: string;
  readonly principal: string;
  readonly signal: AbortSignal;
  readonly onStep?: (step: MoveStep) => void;
}

export interface Move {
  readonly from: string;
  readonly trajectories: number;
  readonly entries: number;
}

const POLL_MS = 200;

/**
 * Moves a tenant to another cell, while both serve others: stop, copy, verify, flip.
 *
 * A server of each cell must answer before anything begins.
 *
 * 1. The root log records the move, and no cell accepts entries of the tenant. A server of the old
 *    cell halts its trajectories, so a process that has not heard of the move loses the race for
 *    the next entry. The time of silence passes, after which every process has heard.
 * 2. Its entries and its rows of grants and durable runs are copied, and each chain is verified in
 *    the new cell against the heads of the old one.
 * 3. The root log records the new place, and a server of the new cell ends the halts.
 *
 * A move that is interrupted at any step goes on when it is called again. `cancelMove` ends it.
 * Until the last step the old cell has everything, and it keeps its copy afterwards.
 *
 * @throws CellsError `wrong_state`, `not_found`; the errors of the stores; an AbortError whose
 * cause is the reason of the signal
 */
export async function moveTenant(options: MoveOptions): Promise<Move> {
  const { file, log, tenant, to, onStep = () => undefined } = options;
  const target = cellNamed(file, to);
  const { from, isBegun } = await sourceOf(options);
  return withStores(from, target, options, async (source, into) => {
    if (!isBegun) {
      await requireServed(from, source, options);
      await requireServed(target, into, options);
      await log.order('beginMove', { tenant, to }, options.principal);
    }
    const { orders } = await log.read();
    onStep('stopping');
    const began = performance.now();
    await applied(log.appliedIn(from.name, source), orders, options.signal);
    await pause(Math.max(0, file.silenceMs - (performance.now() - began)), undefined, options);
    onStep('settling');
    await settled(source, options);
    onStep('copying');
    const moved = await copied(source, into, tenant);
    onStep('verifying');
    const heads = await sameHeads(source, into, tenant);
    if (moved.beliefs > 0) {
      onStep('remembering');
      await rebuildMemory(into as Store & FactStore, { keep: true });
    }
    await adoptTools(into, heads);
    await copySideRows(source, into, [...heads.keys()]);
    await log.order('endMove', { tenant, cell: to }, options.principal);
    await dropRuns(source, [...heads.keys()]);
    onStep('moved');
    return { from: from.name, trajectories: heads.size, entries: moved.entries };
  });
}

/**
 * Ends a move that has not reached its last step. The tenant stays in its cell, whose servers end
 * the halts.
 *
 * @throws CellsError `wrong_state`
 */
export async function cancelMove({
  log,
  tenant,
  principal,
}: Pick<MoveOptions, 'log' | 'tenant' | 'principal'>): Promise<string> {
  const placed = (await log.read()).tenants[tenant];
  const cell = placed?.cell ?? '';
  await log.order('endMove', { tenant, cell }, principal);
  return cell;
}

/** The cell that the tenant leaves, and whether an earlier call has started the move. */
async function sourceOf(
  options: MoveOptions,
): Promise<{ readonly from: CellPlace; readonly isBegun: boolean }> {
  const { file, log, tenant, to, principal } = options;
  const placed = placeIn(await log.read(), tenant);
  const canMove = placed !== undefined && (placed.to ?? to) === to && placed.cell !== to;
  // The root log refuses with the reason.
  if (!canMove) await log.order('beginMove', { tenant, to }, principal);
  const now = placeIn(await log.read(), tenant);
  return { from: cellNamed(file, now?.cell), isBegun: now?.to === to };
}

/**
 * Requires a server that applies orders, before anything begins.
 *
 * @throws CellsError `wrong_state`
 */
async function requireServed(
  { name }: CellPlace,
  store: Store,
  { log, tenant, signal }: MoveOptions,
): Promise<void> {
  if (await log.servedCell(name, store).ask(SERVER_MS, signal)) return;
  throw new CellsError(
    'wrong_state',
    `No server of the cell ${name} answers, so ${tenant} cannot move. Nothing was changed. Start one: assize serve --store 'cells:FILE?cell=${name}'`,
    { evidence: { tenant, cell: name } },
  );
}

/** A server answers within two reads of the root log, unless it works on orders. */
const SERVER_MS = 5_000;

function placeIn(
  { tenants }: DirectoryState,
  tenant: string,
): DirectoryState['tenants'][string] | undefined {
  return Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
}

async function withStores<T>(
  from: CellPlace,
  to: CellPlace,
  options: Pick<MoveOptions, 'tenant' | 'log'>,
  work: (from: Store, to: Store) => Promise<T>,
): Promise<T> {
  const source = await storeOf(from, options);
  try {
    const target = await storeOf(to, options);
    try {
      return await work(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function storeOf(
  { name, store, archive }: CellPlace,
  { tenant, log }: Pick<MoveOptions, 'tenant' | 'log'>,
): Promise<Store> {
  try {
    return await openStore(store, { mode: 'existing', archive, ...log.sealKeys });
  } catch (cause) {
    if (!isAssizeError(cause, 'store_not_found')) throw cause;
    throw new CellsError(
      'wrong_state',
      `The cell ${name} has no store, so ${tenant} cannot move. Check its URL, or start a server to create the store: assize serve --store 'cells:FILE?cell=${name}'`,
      { cause, evidence: { tenant, cell: name } },
    );
  }
}

/** Waits until a server of the cell has applied the orders. */
async function applied(row: AppliedOrders, orders: number, signal: AbortSignal): Promise<void> {
  while ((await row.read()) < orders) await pause(POLL_MS, undefined, { signal });
}

/** Waits until no tool transaction of the tenant is open. One that waits for a person refuses. */
async function settled(store: Store, { tenant, signal }: MoveOptions): Promise<void> {
  for (let tries = 0; ; tries++) {
    const open: string[] = [];
    for (let after: number | undefined; ; ) {
      const page = await store.openEffects({ limit: 1_000, ...(after !== undefined && { after }) });
      for (const { trajectory_id } of page)
        if (tenantOf(trajectory_id) === tenant) open.push(trajectory_id);
      after = page.at(-1)?.epoch;
      if (page.length < 1_000) break;
    }
    if (open.length === 0) return;
    if (tries * POLL_MS >= SETTLE_MS)
      throw new CellsError(
        'wrong_state',
        `Tool transactions of ${tenant} have no end yet, in: ${[...new Set(open)].slice(0, 5).join(', ')}. Settle them (assize effects) and move again, or end the move with assize cells move --cancel.`,
        { evidence: { tenant, trajectories: [...new Set(open)] } },
      );
    await pause(POLL_MS, undefined, { signal });
  }
}

/** Calls in progress may take this long to end. */
const SETTLE_MS = 30_000;

async function copied(
  source: Store,
  into: Store,
  tenant: string,
): Promise<{ entries: number; beliefs: number }> {
  await integrateLog(source);
  const lines = exportLines(await TenantLog.of(source, tenant));
  const { entries, beliefs } = await importLines(into, textsOf(lines), {
    erase: true,
    awaitsFacts: true,
  });
  return { entries, beliefs };
}

async function* textsOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield line.slice(0, -1);
}

/**
 * The heads of the tenant's trajectories. They are the same in both cells and verify in the new
 * one.
 *
 * @throws CellsError `wrong_state`
 */
async function sameHeads(
  source: Store,
  into: Store,
  tenant: string,
): Promise<ReadonlyMap<string, Hash>> {
  const heads = new Map<string, Hash>();
  const replayer = new Replayer(into);
  for (const { trajectory_id, head } of await source.trajectories()) {
    if (tenantOf(trajectory_id) !== tenant) continue;
    const there = await into.head(trajectory_id);
    const { fault } = await verifyTrajectory(replayer, trajectory_id);
    if (fault !== undefined || there?.id !== head)
      throw new CellsError(
        'wrong_state',
        `The copy of ${trajectory_id} in the new cell ${fault === undefined ? 'lacks entries of the old one' : `does not verify: ${fault.detail}`}. The tenant has not moved; move it again.`,
        {
          evidence: {
            tenant,
            trajectory_id,
            ...(fault !== undefined && { seq: fault.seq, code: fault.code }),
          },
        },
      );
    heads.set(trajectory_id, head);
  }
  return heads;
}

/** The new cell makes the calls of the trajectories that came by import. */
async function adoptTools(into: Store, heads: ReadonlyMap<string, Hash>): Promise<void> {
  const roots: Hash[] = [];
  for (const name of heads.keys()) {
    const [first] = await into.entries(name, { limit: 1 });
    if (
      first !== undefined &&
      (await wasImported(into, first.id)) &&
      !(await into.adopted(first.id))
    )
      roots.push(first.id);
  }
  if (roots.length > 0)
    await into.adopt({ at: systemClock.now(), reason: 'moved from another cell', roots });
}
