import type { Client, ClientOptions, Implementation, Tool, Transport } from '@modelcontextprotocol/client';
import { isInstance } from '#base';
import { McpError } from '../errors.ts';
import { loadClient } from '../peers.ts';
import { type Definition, definitionsOf } from './definitions.ts';

export interface UpstreamOptions {
  /** Starts the server or connects to it. Called again after its end. */
  readonly transport: () => Transport | Promise<Transport>;
  /** The gateway's own name and version. */
  readonly info: Implementation;
  /** Milliseconds for the handshake and for lists. Default 30,000. */
  readonly connectMs?: number | undefined;
  readonly onWarning: (text: string) => void;
}

/** The events of a server, by the name of their notification. */
export type UpstreamEvent = 'tools' | 'prompts' | 'resources';

const CONNECT_MS = 30_000;
/** Pages of one list. */
const PAGES_MAX = 50;
/** Pauses between two starts of a server that ends at once. */
const RESTART_MS = 1_000;

/** The MCP server behind the gateway: its connection, and the definitions of its tools. */
export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #listeners: Set<(event: UpstreamEvent) => void> = new Set();
  #connection: Promise<Client> | undefined;
  #tools: Promise<ReadonlyMap<string, Definition>> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** The connected client. A server that has ended is started again. @throws McpError */
  async client(): Promise<Client> {
    if (this.#isClosed) throw unreachable('the gateway is closing');
    this.#connection ??= this.#begin();
    return this.#connection;
  }

  #begin(): Promise<Client> {
    // The end of an earlier connection must not end a later one.
    const connection: Promise<Client> = this.#connect(() => {
      if (this.#connection === connection) this.#ended();
    });
    return connection;
  }

  /** The definitions of the tools, read once and after each change. @throws McpError */
  tools(): Promise<ReadonlyMap<string, Definition>> {
    this.#tools ??= this.#list().catch((error: unknown) => {
      this.#tools = undefined;
      throw error;
    });
    return this.#tools;
  }

  onEvent(listener: (event: UpstreamEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.then((client) => client.close()).catch(() => undefined);
  }

  async #connect(ended: () => void): Promise<Client> {
    const { transport, info, connectMs = CONNECT_MS, onWarning } = this.#options;
    const sdk = await loadClient();
    const wait = this.#failedAt + RESTART_MS - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const client = new sdk.Client(info, this.#clientOptions());
    client.onerror = (error) => onWarning(`The MCP server: ${error.message}`);
    client.onclose = ended;
    try {
      await client.connect(await transport(), { timeout: connectMs });
    } catch (cause) {
      ended();
      await client.close().catch(() => undefined);
      throw unreachable(isInstance(cause, Error) ? cause.message : String(cause), cause);
    }
    return client;
  }

  #clientOptions(): ClientOptions {
    const changed = (event: UpstreamEvent) => ({
      autoRefresh: false,
      onChanged: () => {
        if (event === 'tools') this.#tools = undefined;
        for (const listener of this.#listeners) listener(event);
      },
    });
    return {
      capabilities: {},
      versionNegotiation: { mode: 'auto' },
      listMaxPages: PAGES_MAX,
      listChanged: { tools: changed('tools'), prompts: changed('prompts'), resources: changed('resources') },
    } as ClientOptions;
  }

  #ended(): void {
    this.#failedAt = performance.now();
    this.#connection = undefined;
    this.#tools = undefined;
  }

  async #list(): Promise<ReadonlyMap<string, Definition>> {
    const client = await this.client();
    if (client.getServerCapabilities()?.tools === undefined) return new Map();
    const timeout = this.#options.connectMs ?? CONNECT_MS;
    const { tools } = await client.listTools(undefined, { timeout, cacheMode: 'refresh' });
    const definitions = definitionsOf(tools as readonly Tool[]);
    if (definitions.size < tools.length)
      this.#options.onWarning(
        `${tools.length - definitions.size} tools have names or definitions that cannot be used.`,
      );
    return definitions;
  }
}

function unreachable(why: string, cause?: unknown): McpError {
  return new McpError('upstream_unreachable', `The MCP server behind the gateway cannot be reached: ${why}`, { cause });
}
