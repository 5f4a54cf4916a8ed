import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const peers = join(import.meta.dirname, '../../../peers');

/** Where `npm ci --prefix peers` installed Mastra. */
export const MASTRA_MODULES: string = join(peers, 'node_modules');

export const hasMastra: boolean = existsSync(join(MASTRA_MODULES, '@mastra/core/package.json'));

/** A part of a stream of an agent. */
export interface Chunk {
  readonly type: string;
  readonly payload: {
    readonly toolCallId: string;
    readonly suspendPayload: unknown;
    readonly result: unknown;
    readonly error: { readonly message: string };
  };
}

export interface Streamed {
  readonly runId: string;
  readonly fullStream: AsyncIterable<Chunk>;
}

export interface MastraAgent {
  stream(messages: string, options: object): Promise<Streamed>;
  resumeStream(answer: unknown, options: object): Promise<Streamed>;
  generate(
    messages: string,
    options: object,
  ): Promise<{ runId: string; finishReason: string; suspendPayload: unknown }>;
  resumeGenerate(
    answer: unknown,
    options: object,
  ): Promise<{ finishReason: string; suspendPayload: unknown }>;
  approveToolCall(options: object): Promise<Streamed>;
  listSuspendedRuns(): Promise<{
    runs: { runId: string; toolCalls: { suspendPayload: unknown }[] }[];
  }>;
}

export interface WorkflowEnd {
  readonly status: string;
  readonly suspendPayload?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export interface WorkflowRun {
  readonly runId: string;
  start(options: object): Promise<WorkflowEnd>;
  resume(options: object): Promise<WorkflowEnd>;
  timeTravel(options: object): Promise<WorkflowEnd>;
}

export interface MastraInstance {
  getAgent(name: string): MastraAgent;
  getWorkflow(name: string): { createRun(options?: object): Promise<WorkflowRun> };
}

/** The builder of a workflow. */
export interface WorkflowDraft {
  then(step: unknown): WorkflowDraft;
  parallel(steps: readonly unknown[]): WorkflowDraft;
  commit(): object;
}

type Class<T> = new (options: object) => T;

/** The parts of Mastra that tests use. The root of the project has no types of them. */
export interface MastraPackages {
  readonly Agent: Class<object>;
  readonly Mastra: Class<MastraInstance>;
  readonly LibSQLStore: Class<object>;
  readonly MockModel: Class<object>;
  readonly RequestContext: new () => { set(name: string, value: unknown): void };
  readonly createTool: <T>(options: T) => T & { readonly id: string };
  readonly createStep: (tool: unknown) => object;
  readonly createWorkflow: (options: object) => WorkflowDraft;
}

/** Mastra, if it is installed. */
export function mastraPackages(): MastraPackages {
  const load = createRequire(join(peers, 'package.json'));
  return {
    ...load('@mastra/core/agent'),
    ...load('@mastra/core/mastra'),
    ...load('@mastra/core/tools'),
    ...load('@mastra/core/workflows'),
    ...load('@mastra/core/request-context'),
    ...load('@mastra/libsql'),
    MockModel: load('@mastra/core/test-utils/llm-mock').MastraLanguageModelV2Mock,
  } as MastraPackages;
}
