import type { Instant } from 'assize/internal/canon';

/** A run that a worker could advance now. */
export interface QueuedRun {
  readonly trajectoryId: string;
  readonly tenant: string;
  /** The time since which the run is queued. */
  readonly since: Instant;
}

/** The load of a worker. */
export interface WorkerLoad {
  /** The number of runs in progress, by tenant. */
  readonly carrying: ReadonlyMap<string, number>;
  /** The maximum number of runs of one tenant in progress. */
  readonly perTenant: number;
  /** The number of runs that may begin now. */
  readonly slots: number;
  /** The tenant of the run that began last. */
  readonly last: string | undefined;
}

/**
 * The runs that begin now, in order. The tenants take turns, by name, after the tenant that began
 * last. Each tenant's runs begin in the order in which they were queued. So a tenant with a
 * thousand queued runs delays each other tenant by one run.
 */
export function nextRuns(queued: readonly QueuedRun[], load: WorkerLoad): QueuedRun[] {
  const waiting = byTenant(queued);
  const carrying = new Map(load.carrying);
  const order = afterLast([...waiting.keys()].sort(), load.last);
  const begun: QueuedRun[] = [];
  for (let isIdle = false; !isIdle && begun.length < load.slots; ) {
    isIdle = true;
    for (const tenant of order) {
      if (begun.length >= load.slots) break;
      const count = carrying.get(tenant) ?? 0;
      const next = count < load.perTenant ? waiting.get(tenant)?.shift() : undefined;
      if (next === undefined) continue;
      carrying.set(tenant, count + 1);
      begun.push(next);
      isIdle = false;
    }
  }
  return begun;
}

function byTenant(queued: readonly QueuedRun[]): Map<string, QueuedRun[]> {
  const sorted = [...queued].sort(
    (a, b) => compare(a.since, b.since) || compare(a.trajectoryId, b.trajectoryId),
  );
  return Map.groupBy(sorted, ({ tenant }) => tenant);
}

/** The names in order, from the one after `last`. */
function afterLast(names: readonly string[], last: string | undefined): string[] {
  if (last === undefined) return [...names];
  const from = names.findIndex((name) => name > last);
  return from === -1 ? [...names] : [...names.slice(from), ...names.slice(0, from)];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
