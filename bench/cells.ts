/**
 * Cells under a quota of the processors: each has its own PostgreSQL, server and tenant, and a part
 * of a processor for both. The total of 1, 2, 4 and 6 cells in turns of one run, beside as many
 * times the rate of one. Then the 99th percentile of cells while the primary of another is killed,
 * beside that before. Clients and the root store are outside the quota.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKeys } from '#canon';
import { RootLog } from '#cells';
import { whyNoServer } from '../tests/support/postgres/binaries.ts';
import { PostgresServer } from '../tests/support/postgres/server.ts';
import type { CellMeasured, CellTarget } from './cells-clients.ts';
import { CpuQuota, whyNoQuota } from './cpu-quota.ts';
import { BenchProcess, MEMBERS } from './http-process.ts';
import { type BenchResult, formatTable, median, rateResult } from './measure.ts';

const COUNTS = [1, 2, 4, 6];
const CELLS = Math.max(...COUNTS);
/** The part of one processor of each cell: six of them use a third of two, and clients the rest. */
const SHARE = 0.06 * availableParallelism();
const CLIENTS = 8;
const ROUNDS = 5;
const TURN_MS = 5_000;
const SETTLE_MS = 4_000;
const WARM_MS = 10_000;
/** Cells. One of them loses its primary. */
const FAULTY = 4;
/** Faults, each of another cell. */
const FAULTS = 3;
const KILLED_AFTER_MS = 1_000;
const FAULT_TURN_MS = 10_000;
const GOAL = { ratioMin: 0.9 };

/** A cell. The processes of its PostgreSQL and its server are in one group. */
interface BenchCell {
  readonly name: string;
  readonly postgres: PostgresServer;
  readonly quota: CpuQuota;
  /** Absent in the first part: it measures cells alone. */
  standby?: PostgresServer;
  server?: BenchProcess;
}

export async function cellsBench(): Promise<BenchResult[]> {
  const reason = whyNoServer() ?? (await whyNoQuota());
  if (reason !== undefined) {
    console.error(`Cells are left out: ${reason}.`);
    return [];
  }
  const bench = new CellsBench();
  try {
    await bench.start();
    return [...(await bench.scaling()), ...(await bench.faults())];
  } finally {
    await bench.end();
  }
}

class CellsBench {
  readonly #folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  readonly #seed = randomBytes(32).toString('hex');
  readonly #cells: BenchCell[] = [];
  readonly #clients = BenchProcess.cellClients();
  #root: PostgresServer | undefined;
  #turns = 0;

  async start(): Promise<void> {
    this.#root = await PostgresServer.start();
    const log = await RootLog.open({
      url: this.#root.url,
      root: generateKeys(Buffer.from(this.#seed, 'hex')),
    });
    for (let n = 0; n < CELLS; n++) {
      const name = `c${n}`;
      await log.order('place', { tenant: name, cell: name }, 'operator:bench');
      const postgres = await PostgresServer.start();
      const quota = CpuQuota.create(name);
      this.#cells.push({ name, postgres, quota });
      quota.add(...postgres.pids);
    }
    await log.close();
    await this.#serve(this.#cells);
  }

  async scaling(): Promise<BenchResult[]> {
    const totals = new Map<number, number[]>(COUNTS.map((count) => [count, []]));
    for (let round = 0; round < ROUNDS; round++)
      for (const count of round % 2 === 0 ? COUNTS : COUNTS.toReversed()) {
        // Another cell begins in each round, so that none stands for all.
        const chosen = Array.from({ length: count }, (_, n) => this.#cells[(round + n) % CELLS]!);
        // A cell that was idle is slow at first, and a single one was idle for longer.
        await this.#turn(chosen, SETTLE_MS);
        const measured = await this.#turn(chosen, TURN_MS);
        totals.get(count)!.push(measured.reduce((sum, { perSecond }) => sum + perSecond, 0));
      }
    const rate = (name: string, rounds: readonly number[]) => ({
      name,
      perSecond: median(rounds),
      rounds,
    });
    const one = totals.get(1)!;
    return COUNTS.slice(1).map((count) => {
      const name = `${count} cells at ${Math.round(SHARE * 100)} % of a processor, ${CLIENTS} clients each`;
      const alone = rate(
        `${count} times one cell`,
        one.map((perSecond) => perSecond * count),
      );
      return rateResult(rate(name, totals.get(count)!), alone, GOAL);
    });
  }

  async faults(): Promise<BenchResult[]> {
    await this.#stopServers();
    const cells = this.#cells.slice(0, FAULTY);
    for (const cell of cells.slice(0, FAULTS)) await addStandby(cell);
    await this.#serve(cells);
    const before: number[] = [];
    const during: number[] = [];
    const refused: number[] = [];
    for (let fault = 0; fault < FAULTS; fault++) {
      const struck = cells[fault]!;
      const others = (all: readonly CellMeasured[]) => all.filter((_, n) => n !== fault);
      const calm = others(await this.#turn(cells, FAULT_TURN_MS));
      const turn = this.#turn(cells, FAULT_TURN_MS);
      await sleep(KILLED_AFTER_MS);
      await struck.postgres.stop('killed');
      await struck.standby!.query('SELECT pg_promote(true, 60)');
      const all = await turn;
      const faulty = others(all);
      before.push(Math.max(...calm.map(({ p99 }) => p99)));
      during.push(Math.max(...faulty.map(({ p99 }) => p99)));
      refused.push(faulty.reduce((sum, each) => sum + each.refused, 0));
    }
    return [
      {
        name: `${FAULTY} cells, the primary of one is killed: largest p99 of the others`,
        value: median(during),
        unit: 'ms',
        baseline: { name: 'before', value: median(before) },
        ratio: median(during.map((p99, round) => p99 / before[round]!)),
        goal: { ratioMax: 1.25 },
      },
      {
        name: `${FAULTY} cells, the primary of one is killed: refusals of the others`,
        value: refused.reduce((sum, count) => sum + count, 0),
        unit: 'requests',
        goal: { max: 0 },
      },
    ];
  }

  /** Ends the processes before their groups. */
  async end(): Promise<void> {
    await this.#clients.end();
    await this.#stopServers();
    for (const { postgres, standby, quota } of this.#cells) {
      await postgres.remove();
      await standby?.remove();
      await quota.remove();
    }
    await this.#root?.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts the servers, and sets the quotas when their code is compiled. */
  async #serve(cells: readonly BenchCell[]): Promise<void> {
    const file = join(this.#folder, 'cells.yaml');
    const lines = this.#cells.map((cell) => `  ${cell.name}: { store: '${urlOf(cell)}' }`);
    writeFileSync(file, [`root: ${this.#root!.url}`, 'cells:', ...lines, ''].join('\n'));
    for (const cell of cells) {
      const { name, quota } = cell;
      cell.server = await BenchProcess.server(
        'cell',
        `cells:${file}?cell=${name}`,
        this.#seed,
        name,
      );
      quota.add(cell.server.pid);
    }
    await this.#turn(cells, WARM_MS);
    for (const { quota } of cells) quota.limit(SHARE);
    await this.#turn(cells, TURN_MS);
  }

  async #stopServers(): Promise<void> {
    for (const cell of this.#cells) {
      cell.quota.lift();
      await cell.server?.end();
    }
  }

  #turn(cells: readonly BenchCell[], ms: number): Promise<readonly CellMeasured[]> {
    const targets = cells.map(({ name, server }): CellTarget => {
      const { port, token } = server!.ready!;
      return { port, token, trajectory: name };
    });
    const turn = `turn ${this.#turns++}`;
    return this.#clients.proposeToCells({
      cells: targets,
      clients: CLIENTS,
      ms,
      members: MEMBERS,
      turn,
    });
  }
}

/** A synchronous standby, in the group of its cell. */
async function addStandby(cell: BenchCell): Promise<void> {
  const { postgres, quota } = cell;
  const standby = await PostgresServer.standbyOf(postgres);
  cell.standby = standby;
  quota.add(...standby.pids);
  await postgres.query(
    "ALTER SYSTEM SET synchronous_standby_names = 'standby'",
    'SELECT pg_reload_conf()',
  );
}

function urlOf({ postgres, standby }: BenchCell): string {
  const hosts = [postgres, standby].flatMap((each) =>
    each === undefined ? [] : `127.0.0.1:${each.port}`,
  );
  return `postgres://postgres@${hosts.join()}/postgres`;
}

if (import.meta.main) console.log(formatTable(await cellsBench()));
