import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const modules = join(import.meta.dirname, '../../../peers/node_modules');

/** The server of Restate, where `npm ci --prefix peers` installed it for this machine. */
export function restateProgram(): string | undefined {
  const path = join(
    modules,
    `@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`,
  );
  return existsSync(path) ? path : undefined;
}

/** The answer to an invocation: the result of its handler, or its terminal error. */
export interface Answered {
  readonly status: number;
  readonly body: any;
}

/** A server as a member of a cluster. */
export interface Member {
  /** A file with the settings that all nodes have. */
  readonly config: string;
  readonly name: string;
  /** The port for the other nodes. */
  readonly port: number;
  /** The ports of all nodes. */
  readonly ports: readonly number[];
  /** Whether the node forms the cluster. The others join it. */
  readonly forms: boolean;
}

/** A server of Restate with an empty journal: alone, or as a node of a cluster. */
export class RestateServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'assize-restate-'));
  readonly #member: Member | undefined;
  readonly #ports: { readonly node: number; readonly ingress: number; readonly admin: number };
  #process!: ChildProcess;
  #closed!: Promise<unknown>;

  private constructor(member: Member | undefined, port: number, ingress: number, admin: number) {
    this.#member = member;
    this.#ports = { node: port, ingress, admin };
  }

  static async start(member?: Member): Promise<RestateServer> {
    const [ingress, admin, port] = await Promise.all([freePort(), freePort(), freePort()]);
    const server = new RestateServer(member, member?.port ?? port, ingress, admin);
    await server.restart();
    return server;
  }

  /** Starts the server with its folder, after a kill. */
  async restart(): Promise<void> {
    const { node, ingress, admin } = this.#ports;
    this.#process = spawn(
      restateProgram() as string,
      ['--no-logo', '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--bind-port', String(node)],
      {
        env: {
          ...process.env,
          RESTATE_BASE_DIR: this.#folder,
          RESTATE_LOG_FILTER: 'warn',
          RESTATE_DISABLE_TELEMETRY: 'true',
          RESTATE_DEFAULT_NUM_PARTITIONS: String(this.#member?.ports.length ?? 1),
          RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
          RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
          ...(this.#member !== undefined && settingsOf(this.#member)),
        },
        stdio: 'ignore',
      },
    );
    this.#closed = once(this.#process, 'close');
    while (!(await this.#isReady())) await sleep(100);
  }

  get addresses(): { readonly ingress: string; readonly admin: string } {
    return { ingress: this.#ingress, admin: `http://127.0.0.1:${this.#ports.admin}` };
  }

  /** Makes the service at a port known. */
  async register(port: number): Promise<void> {
    const body = JSON.stringify({ uri: `http://127.0.0.1:${port}`, force: true });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${this.#ports.admin}/deployments`, {
      method: 'POST',
      headers,
      body,
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** Starts an invocation. Returns its id. With the same key, a second send starts none. */
  async send(handler: string, input: unknown, key?: string): Promise<string> {
    const body = JSON.stringify(input);
    const headers = {
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    const answer = await fetch(`${this.#ingress}/${handler}/send`, {
      method: 'POST',
      headers,
      body,
    });
    if (!answer.ok) throw new Error(await answer.text());
    return ((await answer.json()) as { readonly invocationId: string }).invocationId;
  }

  /** The answer to an invocation, when it is there. */
  async answerTo(invocation: string): Promise<Answered> {
    const answer = await fetch(`${this.#ingress}/restate/invocation/${invocation}/attach`);
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** The names of the steps in the journal of an invocation. */
  async stepsOf(invocation: string): Promise<readonly unknown[]> {
    const rows = await this.query(
      `SELECT name FROM sys_journal WHERE id = '${invocation}' AND name IS NOT NULL`,
    );
    return rows.map(({ name }) => name);
  }

  /** The rows of a query of the tables of the server. */
  async query(query: string): Promise<readonly Record<string, unknown>[]> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${this.#ports.admin}/query`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ query }) },
    });
    if (!answer.ok) throw new Error(await answer.text());
    return ((await answer.json()) as { readonly rows: readonly Record<string, unknown>[] }).rows;
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#closed;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #ingress(): string {
    return `http://127.0.0.1:${this.#ports.ingress}`;
  }

  async #isReady(): Promise<boolean> {
    if (this.#process.exitCode !== null) throw new Error('the server of Restate ended');
    const answers = await Promise.all(
      [`${this.#ingress}/restate/health`, `http://127.0.0.1:${this.#ports.admin}/health`].map(
        (url) =>
          fetch(url).then(
            ({ ok }) => ok,
            () => false,
          ),
      ),
    );
    return answers.every((ok) => ok);
  }
}

/** The settings in which a node differs from the others. */
function settingsOf({
  config,
  name,
  port,
  ports,
  forms,
}: Member): Readonly<Record<string, string>> {
  const address = (of: number): string => `http://127.0.0.1:${of}`;
  return {
    RESTATE_CONFIG: config,
    RESTATE_NODE_NAME: name,
    RESTATE_ADVERTISED_ADDRESS: address(port),
    RESTATE_AUTO_PROVISION: String(forms),
    RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(ports.map(address)),
  };
}

/** A port on which no program listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
