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
  const path = join(modules, `@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`);
  return existsSync(path) ? path : undefined;
}

/** The answer to an invocation: the result of its handler, or its terminal error. */
export interface Answered {
  readonly status: number;
  readonly body: any;
}

interface Ports {
  readonly ingress: number;
  readonly admin: number;
}

/** A server of Restate with an empty journal. */
export class RestateServer {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #ports: Ports;

  private constructor(program: ChildProcess, folder: string, ports: Ports) {
    this.#process = program;
    this.#folder = folder;
    this.#ports = ports;
  }

  static async start(): Promise<RestateServer> {
    const folder = mkdtempSync(join(tmpdir(), 'assize-restate-'));
    const [ingress, admin, node] = await Promise.all([freePort(), freePort(), freePort()]);
    const program = spawn(
      restateProgram() as string,
      ['--no-logo', '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--bind-port', String(node)],
      {
        env: {
          ...process.env,
          RESTATE_BASE_DIR: folder,
          RESTATE_LOG_FILTER: 'warn',
          RESTATE_DEFAULT_NUM_PARTITIONS: '1',
          RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
          RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
        },
        stdio: 'ignore',
      },
    );
    const server = new RestateServer(program, folder, { ingress, admin });
    while (!(await server.#isReady())) await sleep(100);
    return server;
  }

  get addresses(): { readonly ingress: string; readonly admin: string } {
    return { ingress: this.#ingress, admin: `http://127.0.0.1:${this.#ports.admin}` };
  }

  /** Makes the service at a port known. */
  async register(port: number): Promise<void> {
    const body = JSON.stringify({ uri: `http://127.0.0.1:${port}`, force: true });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${this.#ports.admin}/deployments`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** Starts an invocation. Returns its id. */
  async send(handler: string, input: unknown): Promise<string> {
    const body = JSON.stringify(input);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${this.#ingress}/${handler}/send`, { method: 'POST', headers, body });
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
    const query = `SELECT name FROM sys_journal WHERE id = '${invocation}' AND name IS NOT NULL`;
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${this.#ports.admin}/query`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ query }) },
    });
    const { rows } = (await answer.json()) as { readonly rows: readonly { readonly name: string }[] };
    return rows.map(({ name }) => name);
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL');
    await once(this.#process, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #ingress(): string {
    return `http://127.0.0.1:${this.#ports.ingress}`;
  }

  async #isReady(): Promise<boolean> {
    if (this.#process.exitCode !== null) throw new Error('the server of Restate ended');
    const answers = await Promise.all(
      [`${this.#ingress}/restate/health`, `http://127.0.0.1:${this.#ports.admin}/health`].map((url) =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    return answers.every((ok) => ok);
  }
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
