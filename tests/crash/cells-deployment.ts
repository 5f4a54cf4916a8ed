import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type CellsFile, type MoveStep, RootLog, readCellsFile } from '#cells';
import { bundled } from '../support/bundled.ts';
import { freePort } from '../support/free-port.ts';
import { PostgresServer } from '../support/postgres/index.ts';
import {
  CELL_NAMES,
  CELLS,
  type CellName,
  type CellProcessOptions,
  type MoverOptions,
} from './cells-orders.ts';
import { Link } from './link.ts';
import { ROOT } from './serve-orders.ts';
import { ServerProcess } from './server-process.ts';

const program = await bundled(join(import.meta.dirname, 'cells-process.ts'));
const mover = await bundled(join(import.meta.dirname, 'cells-mover.ts'));
/** Seconds without the root log after which a cell is silent: the default. */
const SILENCE = 15;
export const OPERATOR = 'operator:test';

/** A primary whose commits wait for its standby. */
export class Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;

  private constructor(primary: PostgresServer, standby: PostgresServer) {
    this.primary = primary;
    this.standby = standby;
  }

  static async start(): Promise<Pair> {
    const primary = await serverOfTest();
    const standby = await PostgresServer.standbyOf(primary);
    onTestFinished(() => standby.remove());
    await primary.query(
      "ALTER SYSTEM SET synchronous_standby_names = 'standby'",
      'SELECT pg_reload_conf()',
    );
    const inSync = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
    await expect.poll(() => primary.query(inSync)).toHaveLength(1);
    return new Pair(primary, standby);
  }

  /** Both as hosts of one URL. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.primary.port},127.0.0.1:${this.standby.port}/postgres`;
  }

  async promote(): Promise<void> {
    await this.standby.query(
      'SELECT pg_promote(true, 60)',
      'ALTER SYSTEM RESET synchronous_standby_names',
    );
    await this.standby.query('SELECT pg_reload_conf()');
  }
}

/** Four cells with a server process each, and their root log. */
export interface CellsDeployment {
  readonly file: CellsFile;
  readonly log: RootLog;
  readonly killed: Pair;
  readonly frozen: Pair;
  /** The link between the servers of the cell `cut` and the root store. */
  readonly link: Link;
  readonly servers: Readonly<Record<CellName, ServerProcess>>;
  /** A further server of the cell `ahead`, for another clock. */
  readonly early: ServerProcess;
  /** The URL of the root store. */
  readonly rootUrl: string;
  /** The errors in the logs of the servers. */
  logs(): string;
  startMover(options: Omit<MoverOptions, 'file'>): Mover;
}

export interface DeploymentOptions {
  readonly sinkPort: string;
  /** The PostgreSQL of the cells whose primaries get no fault. */
  readonly shared: PostgresServer;
  /** The longest time of a statement of the server whose primary freezes. Default: the store's. */
  readonly patienceMs?: number | undefined;
}

export async function startDeployment({
  sinkPort,
  shared,
  patienceMs,
}: DeploymentOptions): Promise<CellsDeployment> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-cells-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [root, killed, frozen] = await Promise.all([serverOfTest(), Pair.start(), Pair.start()]);
  const link = await Link.start(root.port);
  const stores = { killed: killed.url, frozen: frozen.url, cut: shared.url, ahead: shared.url };
  const ports = { killed: 0, frozen: 0, cut: 0, ahead: 0 };
  for (const name of CELL_NAMES) ports[name] = await freePort();
  const write = (name: string, rootPort: number): string => {
    const path = join(folder, name);
    const lines = CELL_NAMES.map(
      (cell) =>
        `  ${cell}: { store: '${stores[cell]}?schema=${cell}', url: 'http://127.0.0.1:${ports[cell]}' }`,
    );
    const url = `postgres://postgres@127.0.0.1:${rootPort}/postgres`;
    writeFileSync(path, [`root: ${url}`, `silence: ${SILENCE}`, 'cells:', ...lines, ''].join('\n'));
    return path;
  };
  const path = write('cells.yaml', root.port);
  const throughLink = write('through-link.yaml', link.port);
  const file = readCellsFile(path);
  const log = await RootLog.open({ url: file.root, root: ROOT });
  onTestFinished(() => log.close());
  for (const cell of CELL_NAMES)
    for (const tenant of CELLS[cell]) await log.order('place', { tenant, cell }, OPERATOR);

  const errors = join(folder, 'errors.log');
  const serverOf = (
    name: CellName,
    port: number,
    more: Partial<CellProcessOptions> = {},
  ): ServerProcess => {
    const url = `cells:${name === 'cut' ? throughLink : path}?cell=${name}`;
    const argumentsAt = (at: number) => [
      JSON.stringify({ url, port: at, sinkPort, log: errors, ...more }),
    ];
    const server = new ServerProcess(program, argumentsAt, port);
    onTestFinished(() => server.kill());
    return server;
  };
  const servers = {
    killed: serverOf('killed', ports.killed),
    frozen: serverOf('frozen', ports.frozen, patienceMs === undefined ? {} : { patienceMs }),
    cut: serverOf('cut', ports.cut),
    ahead: serverOf('ahead', ports.ahead),
  };
  for (const name of CELL_NAMES) await servers[name].start();
  return {
    ...{ file, log, killed, frozen, link, servers, rootUrl: file.root },
    early: serverOf('ahead', 0),
    logs: () => (existsSync(errors) ? readFileSync(errors, 'utf8') : ''),
    startMover: (options) => {
      const started = new Mover({ file: path, ...options });
      onTestFinished(() => started.kill());
      return started;
    },
  };
}

async function serverOfTest(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  onTestFinished(() => server.remove());
  return server;
}

/** A process that moves a tenant. */
export class Mover {
  readonly #child: ChildProcess;
  readonly #steps: MoveStep[] = [];
  readonly #exited: Promise<unknown[]>;

  constructor(options: MoverOptions) {
    this.#child = fork(mover, [JSON.stringify(options)]);
    this.#child.on('message', (step) => this.#steps.push(step as MoveStep));
    this.#exited = once(this.#child, 'exit');
  }

  /** Waits until the step has started. */
  async reached(step: MoveStep): Promise<void> {
    while (!this.#steps.includes(step)) {
      const message = once(this.#child, 'message');
      const ended = this.#exited.then(([code]) => {
        throw new Error(`The mover ended with ${code} before the step ${step}.`);
      });
      await Promise.race([message, ended]);
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** The exit code, or the signal that ended the process. */
  async end(): Promise<unknown> {
    const [code, signal] = await this.#exited;
    return signal ?? code;
  }
}
