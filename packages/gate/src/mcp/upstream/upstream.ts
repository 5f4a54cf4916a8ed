import { AsyncLocalStorage } from 'node:async_hooks';
import { SchemaThread } from '@assize/tools/internal/schemas';
import type {
  CallToolResult,
  Client,
  ClientOptions,
  Implementation,
  LoggingLevel,
  LoggingMessageNotificationParams,
  Tool,
  Transport,
} from '@modelcontextprotocol/client';
import { isInstance, type Json } from 'assize/internal/base';
import { McpError } from '../errors.ts';
import { loadClient } from '../peers.ts';
import { Budget } from '../talk/budget.ts';
import type { ServerQuestion } from '../talk/conversation.ts';
import { shownLog } from '../talk/messages.ts';
import {
  type Definition,
  definitionsOf,
  issueOf,
  visible,
  wellFormedTools,
} from './definitions.ts';
import { withNumbers } from './exact-numbers.ts';

export interface UpstreamOptions {
  /** Starts the server or connects to it. Called again after its end. */
  readonly transport: () => Transport | Promise<Transport>;
  /** The folder that a server of this machine runs in. Absent: its files are elsewhere. */
  readonly folder?: string | undefined;
  /** The gateway's own name and version. */
  readonly info: Implementation;
  /** Milliseconds for the handshake and for lists. Default 30,000. */
  readonly connectMs?: number | undefined;
  /** The questions of the server that may reach a client, if the rules let them. Default: none. */
  readonly questions?: readonly QuestionKind[] | undefined;
  readonly onWarning: (text: string) => void;
}

export type QuestionKind = 'elicitation' | 'sampling' | 'roots';

/** A call that is being made: its client can be asked, and can be sent log messages. */
export interface Talker {
  /** The principal of the call. */
  readonly user: object;
  readonly asked: (question: ServerQuestion, signal: AbortSignal) => Promise<object>;
  readonly log: (message: LoggingMessageNotificationParams) => void;
}

/** The events of a server, by the name of their notification. */
export type UpstreamEvent = 'tools' | 'prompts' | 'resources';

const CONNECT_MS = 30_000;
/** Pages of one list. */
const PAGES_MAX = 50;
/** Pauses between two starts of a server that ends immediately. */
const RESTART_MS = 1_000;
/** Requests for input in one call. */
const ROUNDS_MAX = 10;
/** Log messages, updates and faults of the protocol that are passed on in ten seconds, of each. */
const NOTES_MAX = 200;
const NOTES_MS = 10_000;

/** The MCP server behind the gateway: its connection, and the definitions of its tools. */
export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #listeners: Set<(event: UpstreamEvent) => void> = new Set();
  readonly #talkers: Set<Talker> = new Set();
  /** The principals that have used the connection. */
  readonly #users: Set<object> = new Set();
  readonly #sent: AsyncLocalStorage<Talker> = new AsyncLocalStorage();
  /** The requests of calls that the server has not answered, also those that were given up. */
  readonly #unanswered: Map<string | number, Talker> = new Map();
  readonly #logListeners: Set<(message: LoggingMessageNotificationParams) => void> = new Set();
  readonly #updateListeners: Set<(uri: string) => void> = new Set();
  readonly #notes: Budget = new Budget(NOTES_MAX, NOTES_MS);
  readonly #faults: Budget = new Budget(NOTES_MAX, NOTES_MS);
  readonly #schemas: SchemaThread = new SchemaThread();
  #connection: Promise<Client> | undefined;
  #tools: Promise<ReadonlyMap<string, Definition>> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /**
   * The connected client. A server that has ended is started again. `user`: the principal for which
   * something is asked.
   *
   * @throws McpError
   */
  async client(user?: object): Promise<Client> {
    if (this.#isClosed) throw unreachable('the gateway is closing');
    this.#connection ??= this.#begin();
    const client = await this.#connection;
    if (user !== undefined) this.#users.add(user);
    return client;
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

  /** The folder that the server runs in, if it runs on this machine. */
  get folder(): string | undefined {
    return this.#options.folder;
  }

  onEvent(listener: (event: UpstreamEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Log messages that belong to no call, for a gateway with one client. */
  onLog(listener: (message: LoggingMessageNotificationParams) => void): () => void {
    this.#logListeners.add(listener);
    return () => this.#logListeners.delete(listener);
  }

  /** Updates of the resources that some client has subscribed to. */
  onUpdate(listener: (uri: string) => void): () => void {
    this.#updateListeners.add(listener);
    return () => this.#updateListeners.delete(listener);
  }

  /** Makes a call, in which the server can ask the client of the call. */
  async callTool(params: ToolCall, options: Sending, talker: Talker): Promise<CallToolResult> {
    const client = await this.client(talker.user);
    const sdk = await loadClient();
    let more: object = {};
    this.#talkers.add(talker);
    try {
      for (let round = 0; round <= ROUNDS_MAX; round++) {
        const sent = { ...options, allowInputRequired: true };
        const call = { ...params, ...more } as never;
        const result: unknown = await this.#sent.run(talker, () =>
          client.callTool(call, sent as never),
        );
        if (!sdk.isInputRequiredResult(result)) return result as CallToolResult;
        const answers: [string, object][] = [];
        for (const [key, { method, params: asked = {} }] of Object.entries(
          result.inputRequests ?? {},
        ))
          answers.push([
            key,
            await this.#answered(
              { method, params: asked } as ServerQuestion,
              talker,
              options.signal,
            ),
          ]);
        more = {
          ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) }),
          ...(result.requestState !== undefined && { requestState: result.requestState }),
        };
      }
      throw new sdk.SdkError(
        sdk.SdkErrorCode.InputRequiredRoundsExceeded,
        `more than ${ROUNDS_MAX} requests for input`,
      );
    } finally {
      this.#talkers.delete(talker);
    }
  }

  /** The answer to a question. A question that does not get through is declined. */
  async #answered(
    question: ServerQuestion,
    talker: Talker | undefined,
    signal: AbortSignal,
  ): Promise<object> {
    const sdk = await loadClient();
    try {
      const kind = KINDS[question.method];
      if (kind === undefined || this.#options.questions?.includes(kind) !== true)
        throw new Error('the configuration passes no such questions on');
      if (talker === undefined) throw new Error('it is not clear which call it belongs to');
      return await talker.asked(question, signal);
    } catch (error) {
      const why = isInstance(error, Error) ? error.message : String(error);
      this.#fault(`a question (${question.method}) was not passed on: ${why}`);
      if (question.method === 'elicitation/create') return { action: 'decline' };
      throw new sdk.ProtocolError(
        sdk.ProtocolErrorCode.InvalidRequest,
        `The question was not passed on: ${why}`,
      );
    }
  }

  /**
   * The only call to which a question or a message can belong, because over pipes they name none. A
   * call that was given up may still ask, until it is answered or the server ends.
   */
  #only(): Talker | undefined {
    const [only, ...others] = new Set([...this.#talkers, ...this.#unanswered.values()]);
    const isClear = others.length === 0 && this.#users.size === 1;
    return isClear && only !== undefined && this.#talkers.has(only) ? only : undefined;
  }

  /**
   * Notes the requests of calls until their answers, and takes the tools out of lists that the SDK
   * would refuse as a whole.
   */
  #noted(
    transport: Transport,
    { specTypeSchemas }: Awaited<ReturnType<typeof loadClient>>,
    era: () => 'legacy' | 'modern' | undefined,
  ): Transport {
    const send = transport.send.bind(transport);
    const lists = new Set<string | number>();
    const problemOf = (tool: unknown): string | undefined => {
      const issue = issueOf(specTypeSchemas.Tool['~standard'].validate, tool);
      if (issue !== undefined) return issue;
      const { outputSchema } = tool as Tool;
      const isOld = outputSchema !== undefined && era() === 'legacy';
      return isOld && outputSchema['type'] !== 'object'
        ? 'outputSchema.type: it must be "object"'
        : undefined;
    };
    transport.send = (message, options) => {
      if ('method' in message && 'id' in message && message.method === 'tools/list')
        lists.add(message.id);
      const talker = this.#sent.getStore();
      if (talker !== undefined && 'method' in message && 'id' in message)
        this.#unanswered.set(message.id, talker);
      return send(message, options);
    };
    // The SDK calls a handler that is there before its own.
    transport.onmessage = (message) => {
      withNumbers(message);
      if ('method' in message || message.id === undefined) return;
      this.#unanswered.delete(message.id);
      if (!lists.delete(message.id) || !('result' in message)) return;
      const { result } = message;
      if (Array.isArray(result['tools']))
        result['tools'] = wellFormedTools(result['tools'], problemOf, this.#hide);
    };
    return transport;
  }

  #logged(message: LoggingMessageNotificationParams): void {
    const budget = this.#notes.take();
    if (budget === 'dropped') return;
    if (budget === 'last')
      this.#options.onWarning('The MCP server sends too many notes, so some are dropped.');
    const only = this.#only();
    if (only !== undefined) only.log(shownLog(message));
    else for (const listener of this.#logListeners) listener(shownLog(message));
  }

  #fault(text: string): void {
    if (this.#faults.take() !== 'dropped')
      this.#options.onWarning(`The MCP server: ${text.slice(0, 1_000)}`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.then((client) => client.close()).catch(() => undefined);
    await this.#schemas.close();
  }

  async #connect(ended: () => void): Promise<Client> {
    const { transport, info, connectMs = CONNECT_MS } = this.#options;
    const sdk = await loadClient();
    const wait = this.#failedAt + RESTART_MS - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const client = new sdk.Client(info, this.#clientOptions());
    client.onerror = (error) => this.#fault(error.message);
    this.#listen(client);
    client.onclose = ended;
    try {
      await client.connect(
        this.#noted(await transport(), sdk, () => client.getProtocolEra()),
        { timeout: connectMs },
      );
    } catch (cause) {
      ended();
      await client.close().catch(() => undefined);
      throw unreachable(isInstance(cause, Error) ? cause.message : String(cause), cause);
    }
    return client;
  }

  #listen(client: Client): void {
    client.setNotificationHandler('notifications/message', ({ params }) => this.#logged(params));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      if (this.#notes.take() === 'dropped') return;
      for (const listener of this.#updateListeners) listener(params.uri);
    });
    const { questions = [] } = this.#options;
    const asked = (
      method: ServerQuestion['method'],
      params: object | undefined,
      signal: AbortSignal,
    ): Promise<never> =>
      this.#answered({ method, params: { ...params } }, this.#only(), signal) as Promise<never>;
    if (questions.includes('elicitation'))
      client.setRequestHandler('elicitation/create', ({ method, params }, { mcpReq }) =>
        asked(method, params, mcpReq.signal),
      );
    if (questions.includes('sampling'))
      client.setRequestHandler('sampling/createMessage', ({ method, params }, { mcpReq }) =>
        asked(method, params, mcpReq.signal),
      );
    if (questions.includes('roots'))
      client.setRequestHandler('roots/list', ({ method, params }, { mcpReq }) =>
        asked(method, params, mcpReq.signal),
      );
  }

  #clientOptions(): ClientOptions {
    const { questions = [] } = this.#options;
    const changed = (event: UpstreamEvent) => ({
      autoRefresh: false,
      onChanged: () => {
        if (event === 'tools') this.#tools = undefined;
        for (const listener of this.#listeners) listener(event);
      },
    });
    return {
      capabilities: {
        ...(questions.includes('elicitation') && { elicitation: { form: {} } }),
        ...(questions.includes('sampling') && { sampling: {} }),
        ...(questions.includes('roots') && { roots: {} }),
      },
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: 'auto' },
      listMaxPages: PAGES_MAX,
      listChanged: {
        tools: changed('tools'),
        prompts: changed('prompts'),
        resources: changed('resources'),
      },
    } as ClientOptions;
  }

  #ended(): void {
    this.#failedAt = performance.now();
    this.#connection = undefined;
    this.#tools = undefined;
    this.#users.clear();
    this.#unanswered.clear();
  }

  async #list(): Promise<ReadonlyMap<string, Definition>> {
    const client = await this.client();
    if (client.getServerCapabilities()?.tools === undefined) return new Map();
    const timeout = this.#options.connectMs ?? CONNECT_MS;
    const { tools } = await client.listTools(undefined, { timeout, cacheMode: 'refresh' });
    const usable = new Map<string, Definition>();
    for (const [name, definition] of definitionsOf(tools as readonly Tool[], this.#hide)) {
      const { hash: key, tool } = definition;
      const { unusable } = await this.#schemas.check({ key, schema: tool.inputSchema as Json });
      if (unusable === undefined) usable.set(name, definition);
      else this.#hide(name, `its inputSchema cannot be used: ${unusable}`);
    }
    return usable;
  }

  readonly #hide = (name: string, why: string): void =>
    this.#fault(`the tool ${visible(name.slice(0, 200))} is hidden: ${visible(why)}`);

  /**
   * Why a call with these arguments is not made, or undefined. The schema is not the gateway's own,
   * so the check runs in a thread with a budget.
   */
  async faultOf({ hash: key, tool }: Definition, args: Json): Promise<string | undefined> {
    const { unusable, fault } = await this.#schemas.check({
      key,
      schema: tool.inputSchema as Json,
      value: args,
    });
    if (unusable !== undefined)
      return `the schema of ${tool.name} cannot be used: ${unusable.slice(0, 500)}`;
    return fault && `the arguments of ${tool.name} are not valid: ${fault.slice(0, 2_000)}`;
  }
}

const KINDS: Readonly<Record<string, QuestionKind | undefined>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** A call of a tool. `logLevel`: the messages that its client wants, from this level on. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly _meta?: { readonly [key: string]: LoggingLevel } | undefined;
}

export interface Sending {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly toolDefinition: Tool;
}

function unreachable(why: string, cause?: unknown): McpError {
  return new McpError(
    'unreachable',
    `The MCP server behind the gateway cannot be reached: ${why}`,
    { cause },
  );
}
