import { expect, onTestFailed, onTestFinished } from 'vitest';
import type { MoveStep } from '#cells';
import { Auditor } from './cells-audit.ts';
import { Load } from './cells-clients.ts';
import {
  type CellsDeployment,
  type DeploymentOptions,
  OPERATOR,
  startDeployment,
} from './cells-deployment.ts';
import { AGENTS, CELL_NAMES, CELLS, type CellName, TENANTS } from './cells-orders.ts';
import type { LinkFault } from './link.ts';
import { Outside } from './outside.ts';
import { tokensIn } from './serve-process-control.ts';

export interface Faults extends Pick<DeploymentOptions, 'shared' | 'patienceMs'> {
  readonly seed: number;
  /** Answers that each tenant gets between two faults. */
  readonly calm: number;
  /** The steps of a move at which its process is killed, one after the other. */
  readonly killsMoverAt: readonly MoveStep[];
  readonly linkFaults: readonly LinkFault[];
  /** Whether the tenant moves back, with no further fault. */
  readonly movesBack: boolean;
}

const HOUR_MS = 3_600_000;

/** The fault of each cell in turn, while agents propose to all of them. */
export async function strikeCells(faults: Faults): Promise<void> {
  const { seed, calm, killsMoverAt, linkFaults, movesBack, ...options } = faults;
  const outside = new Outside();
  const sinkPort = await outside.listen();
  onTestFinished(() => outside.close());
  const deployed = await startDeployment({ sinkPort, ...options });
  onTestFailed(() => console.error(deployed.logs()));
  const { file, log, servers, early, rootUrl } = deployed;
  const tokens = await tokensIn(rootUrl, AGENTS);
  const homes = new Map<string, CellName>(
    CELL_NAMES.flatMap((cell) => CELLS[cell].map((name): [string, CellName] => [name, cell])),
  );
  let isEarly = false;
  const load = new Load({
    ...{ tokens, seed },
    originsOf: (tenant) => {
      const cell = homes.get(tenant)!;
      return [servers[cell].origin, ...(isEarly && cell === 'ahead' ? [early.origin] : [])];
    },
  });
  const auditor = new Auditor(file, log, outside);

  /** One fault. Only these tenants may be refused anything meanwhile, with these codes. */
  const strike = async (affected: readonly string[], fault: () => Promise<void>) => {
    load.takeRefusals();
    await fault();
    await load.progress(TENANTS, calm);
    const others = load.takeRefusals().filter(({ tenant }) => !affected.includes(tenant));
    expect(others).toEqual([]);
    await load.pausedFor(() => auditor.audit(load.answered));
  };

  await strike([], () => load.progress(TENANTS, calm));
  await strike(CELLS.killed, () => killPrimary(deployed));
  await strike(CELLS.frozen, () => freezePrimary(deployed, load));
  for (const how of linkFaults) await strike(CELLS.cut, () => cutLink(deployed, load, how));
  await strike(CELLS.ahead, async () => {
    await early.start();
    early.send(HOUR_MS);
    isEarly = true;
    await load.until(() =>
      CELLS.ahead.every((tenant) => load.codesOf(tenant).includes('clock_ahead')),
    );
    await load.progress(CELLS.ahead);
    await haltAndResume(deployed, load);
    isEarly = false;
    expect((await early.stop()).code).toBe(0);
  });
  const [stays, moves] = CELLS.cut;
  await strike([stays, moves], () => moveUnderLoad(deployed, load, moves, killsMoverAt));
  if (movesBack) await strike([moves], () => completeMove(deployed, load, moves, 'cut'));

  await load.stop();
  const { answered } = load;
  await auditor.audit(answered);
  await auditor.expectAllEffects(answered);
  await expectOldCopy(auditor, moves, movesBack ? ['ahead', 'cut'] : ['cut', 'ahead']);
  for (const server of Object.values(servers)) expect((await server.stop()).code).toBe(0);
  console.info(`cells, seed ${seed}: ${answered.length} answered orders`);
}

/** kill -9 of the primary, whose standby is promoted. */
async function killPrimary({ killed }: CellsDeployment): Promise<void> {
  await killed.primary.stop('killed');
  await killed.promote();
}

/** The primary hangs, its standby is promoted, and the primary continues as if nothing happened. */
async function freezePrimary({ frozen }: CellsDeployment, load: Load): Promise<void> {
  const { primary } = frozen;
  primary.freeze();
  await frozen.promote();
  await load.progress(CELLS.frozen);
  primary.thaw();
  // The backend of a commit that waits for the standby stays, with backends behind its locks.
  const connections =
    "SELECT FROM pg_stat_activity WHERE application_name = 'assize' AND wait_event_type = 'Client'";
  await load.until(async () => (await primary.query(connections)).length === 0);
  const count = async (): Promise<number> =>
    (await primary.query('SELECT count(*)::int AS entries FROM frozen.entry'))[0]!['entries'];
  const before = await count();
  await load.progress(CELLS.frozen);
  expect(await count()).toBe(before);
}

/** The cell stops within the time of silence, and goes on when it hears from the root log again. */
async function cutLink({ link }: CellsDeployment, load: Load, how: LinkFault): Promise<void> {
  link.fail(how);
  await load.until(() => CELLS.cut.every((tenant) => load.codesOf(tenant).includes('cell_behind')));
  const counts = () => CELLS.cut.map((tenant) => load.countOf(tenant));
  const before = counts();
  const others = TENANTS.filter((tenant) => !(CELLS.cut as readonly string[]).includes(tenant));
  await load.progress(others);
  expect(counts()).toEqual(before);
  link.mend(how);
}

/** An order of the root log. The server with the early clock carries it out as well. */
async function haltAndResume({ log }: CellsDeployment, load: Load): Promise<void> {
  const [tenant] = CELLS.ahead;
  await log.order('halt', { tenant, reason: 'test' }, OPERATOR);
  await load.until(() => load.codesOf(tenant).includes('halted'));
  await log.order('resume', { tenant, reason: 'test' }, OPERATOR);
  await load.progress([tenant]);
}

/** The server of the old cell is killed in the middle of the move, and then the mover itself. */
async function moveUnderLoad(
  deployed: CellsDeployment,
  load: Load,
  tenant: string,
  killsMoverAt: Faults['killsMoverAt'],
): Promise<void> {
  const { servers, startMover, log } = deployed;
  const to = 'ahead';
  for (const [n, diesAt] of killsMoverAt.entries()) {
    const mover = startMover({ tenant, to, diesAt });
    await mover.reached('stopping');
    if (n === 0) {
      await servers.cut.kill();
      await servers.cut.start();
    }
    expect(await mover.end()).toBe('SIGKILL');
    expect((await log.read()).tenants[tenant]).toEqual({ cell: 'cut', to });
  }
  await completeMove(deployed, load, tenant, to);
}

async function completeMove(
  { startMover, log }: CellsDeployment,
  load: Load,
  tenant: string,
  to: CellName,
): Promise<void> {
  expect(await startMover({ tenant, to }).end()).toBe(0);
  expect((await log.read()).tenants[tenant]).toEqual({ cell: to });
  await load.progress([tenant]);
}

/** The old cell has the first part of the tenant's ledger, and got nothing after the move. */
async function expectOldCopy(
  auditor: Auditor,
  tenant: string,
  [left, lives]: readonly [CellName, CellName],
): Promise<void> {
  await auditor.inStores(async (stores, cellOf) => {
    expect(cellOf(tenant)).toBe(lives);
    const ids = async (cell: CellName) =>
      (await stores.get(cell)!.entries(tenant, { limit: 1_000_000 })).map(({ id }) => id);
    const [old, present] = [await ids(left), await ids(lives)];
    expect(old.length).toBeGreaterThan(0);
    expect(present.length).toBeGreaterThan(old.length);
    expect(present.slice(0, old.length)).toEqual(old);
  });
}
