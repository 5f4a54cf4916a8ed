import type { Client } from '@modelcontextprotocol/client';
import type {
  CallToolResult,
  GetPromptResult,
  InputRequiredResult,
  ReadResourceResult,
  RequestStateCodec,
  Server,
  ServerCapabilities,
  ServerContext,
} from '@modelcontextprotocol/server';
import { isAssizeError, isInstance, type Json } from '#base';
import { canonicalize } from '#canon';
import { callAnswer, errorAnswer, pendingAnswer } from './answers.ts';
import { type FlowEnd, gatedCall, type Question, type WaitingClient } from './call-flow.ts';
import { decisionForm, decisionOf, elicits } from './elicitation.ts';
import type { Gateway } from './gateway.ts';
import { loadServer } from './peers.ts';
import { isResultAddress } from './results.ts';
import { shownTool, visibleTexts } from './upstream/definitions.ts';
import { isRefusal } from './upstream/refusal.ts';

export interface GatewayServerOptions {
  readonly gateway: Gateway;
  /** The name of the server in the rules. */
  readonly server: string;
  readonly version: string;
  /** Seals the questions that a client carries until its person answers. */
  readonly codec: RequestStateCodec<Question>;
}

/** How long a client may carry a question. */
export const QUESTION_SECONDS = 3_600;

/** One connection of a client: an SDK server whose calls are judged by a gateway. */
export async function gatewayServer(options: GatewayServerOptions): Promise<Server> {
  const sdk = await loadServer();
  const { gateway, server: name, version, codec } = options;
  const upstream = await gateway.upstream.client();
  const capabilities = passedOn(upstream.getServerCapabilities());
  const server = new sdk.Server(
    { name: `assize-${name}`, version },
    {
      capabilities,
      requestState: { verify: codec.verify },
      inputRequired: { roundTimeoutMs: QUESTION_SECONDS * 1_000 },
    },
  );
  const connection = new Connection(options, server, sdk);
  const client = (): Promise<Client> => gateway.upstream.client();
  const limits = { timeout: gateway.limits.callMs };
  server.setRequestHandler('tools/list', () => connection.listTools());
  server.setRequestHandler('tools/call', ({ params }, ctx) => connection.callTool(params, ctx));
  server.setRequestHandler('resources/read', ({ params }, ctx) => connection.readResource(params.uri, ctx));
  server.setRequestHandler('resources/list', async ({ params }, ctx) => {
    if (capabilities.resources === undefined || upstream.getServerCapabilities()?.resources === undefined)
      return { resources: [] };
    return passed(await (await client()).listResources(params, { ...limits, signal: ctx.mcpReq.signal }));
  });
  server.setRequestHandler('resources/templates/list', async ({ params }, ctx) => {
    if (upstream.getServerCapabilities()?.resources === undefined) return { resourceTemplates: [] };
    return passed(await (await client()).listResourceTemplates(params, { ...limits, signal: ctx.mcpReq.signal }));
  });
  if (capabilities.prompts !== undefined) {
    server.setRequestHandler('prompts/list', async ({ params }, ctx) =>
      passed(await (await client()).listPrompts(params, { ...limits, signal: ctx.mcpReq.signal })),
    );
    server.setRequestHandler('prompts/get', ({ params }, ctx) => connection.getPrompt(params, ctx));
  }
  if (capabilities.completions !== undefined)
    server.setRequestHandler('completion/complete', async ({ params }, ctx) =>
      passed(await (await client()).complete(params, { ...limits, signal: ctx.mcpReq.signal })),
    );
  return server;
}

/** The capabilities that the gateway passes on. It always has tools and resources. */
function passedOn({ prompts, completions }: ServerCapabilities = {}): ServerCapabilities {
  return {
    tools: { listChanged: true },
    resources: { listChanged: true },
    ...(prompts !== undefined && { prompts: { listChanged: true } }),
    ...(completions !== undefined && { completions }),
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
    const tools = await this.#options.gateway.tools();
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
        return errorAnswer(`There is no tool ${params.name}, or its definition waits for approval.`);
      const args = params.arguments ?? {};
      const fault = faultOf(args) ?? (await gateway.argumentCheck.faultOf(tool, args));
      if (fault !== undefined) return errorAnswer(`The arguments of ${params.name} are not valid: ${fault}`);
      const end = await gatedCall<CallToolResult>(
        gateway,
        {
          tool: params.name,
          args: args as Readonly<Record<string, Json>>,
          definition: tool.hash,
          idempotent: tool.idempotent,
          make: async () => {
            const client = await gateway.upstream.client();
            // With the definition, the client neither validates the result nor sends a call twice.
            const { outputSchema: _, ...toolDefinition } = tool.tool;
            return passed(
              await client.callTool({ name: params.name, arguments: args }, { ...this.#sending(ctx), toolDefinition }),
            );
          },
          isFailure: ({ isError }) => isError === true,
          isRefusal: (error) => isRefusal(this.#sdk, error),
        },
        this.#waiting(ctx),
      );
      if (end.end === 'made')
        return this.#server.projectCallToolResult(callAnswer(end, tool.tool, gateway), tool.tool.outputSchema);
      if (end.end === 'ask') return this.#question(end, ctx);
      if (end.end === 'pending') return pendingAnswer(end, gateway.desk.pageOf(end.approval));
      if (end.end === 'failed') throw end.error;
      return errorAnswer(end.text);
    } catch (error) {
      if (isAssizeError(error)) return errorAnswer(`Nothing was called: ${error.message}`);
      throw error;
    }
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
        await (await gateway.upstream.client()).readResource({ uri }, { ...this.#sending(ctx), cacheMode: 'bypass' }),
      ),
    );
  }

  async getPrompt(
    params: { readonly name: string; readonly arguments?: Record<string, string> | undefined },
    ctx: ServerContext,
  ): Promise<Asked<GetPromptResult>> {
    const { name, arguments: args = {} } = params;
    return this.#gated('prompts.get', { name, arguments: args }, ctx, async () =>
      passed(
        await (await this.#options.gateway.upstream.client()).getPrompt({ name, arguments: args }, this.#sending(ctx)),
      ),
    );
  }

  /** A request whose result cannot say that it failed, so refusals are errors of the protocol. */
  async #gated<R extends object>(
    tool: string,
    args: Readonly<Record<string, Json>>,
    ctx: ServerContext,
    make: () => Promise<R>,
  ): Promise<Asked<R>> {
    const { gateway } = this.#options;
    const refused = (error: unknown): boolean => isRefusal(this.#sdk, error);
    try {
      const end = await gatedCall<R>(
        gateway,
        { tool, args, idempotent: true, make, isRefusal: refused },
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
      inputRequests: { [APPROVAL]: inputRequired.elicit({ message: visibleTexts(text) as string, requestedSchema }) },
      requestState: await this.#options.codec.mint(question, ctx),
    });
  }

  #waiting(ctx: ServerContext): WaitingClient {
    const { inputResponse } = this.#sdk;
    const { mcpReq } = ctx;
    const question = mcpReq.requestState<Question>();
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
    return {
      signal: mcpReq.signal,
      timeout: callMs,
      resetTimeoutOnProgress: true,
      maxTotalTimeout: callMs * 6,
      ...(token !== undefined && {
        onprogress: (progress: object) => {
          const params = { ...progress, progressToken: token };
          void mcpReq.notify({ method: 'notifications/progress', params } as never).catch(() => undefined);
        },
      }),
    };
  }
}

const APPROVAL = 'approval';

/** Why arguments have no canonical text, so that no approval could name them exactly. */
function faultOf(args: object): string | undefined {
  try {
    canonicalize(args as Json);
    return undefined;
  } catch (error) {
    if (isAssizeError(error)) return error.message;
    if (isInstance(error, Error)) return 'they are no JSON';
    throw error;
  }
}

/** An answer of the server, without the name that it gives itself. */
export function passed<R extends object>(result: R): R {
  const { _meta, ...rest } = result as { readonly _meta?: Readonly<Record<string, unknown>> };
  if (_meta === undefined) return result;
  const own = Object.entries(_meta).filter(([key]) => !key.startsWith('io.modelcontextprotocol/'));
  return { ...rest, ...(own.length > 0 && { _meta: Object.fromEntries(own) }) } as R;
}
