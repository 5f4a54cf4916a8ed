import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { blockOf } from '../process/guide-files.ts';
import { serverTemporaryFolder, serverUser } from './binaries.ts';

const PAGE = 'postgres.md';

/** The programs of the guide, where Debian installs them. */
const PROGRAMS = [
  '/usr/bin/etcd',
  '/usr/bin/etcdctl',
  '/usr/bin/patroni',
  '/usr/bin/patronictl',
  '/usr/sbin/haproxy',
  '/usr/lib/postgresql/15/bin/postgres',
];

/** Whether every program of the guide is installed here. */
export const hasPatroni: boolean = PROGRAMS.every((path) => existsSync(path));

/** A machine with PostgreSQL, Patroni and etcd. */
export type DatabaseNode = 'db1' | 'db2';

/** A machine with etcd. */
export type NodeName = DatabaseNode | 'db3';

/** The ports of the guide. Each machine has its own address, so the machines share the ports. */
const SHOWN_PORTS = ['2379', '2380', '5000', '5001', '5432', '8008'] as const;

/**
 * The machines of docs/guide/postgres.md, made from the files of that page: each machine is an
 * address of loopback with its own etcd, and two have PostgreSQL under Patroni.
 */
export class PatroniCluster {
  readonly folder: string = mkdtempSync(join(serverTemporaryFolder(), 'assize-patroni-'));
  readonly #network = `127.${100 + (randomBytes(1)[0]! % 100)}.${randomBytes(1)[0]!}`;
  readonly #ports = new Map<string, string>();
  readonly #programs = new Map<string, ChildProcess>();
  readonly #logs = new Map<string, string>();

  static async start(): Promise<PatroniCluster> {
    const cluster = new PatroniCluster();
    try {
      await cluster.#prepare();
      for (const name of ['db1', 'db2', 'db3'] as const) cluster.startEtcd(name);
      return cluster;
    } catch (error) {
      await cluster.remove();
      throw error;
    }
  }

  /** The text with the ports and addresses of this cluster in place of those of the guide. */
  placed(text: string): string {
    return text
      .replaceAll('10.0.0.0/24', '127.0.0.0/8')
      .replaceAll(/(?<=:|port )\d{4}\b/g, (shown) => this.#ports.get(shown) ?? shown)
      .replaceAll(/db([123])\.example/g, (_, digit) => `${this.#network}.${digit}`)
      .replaceAll('balancer.example', `${this.#network}.4`);
  }

  /** The port of PostgreSQL. */
  get port(): string {
    return this.#ports.get('5432') as string;
  }

  /** Runs a command of the guide on the second machine. Returns what it prints. */
  async sh(code: string): Promise<string> {
    const script = this.placed(code).replaceAll('/etc/patroni/config.yml', this.#config('db2'));
    const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], {
      env: this.#environment,
    });
    return stdout;
  }

  startEtcd(name: NodeName): void {
    const own = blockOf(PAGE, 'ini etcd')
      .replace(/^ETCD_NAME=db1$/m, `ETCD_NAME=${name}`)
      .replaceAll(/^(ETCD_\w*ADVERTISE\w*=http:\/\/)db1/gm, `$1${name}`);
    const lines = this.#own(name, own).trim().split('\n');
    this.#spawn(
      `${name} etcd`,
      ['etcd'],
      Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2))),
    );
  }

  startPatroni(name: DatabaseNode): void {
    this.#spawn(`${name} patroni`, ['patroni', this.#config(name)], {}, this.#data(name));
  }

  startHaproxy(): void {
    const path = join(this.folder, 'haproxy.cfg');
    writeFileSync(path, this.#own('balancer', blockOf(PAGE, 'haproxy haproxy.cfg')));
    this.#spawn('haproxy', ['haproxy', '-db', '-f', path]);
  }

  /** Ends every process of a machine by SIGKILL, as the loss of its power does. */
  async kill(name: NodeName): Promise<void> {
    await Promise.all([this.#end(`${name} patroni`), this.#end(`${name} etcd`)]);
  }

  /** The role of each member, from the REST API of Patroni on a machine. */
  async roles(asked: DatabaseNode): Promise<Readonly<Record<string, string>>> {
    const answer = await fetch(this.placed(`http://${asked}.example:8008/cluster`));
    const { members } = (await answer.json()) as {
      readonly members: readonly Readonly<Record<string, string>>[];
    };
    return Object.fromEntries(members.map(({ name, role }) => [name, role]));
  }

  /** Runs a statement as the superuser on the PostgreSQL of a machine. Returns its rows. */
  async query(
    name: DatabaseNode,
    statement: string,
    database = 'ledgers',
  ): Promise<Record<string, any>[]> {
    const url = `postgres://postgres:superuser-password@${name}.example:5432/${database}`;
    const client = new Client({ connectionString: this.placed(url) });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  /** The last lines that each program has printed. */
  log(): string {
    return [...this.#logs].map(([name, text]) => `${name}:\n${text.slice(-3_000)}`).join('\n');
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#programs.keys()].map((name) => this.#end(name)));
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #prepare(): Promise<void> {
    const ports = await freePorts(SHOWN_PORTS.length, `${this.#network}.1`);
    for (const [at, shown] of SHOWN_PORTS.entries()) this.#ports.set(shown, ports[at]!);
    const { uid, gid } = serverUser();
    const text = blockOf(PAGE, 'yaml patroni');
    for (const name of ['db1', 'db2'] as const) {
      mkdirSync(join(this.folder, `${name}-run`));
      writeFileSync(this.#config(name), text);
    }
    await this.sh(blockOf(PAGE, 'sh second'));
    for (const name of ['db1', 'db2'] as const) {
      const path = this.#config(name);
      writeFileSync(path, this.#own(name, readFileSync(path, 'utf8')));
      if (uid !== undefined) chownSync(join(this.folder, `${name}-run`), uid, gid!);
    }
    if (uid !== undefined) chownSync(this.folder, uid, gid!);
  }

  /** The file of a machine: with its own address and folders. */
  #own(name: NodeName | 'balancer', text: string): string {
    return this.placed(text.replaceAll(/\b0\.0\.0\.0:/g, `${name}.example:`))
      .replaceAll('/var/run/postgresql', join(this.folder, `${name}-run`))
      .replaceAll('/var/lib/postgresql/15/ledgers', join(this.folder, `${name}-data`))
      .replaceAll('/var/lib/postgresql/ledgers.pgpass', join(this.folder, `${name}.pgpass`))
      .replaceAll('/var/lib/etcd/ledgers', join(this.folder, `${name}-etcd`));
  }

  #config(name: DatabaseNode): string {
    return join(this.folder, `${name}.yml`);
  }

  #data(name: DatabaseNode): string {
    return join(this.folder, `${name}-data`);
  }

  get #environment(): Record<string, string> {
    return { PATH: '/usr/bin:/bin:/usr/sbin', HOME: this.folder, LC_ALL: 'C.UTF-8' };
  }

  /** `data`: the folder of the PostgreSQL that the program starts. */
  #spawn(
    name: string,
    command: readonly string[],
    env: Readonly<Record<string, string>> = {},
    data = '',
  ): void {
    const child = spawn('sh', ['-c', KEEPER, this.folder, data, ...command], {
      ...{
        cwd: this.folder,
        env: { ...this.#environment, ...env },
        stdio: 'pipe',
        ...serverUser(),
      },
    });
    this.#programs.set(name, child);
    for (const stream of [child.stdout, child.stderr])
      stream
        .setEncoding('utf8')
        .on('data', (text) => this.#logs.set(name, (this.#logs.get(name) ?? '') + text));
  }

  async #end(name: string): Promise<void> {
    const child = this.#programs.get(name);
    if (child === undefined) return;
    this.#programs.delete(name);
    const closed = once(child, 'close');
    child.stdin!.end('killed\n');
    await closed;
  }
}

// Keeps a program and waits for a word on its standard input, or its end if the parent process is
// gone. Then it kills the program, and the PostgreSQL in the folder `$1`: that outlives Patroni.
// The standard output ends with the last process.
const KEEPER = `
trap '' INT TERM HUP
exec 3<&0
folder=$0 data=$1
shift
"$@" 3<&- </dev/null &
program=$!
exec 1>/dev/null 2>&1
read -r how <&3
kill -KILL $program
wait $program
if [ -n "$data" ] && read -r server < "$data/postmaster.pid" && [ "$(readlink /proc/$server/cwd)" = "$data" ]
then kill -KILL $server
fi
[ -n "$how" ] || rm -rf "$folder"
`;

/** Different ports on which no program listens now. */
async function freePorts(count: number, address: string): Promise<readonly string[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, address));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => String((server.address() as AddressInfo).port));
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
