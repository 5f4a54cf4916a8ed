import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import type {
  CallToolResult,
  CompleteRequest,
  CompleteResult,
  GetPromptResult,
  InputRequest,
  InputRequiredResult,
  LoggingLevel,
  LoggingMessageNotificationParams,
  Progress,
  ReadResourceResult,
  RequestStateCodec,
  Server,
  ServerCapabilities,
  ServerContext,
} from '@modelcontextprotocol/server';
import { isAssizeError, isInstance, type Json } from 'assize/internal/base';
import { canonicalize, contentHash } from 'assize/internal/canon';
import { callAnswer, errorAnswer, pendingAnswer } from './answers.ts';
import { type FlowEnd, gatedCall, type Question, type WaitingClient } from './call-flow.ts';
import type { AskedCall } from './desk/call-desk.ts';
import { capabilitiesOf, decisionForm, decisionOf, elicits } from './elicitation.ts';
import type { Gateway } from './gateway.ts';
import { loadServer } from './peers.ts';
import { isResultAddress, passed } from './results.ts';
import { Budget } from './talk/budget.ts';
import { Conversation, type ServerQuestion } from './talk/conversation.ts';
import { QUESTION_SECONDS } from './talk/conversations.ts';
import { shownProgress } from './talk/messages.ts';
import { questionAnswered } from './talk/server-question.ts';
import { toolCall } from './tool-call.ts';
import { type Definition, shownTool, visibleTexts } from './upstream/definitions.ts';
import { isRefusal } from './upstream/refusal.ts';
import type { Talker, ToolCall } from './upstream/upstream.ts';

export interface GatewayServerOptions {
  readonly gateway: Gateway;
  /** The name of the server in the rules. */
  readonly server: string;
  readonly version: string;
  /** Seals the questions that a client carries until its person answers. */
  readonly codec: RequestStateCodec<Carried>;
  /**
   * The resources whose updates the client gets. Absent: the client cannot get updates,
   * because its connection ends with each request.
   */
  readonly subscriptions?: Set<string> | undefined;
}

/** The question that a client carries until its person or its program has answered. */
export type Carried = Question | Continued;

/** A call that goes on with the answer to a question of the server. */
interface Continued {
  readonly conversation: string;
  readonly number: number;
}

/** One connection of a client: an SDK server whose calls are judged by a gateway. */
export async function gatewayServer(options: GatewayServerOptions): Promise<Server> {
  const sdk = await loadServer();
  const { gateway, server: name, version, codec, subscriptions } = options;
  const upstream = await gateway.client();
  const capabilities = passedOn(upstream.getServerCapabilities(), subscriptions !== undefined);
  const server = new sdk.Server(
    { name: `assize-${name}`, version },
    {
      capabilities,
      requestState: { verify: codec.verify },
      inputRequired: { roundTimeoutMs: QUESTION_SECONDS * 1_000 },
    },
  );
  const connection = new Connection(options, server, sdk);
  const client = (): Promise<Client> => gateway.client();
  const limits = { timeout: gateway.limits.callMs };
  server.setRequestHandler('tools/list', () => connection.listTools());
  server.setRequestHandler('tools/call', ({ params }, ctx) => connection.callTool(params, ctx));
  server.setRequestHandler('resources/read', ({ params }, ctx) =>
    connection.readResource(params.uri, ctx),
  );
  // A list is empty where no call may read its entries.
  const mayList = async (kind: 'resources' | 'prompts'): Promise<boolean> =>
    upstream.getServerCapabilities()?.[kind] !== undefined && (await gateway.view()).lists[kind];
  server.setRequestHandler('resources/list', async ({ params }, ctx) => {
    if (capabilities.resources === undefined || !(await mayList('resources')))
      return { resources: [] };
    return passed(
      await (await client()).listResources(params, { ...limits, signal: ctx.mcpReq.signal }),
    );
  });
  if (capabilities.resources?.subscribe === true) {
    server.setRequestHandler('resources/subscribe', ({ params }, ctx) =>
      connection.subscribe(params.uri, ctx),
    );
    server.setRequestHandler('resources/unsubscribe', ({ params }, ctx) =>
      connection.unsubscribe(params.uri, ctx),
    );
  }
  server.setRequestHandler('resources/templates/list', async ({ params }, ctx) => {
    if (!(await mayList('resources'))) return { resourceTemplates: [] };
    return passed(
      await (await client()).listResourceTemplates(params, {
        ...limits,
        signal: ctx.mcpReq.signal,
      }),
    );
  });
  if (capabilities.prompts !== undefined) {
    server.setRequestHandler('prompts/list', async ({ params }, ctx) => {
      if (!(await mayList('prompts'))) return { prompts: [] };
      return passed(
        await (await client()).listPrompts(params, { ...limits, signal: ctx.mcpReq.signal }),
      );
    });
    server.setRequestHandler('prompts/get', ({ params }, ctx) => connection.getPrompt(params, ctx));
  }
  if (capabilities.completions !== undefined)
    server.setRequestHandler('completion/complete', ({ params }, ctx) =>
      connection.complete(params, ctx),
    );
  return server;
}

/** The capabilities that the gateway passes on. It always has tools and resources. */
function passedOn(
  { prompts, completions, logging, resources }: ServerCapabilities = {},
  hasUpdates: boolean,
): ServerCapabilities {
  return {
    tools: { listChanged: true },
    resources: {
      listChanged: true,
      ...(hasUpdates && resources?.subscribe === true && { subscribe: true }),
    },
    ...(prompts !== undefined && { prompts: { listChanged: true } }),
    ...(completions !== undefined && { completions }),
    ...(logging !== undefined && { logging }),
  };
}

type ServerSdk = Awaited<ReturnType<typeof loadServer>>;
type Asked<R> = R | InputRequiredResult;

class Connection {
  readonly #options: GatewayServerOptions;
  readonly #server: Server;
  readonly #sdk: ServerSdk;

  constructor(options: GatewayServerOptions, server: Server, sdk: ServerSdk) {
    this.#options = options;
    this.#server = server;
    this.#sdk = sdk;
  }

  async listTools() {
    const tools = await this.#options.gateway.listed();
    return { tools: [...tools.values()].map(shownTool) };
  }

  /** A tool call. What the gateway says itself is a result with `isError`, so models read it. */
  async callTool(
    params: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
    ctx: ServerContext,
  ): Promise<Asked<CallToolResult>> {
    const { gateway } = this.#options;
    try {
      const tool = await gateway.tool(params.name);
      if (tool === undefined)
        return errorAnswer(
          `There is no tool ${params.name} here: the rules deny it, its definition waits for approval, or the server does not have it.`,
        );
      const args = params.arguments ?? {};
      const misfit = faultOf(args);
      if (misfit !== undefined)
        return errorAnswer(`The arguments of ${params.name} are not valid: ${misfit}`);
      const fault = await gateway.upstream.faultOf(tool, args as Json);
      if (fault !== undefined) return errorAnswer(`Nothing was called: ${fault}`);
      return await this.#talked(
        ctx,
        `${params.name}|${tool.hash}|${contentHash(args as Json)}`,
        (talk) => this.#called(params.name, tool, args, ctx, talk),
      );
    } catch (error) {
      if (isAssizeError(error)) return errorAnswer(`Nothing was called: ${error.message}`);
      throw error;
    }
  }

  /** Makes a call, or continues one with the client's answer to a question. */
  async #talked(
    ctx: ServerContext,
    about: string,
    begin: (talk: Conversation<Asked<CallToolResult>>) => Promise<Asked<CallToolResult>>,
  ): Promise<Asked<CallToolResult>> {
    const { conversations, limits } = this.#options.gateway;
    const carried = ctx.mcpReq.requestState<Carried>();
    const { onprogress } = this.#sending(ctx);
    const round = {
      signal: ctx.mcpReq.signal,
      ...(onprogress !== undefined && { progress: onprogress }),
      log: ({ level, data, logger }: LoggingMessageNotificationParams) =>
        void ctx.mcpReq.log(level, data, logger).catch(() => undefined),
    };
    let talk: Conversation<Asked<CallToolResult>>;
    if (carried !== undefined && 'conversation' in carried) {
      const found = conversations.find(carried.conversation);
      if (found === undefined)
        return errorAnswer(
          'The call of this answer was made and is over, and its result is not kept any more.',
        );
      if (found.about !== about)
        return errorAnswer('The answer is for other arguments, so it was not passed on.');
      if (!found.answer(carried.number, ctx.mcpReq.inputResponses?.[ANSWER]) && !found.isEnded)
        return errorAnswer('The question has been answered already.');
      talk = found as Conversation<Asked<CallToolResult>>;
    } else {
      talk = new Conversation(about, limits.callMs);
      conversations.add(talk as Conversation<unknown>);
      const ended = (): void => conversations.ended(talk as Conversation<unknown>);
      talk.begin(begin(talk).finally(ended));
    }
    const turn = await talk.next(round);
    if ('end' in turn) return turn.end;
    const { inputRequired } = this.#sdk;
    return inputRequired({
      inputRequests: { [ANSWER]: turn.question as InputRequest },
      requestState: await this.#options.codec.mint(
        { conversation: talk.id, number: turn.number },
        ctx,
      ),
    });
  }

  async #called(
    name: string,
    tool: Definition & { readonly idempotent: boolean },
    args: object,
    ctx: ServerContext,
    talk: Conversation<Asked<CallToolResult>>,
  ): Promise<Asked<CallToolResult>> {
    const { gateway, server } = this.#options;
    const capabilities = capabilitiesOf(this.#sdk, this.#server, ctx);
    const ask = (question: ServerQuestion): Promise<unknown> => talk.ask(question);
    const talker: Omit<Talker, 'user'> = {
      asked: (question, signal) =>
        questionAnswered(gateway, question, { server, capabilities, signal, ask }),
      log: (message) => talk.log(message),
    };
    const { onprogress, ...sending } = this.#sending(ctx);
    const sent = {
      ...{ ...sending, signal: talk.signal },
      ...(onprogress !== undefined && {
        onprogress: (progress: Progress) => talk.progress(progress),
      }),
    };
    const call = { name, arguments: args as Record<string, unknown>, ...this.#logLevel(ctx) };
    try {
      const end = await gatedCall<CallToolResult>(
        gateway,
        {
          ...toolCall(call, tool, { gateway, sdk: this.#sdk, sending: sent, talker }),
          ...{ args: args as Readonly<Record<string, Json>>, idempotent: tool.idempotent },
        },
        this.#waiting(ctx),
      );
      if (end.end === 'made')
        return this.#server.projectCallToolResult(
          callAnswer(end, tool.tool, gateway),
          tool.tool.outputSchema,
        );
      if (end.end === 'ask') return this.#question(end, ctx);
      if (end.end === 'pending') return pendingAnswer(end, gateway.desk.pageOf(end.approval));
      if (end.end === 'failed') throw end.error;
      return errorAnswer(end.text, end.end === 'refused' ? end.ruling : undefined);
    } catch (error) {
      if (isAssizeError(error)) return errorAnswer(`Nothing was called: ${error.message}`);
      throw error;
    }
  }

  /** A server of 2026 logs only for a request that says from which level on. */
  #logLevel({ mcpReq }: ServerContext): Pick<ToolCall, '_meta'> {
    const key = this.#sdk.LOG_LEVEL_META_KEY;
    const envelope = mcpReq.envelope as Readonly<Record<string, LoggingLevel>> | undefined;
    // A client of 2025 sends its level to the gateway, and the gateway drops lower messages.
    const level = envelope === undefined ? 'info' : envelope[key];
    return level === undefined ? {} : { _meta: { [key]: level } };
  }

  async readResource(uri: string, ctx: ServerContext): Promise<Asked<ReadResourceResult>> {
    const { gateway } = this.#options;
    if (isResultAddress(uri)) {
      const text = gateway.results.read(uri);
      if (text === undefined) throw new this.#sdk.ResourceNotFoundError(uri);
      return { contents: [{ uri, mimeType: 'application/json', text }] };
    }
    return this.#gated('resources.read', { uri }, ctx, async () =>
      passed(
        await (await gateway.client()).readResource(
          { uri },
          { ...this.#sending(ctx), cacheMode: 'bypass' },
        ),
      ),
    );
  }

  /** A subscription tells of a resource, so the rules for reading it decide, too. */
  async subscribe(uri: string, ctx: ServerContext): Promise<Asked<object>> {
    const { gateway, server, subscriptions } = this.#options;
    if ((subscriptions?.size ?? 0) >= SUBSCRIPTIONS_MAX)
      throw this.#refused(`A client has at most ${SUBSCRIPTIONS_MAX} subscriptions.`);
    const parts = [{ server, tool: 'resources.read', args: { uri } }];
    return this.#gated(
      'resources.subscribe',
      { uri },
      ctx,
      async () => {
        await (await gateway.client()).subscribeResource({ uri }, this.#sending(ctx));
        subscriptions?.add(uri);
        return {};
      },
      parts,
    );
  }

  async unsubscribe(uri: string, ctx: ServerContext): Promise<object> {
    const { gateway, subscriptions } = this.#options;
    if (subscriptions?.delete(uri) === true)
      await (await gateway.client()).unsubscribeResource({ uri }, this.#sending(ctx));
    return {};
  }

  async getPrompt(
    params: { readonly name: string; readonly arguments?: Record<string, string> | undefined },
    ctx: ServerContext,
  ): Promise<Asked<GetPromptResult>> {
    const { name, arguments: args = {} } = params;
    return this.#gated('prompts.get', { name, arguments: args }, ctx, async () =>
      passed(
        await (await this.#options.gateway.client()).getPrompt(
          { name, arguments: args },
          this.#sending(ctx),
        ),
      ),
    );
  }

  /**
   * Completions of a prompt or of a resource template that the rules let the client read without a
   * question. Otherwise there are none, so that no letter typed waits for a person.
   */
  async complete(params: CompleteRequest['params'], ctx: ServerContext): Promise<CompleteResult> {
    const { gateway, server } = this.#options;
    const { ref, argument, context } = params;
    const typed = { ...context?.arguments, [argument.name]: argument.value };
    const part =
      ref.type === 'ref/prompt'
        ? { server, tool: 'prompts.get', args: { name: ref.name, arguments: typed } }
        : { server, tool: 'resources.read', args: { uri: ref.uri } };
    const args = JSON.parse(JSON.stringify({ ref, argument, context })) as Readonly<
      Record<string, Json>
    >;
    const tool = 'completion.complete';
    const none: CompleteResult = { completion: { values: [] } };
    if (!(await gateway.desk.allows({ id: randomUUID(), tool, args, parts: [part] }))) return none;
    const make = async (): Promise<CompleteResult> => {
      const { signal, timeout } = this.#sending(ctx);
      return passed(await (await gateway.client()).complete(params, { signal, timeout }));
    };
    const found = await this.#gated(tool, args, ctx, make, [part]);
    return 'completion' in found ? (found as CompleteResult) : none;
  }

  /** A request whose result cannot say that it failed, so refusals are errors of the protocol. */
  async #gated<R extends object>(
    tool: string,
    args: Readonly<Record<string, Json>>,
    ctx: ServerContext,
    make: () => Promise<R>,
    parts?: AskedCall['parts'],
  ): Promise<Asked<R>> {
    const { gateway } = this.#options;
    const refused = (error: unknown): boolean => isRefusal(this.#sdk, error);
    try {
      const end = await gatedCall<R>(
        gateway,
        { tool, args, parts, idempotent: true, make, isRefusal: refused },
        this.#waiting(ctx),
      );
      if (end.end === 'made') return end.result;
      if (end.end === 'ask') return await this.#question(end, ctx);
      if (end.end === 'failed') throw end.error;
      throw this.#refused(end.text);
    } catch (error) {
      throw isAssizeError(error) ? this.#refused(error.message) : error;
    }
  }

  #refused(text: string): Error {
    return new this.#sdk.ProtocolError(this.#sdk.ProtocolErrorCode.InvalidRequest, text);
  }

  async #question(
    { question, text }: FlowEnd<never> & { end: 'ask' },
    ctx: ServerContext,
  ): Promise<InputRequiredResult> {
    const { inputRequired } = this.#sdk;
    const requestedSchema = decisionForm('Approve this call, once');
    return inputRequired({
      inputRequests: {
        [APPROVAL]: inputRequired.elicit({
          message: visibleTexts(text) as string,
          requestedSchema,
        }),
      },
      requestState: await this.#options.codec.mint(question, ctx),
    });
  }

  #waiting(ctx: ServerContext): WaitingClient {
    const { inputResponse } = this.#sdk;
    const { mcpReq } = ctx;
    const carried = mcpReq.requestState<Carried>();
    const question = carried !== undefined && 'digest' in carried ? carried : undefined;
    const token = mcpReq._meta?.progressToken;
    let progress = 0;
    return {
      signal: mcpReq.signal,
      elicits: elicits(this.#sdk, this.#server, ctx),
      ...(token !== undefined && {
        progress: async (message) => {
          const params = { progressToken: token, progress: ++progress, message };
          await mcpReq.notify({ method: 'notifications/progress', params });
        },
      }),
      ...(question !== undefined && {
        answer: { question, decision: decisionOf(inputResponse(mcpReq.inputResponses, APPROVAL)) },
      }),
    };
  }

  /** Progress and cancellation go through. A server that shows progress has more time. */
  #sending({ mcpReq }: ServerContext) {
    const { callMs } = this.#options.gateway.limits;
    const token = mcpReq._meta?.progressToken;
    const budget = new Budget(PROGRESS_MAX, PROGRESS_MS);
    return {
      signal: mcpReq.signal,
      timeout: callMs,
      resetTimeoutOnProgress: true,
      maxTotalTimeout: callMs * 6,
      ...(token !== undefined && {
        onprogress: (progress: Progress) => {
          if (budget.take() === 'dropped') return;
          const params = { ...shownProgress(progress), progressToken: token };
          void mcpReq
            .notify({ method: 'notifications/progress', params } as never)
            .catch(() => undefined);
        },
      }),
    };
  }
}

const APPROVAL = 'approval';
const ANSWER = 'answer';
/** Signs of progress of one call that are passed on in ten seconds. */
const PROGRESS_MAX = 500;
const PROGRESS_MS = 10_000;
const SUBSCRIPTIONS_MAX = 200;

/** Why arguments have no canonical text, so that no approval could name them exactly. */
function faultOf(args: object): string | undefined {
  try {
    canonicalize(args as Json);
    return undefined;
  } catch (error) {
    if (isAssizeError(error)) return error.message;
    if (isInstance(error, Error)) return 'they are not JSON';
    throw error;
  }
}
