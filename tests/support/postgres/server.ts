import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../free-port.ts';
import { makeWorkshop, type Workshop } from './binaries.ts';
import { copyCluster, makeCluster } from './cluster.ts';

/** How long a start may take before it counts as failed. */
const START_TIMEOUT_MS = 60_000;

/** Ports are looked up first and taken later, so another process can be faster. */
const PORTS_TRIED_MAX = 5;

/**
 * The user that needs a password, once the role exists. All other users connect without a password.
 */
export const GUARDED_USER = 'guarded';

/**
 * After a crash the server syncs all its files before it starts. Syncing file by file takes
 * seconds.
 */
const QUICK: Readonly<Record<string, string>> =
  platform() === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {};

const HBA = `
local all all trust
host  all ${GUARDED_USER} 127.0.0.1/32 scram-sha-256
host  all all 127.0.0.1/32 trust
host  replication all 127.0.0.1/32 trust
`;

export interface ServerOptions {
  /** Of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** By name, for the folder of its data. */
  readonly files?: () => Readonly<Record<string, string>>;
}

/**
 * A PostgreSQL server for the tests of one file, on loopback, with its data in a separate folder.
 * Commits reach the disk, as on any other server. When the process that started it dies, in any
 * way, the server ends and its folder is removed.
 */
export class PostgresServer {
  readonly #workshop: Workshop;
  readonly #data: string;
  #port = 0;
  /** Of its first process. */
  #pid = 0;
  #keeper: ChildProcess | undefined;

  private constructor(workshop: Workshop) {
    this.#workshop = workshop;
    this.#data = join(workshop.folder, 'data');
  }

  /** A server with no databases of its own. */
  static start(options: ServerOptions = {}): Promise<PostgresServer> {
    return PostgresServer.#started((server) => server.#initialise(options));
  }

  /** A standby that follows a running server, and applies its log within moments. */
  static standbyOf(primary: PostgresServer): Promise<PostgresServer> {
    return PostgresServer.#started((server) => server.#copy(primary));
  }

  static async #started(
    fill: (server: PostgresServer) => void | Promise<void>,
  ): Promise<PostgresServer> {
    const server = new PostgresServer(makeWorkshop());
    try {
      await fill(server);
      for (let tries = 1; ; tries += 1) {
        server.#port = await freePort();
        try {
          await server.start();
          return server;
        } catch (error) {
          if (tries === PORTS_TRIED_MAX || !server.log().includes('Address already in use'))
            throw error;
        }
      }
    } catch (error) {
      await server.remove();
      throw error;
    }
  }

  get port(): number {
    return this.#port;
  }

  /** Its own, to put certificates into. */
  get folder(): string {
    return this.#workshop.folder;
  }

  /** All that it has said. */
  log(): string {
    const path = this.#logPath;
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** Where it was stopped, on the same port. */
  async start(): Promise<void> {
    const { postgres, folder, as } = this.#workshop;
    // Otherwise the file of a killed server would declare this server ready.
    this.#pid = 0;
    const keeper = spawn(
      'sh',
      ['-c', KEEPER, postgres, this.#data, String(this.#port), folder, this.#logPath],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
        cwd: folder,
        ...as,
      },
    );
    this.#keeper = keeper;
    const output = keeper.stdout!.on('data', (pid) => {
      this.#pid = Number(pid);
    });
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!this.#isReady()) {
      if (output.readableEnded || performance.now() > deadline) {
        await this.stop('immediate');
        throw new Error(`PostgreSQL did not start:\n${this.log()}`);
      }
      await sleep(10);
    }
  }

  /**
   * `fast` lets no transaction finish. `immediate` is equivalent to a crash. `killed` is kill -9 of
   * the first process without a notice, and the other processes end as each of them notices.
   * Resolves when no process is left.
   */
  async stop(how: 'fast' | 'immediate' | 'killed' = 'fast'): Promise<void> {
    const keeper = this.#keeper;
    this.#keeper = undefined;
    if (keeper === undefined || keeper.exitCode !== null) return;
    const closed = once(keeper, 'close');
    keeper.stdin!.end(`${how}\n`);
    await closed;
  }

  async remove(): Promise<void> {
    await this.stop('immediate');
    rmSync(this.#workshop.folder, { recursive: true, force: true });
  }

  /** Runs statements with every right on one connection; the rows of the last one. */
  async query(...statements: readonly string[]): Promise<Record<string, any>[]> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      let rows: Record<string, any>[] = [];
      for (const text of statements) ({ rows } = await client.query(text));
      return rows;
    } finally {
      await client.end();
    }
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/postgres`;
  }

  /** Stops every process of the server where it stands, as a machine that hangs. Linux only. */
  freeze(): void {
    for (const pid of this.pids) process.kill(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.pids) process.kill(pid, 'SIGCONT');
  }

  /** The ids of the first process and its children. Linux only. */
  get pids(): readonly number[] {
    const children = readFileSync(`/proc/${this.#pid}/task/${this.#pid}/children`, 'utf8');
    return [this.#pid, ...children.split(' ').filter(Boolean).map(Number)];
  }

  /** Makes a standby of a running server from its files. */
  async #copy(primary: PostgresServer): Promise<void> {
    const { as, folder } = this.#workshop;
    if (as.uid !== undefined) chownSync(folder, as.uid, as.gid!);
    const client = new Client({ connectionString: primary.url });
    await client.connect();
    try {
      await client.query("SELECT pg_backup_start('standby', true)");
      copyCluster(primary.#data, this.#data);
      const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
      rmSync(join(this.#data, 'postmaster.pid'));
      this.#write('backup_label', rows[0].labelfile);
      this.#write('standby.signal', '');
      const conninfo = `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`;
      const settings = readFileSync(join(this.#data, 'postgresql.auto.conf'), 'utf8');
      this.#write('postgresql.auto.conf', `${settings}primary_conninfo = '${conninfo}'\n`);
    } finally {
      await client.end();
    }
  }

  #write(name: string, text: string): void {
    const { as } = this.#workshop;
    const path = join(this.#data, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (as.uid !== undefined) chownSync(path, as.uid, as.gid!);
  }

  get #logPath(): string {
    return join(this.#workshop.folder, 'log');
  }

  #initialise({ settings = {}, files = () => ({}) }: ServerOptions): void {
    makeCluster(this.#workshop, this.#data);
    const lines = Object.entries({ ...QUICK, ...settings }).map(
      ([name, value]) => `${name} = '${value}'\n`,
    );
    const all = { ...files(), 'postgresql.auto.conf': lines.join(''), 'pg_hba.conf': HBA };
    for (const [name, text] of Object.entries(all)) this.#write(name, text);
  }

  /**
   * The eighth line of the file declares readiness. The first line names the process, because a
   * killed server leaves its file behind.
   */
  #isReady(): boolean {
    const path = join(this.#data, 'postmaster.pid');
    try {
      const lines = readFileSync(path, 'utf8').split('\n');
      return Number(lines[0]) === this.#pid && lines[7]?.trim() === 'ready';
    } catch {
      return false;
    }
  }
}

// Keeps the server and waits for a word on its standard input: how to stop, or nothing if the
// parent process is gone. It prints the server's process id. Then only the server holds the
// standard output. It ends with the server's last process.
const KEEPER = `
trap '' INT TERM HUP
exec 3<&0 4>&1 1>/dev/null
"$0" -D "$1" -p "$2" -k "$3" -c listen_addresses=127.0.0.1 >>"$4" 2>&1 3<&- </dev/null &
server=$!
echo $server >&4
exec 4>&-
read -r how <&3
case "$how" in
  fast) kill -INT $server 2>/dev/null ;;
  killed) kill -KILL $server 2>/dev/null ;;
  *) kill -QUIT $server 2>/dev/null ;;
esac
wait $server
[ -n "$how" ] || rm -rf "$3"
`;
