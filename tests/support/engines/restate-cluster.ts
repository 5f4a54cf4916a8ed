import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blockOf } from '../process/guide-files.ts';
import { freePort, RestateServer } from './restate-server.ts';

/**
 * Three nodes of Restate with the settings of docs/guide/durable-runs.md. Each of them can be
 * killed, and the other two go on.
 */
export class RestateCluster {
  readonly #folder: string;
  readonly #nodes: readonly RestateServer[];

  private constructor(folder: string, nodes: readonly RestateServer[]) {
    this.#folder = folder;
    this.#nodes = nodes;
  }

  static async start(): Promise<RestateCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'assize-restate-'));
    const config = join(folder, 'restate.toml');
    writeFileSync(config, blockOf('durable-runs.md', 'toml restate.toml'));
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const nodes = ports.map((port, n) =>
      RestateServer.start({ config, name: `node-${n + 1}`, port, ports, forms: n === 0 }),
    );
    return new RestateCluster(folder, await Promise.all(nodes));
  }

  /** The number of nodes. The first one formed the cluster. */
  get size(): number {
    return this.#nodes.length;
  }

  /** Kills a node. */
  async kill(node: number): Promise<void> {
    await this.#nodes[node]!.kill();
  }

  /** Starts a node that was killed, with its folder. */
  async restart(node: number): Promise<void> {
    await this.#nodes[node]!.restart();
  }

  /** Asks one node after the other, until one of them answers. */
  async ask<T>(question: (node: RestateServer) => Promise<T>): Promise<T> {
    const errors: unknown[] = [];
    for (const node of this.#nodes) {
      try {
        return await question(node);
      } catch (error) {
        errors.push(error);
      }
    }
    throw new AggregateError(errors, 'no node of Restate answers');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    rmSync(this.#folder, { recursive: true });
  }
}
