import { Recurring } from '@assize/server/internal/background/recurring.ts';
import { isAssizeError } from 'assize/internal/base';
import type { Deployment, DeploymentHost } from 'assize/internal/config';
import { explainedHalt } from '../explained-halt.ts';
import type { Cell } from '../open-cell.ts';
import { reportCheckpoint } from '../report-checkpoint.ts';
import { requireSameTenant, tenantOf } from '../tenant-of.ts';
import { CellOrders } from './cell-orders.ts';
import { gracedReads } from './graced-reads.ts';

/** The time between two checkpoints of a cell in the root log. */
const REPORT_MS = 10_000;
/** A token that was read counts for this time while the root store is away. */
const TOKEN_GRACE_MS = 3_600_000;
/** The principal that places the tenants of configured worlds. */
const SERVER = 'assize:server';

/** One cell, as its server sees it: orders of the root log, checkpoints, new tenants. */
export function cellDeployment(cell: Cell): Deployment {
  const { watch, log, own, place, file } = cell;
  let orders: CellOrders | undefined;
  let reporting: Recurring | undefined;
  return {
    peers: file.cells,
    side: gracedReads(log.side, {
      graceMs: TOKEN_GRACE_MS,
      requireHeard: () => watch.requireHeard(),
    }),
    gauges: [
      {
        name: 'assize_root_silence_seconds',
        help: 'Seconds since the cell heard from the root log with every order applied.',
        read: () => watch.silentSeconds ?? Number.MAX_SAFE_INTEGER,
      },
      {
        name: 'assize_cell_diverged',
        help: '1 if the log of the cell does not continue its checkpoint in the root log.',
        read: () => (watch.isDiverged ? 1 : 0),
      },
    ],
    // Applies the orders, and compares the log with its last checkpoint, before the cell serves.
    start: async (host: DeploymentHost) => {
      const served = log.servedCell(place.name, own);
      const applied = new CellOrders(cell, host);
      orders = applied;
      watch.reportTo(host.onFailure);
      watch.onOrders(async (directory) => {
        await applied.apply(directory);
        await served.answer();
      });
      await watch.readAgain();
      await reportCheckpoint(cell);
      reporting = new Recurring(REPORT_MS, () => reportCheckpoint(cell), host.onFailure);
    },
    stop: async () => {
      await reporting?.stop();
      await watch.endOrders();
      await orders?.close();
    },
    place: (trajectoryId) => placeTenant(cell, tenantOf(trajectoryId)),
    isHere: (trajectoryId) => watch.isHere(tenantOf(trajectoryId)),
    elsewhere: (trajectoryId) => {
      const found = watch.placeOf(tenantOf(trajectoryId));
      return found === undefined || found.name === watch.cell
        ? undefined
        : { id: found.name, url: found.url };
    },
    requireHere: (trajectoryId) => watch.requireHere(tenantOf(trajectoryId)),
    requireReady: () => watch.requireOpen(),
    requireStanding: (principal) => watch.requireStanding(principal),
    requireBeside: requireSameTenant,
    nameBeside: (source, name) => `${tenantOf(source)}:${name}`,
    stopCommand: (agent) => `assize cells revoke ${agent}`,
    explained: (error) => explainedHalt(error, watch),
  };
}

/** Places a tenant that no cell has, by its name. */
async function placeTenant({ log, watch }: Cell, tenant: string): Promise<void> {
  if (watch.placeOf(tenant) !== undefined) return;
  try {
    await log.order('place', { tenant, cell: watch.proposedFor(tenant).name }, SERVER);
  } catch (error) {
    // Another server may have placed it.
    if (!isAssizeError(error, 'wrong_state')) throw error;
  }
  await watch.readAgain();
}
