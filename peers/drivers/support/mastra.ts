/** The common part of the drivers of Mastra: an agent with its state in SQLite. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type {
  Answers,
  DriverHandlers,
  DriverSetup,
  PersonAnswer,
  Progress,
  Told,
  ToolName,
  WaitingCall,
  WantedCall,
} from '@assize/testing/conformance';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { z } from 'zod';
import { FREE_SCHEMAS } from './free-tools.ts';
import { JsonFiles } from './json-file.ts';
import { versionsOf } from './versions.ts';

/** A call that waits, as Mastra lists it. */
export interface SuspendedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args?: unknown;
  readonly suspendPayload?: unknown;
}

/** A call that a client was shown, with the run of Mastra in which it waits. */
export interface ShownCall extends WaitingCall {
  readonly runId: string;
  readonly listed: SuspendedCall;
}

export interface MastraParts {
  /** Changes the tools, such as by a gate. */
  readonly tools: <T extends Record<string, object>>(tools: T, run: string) => T;
  /** Members of the tools that ask. */
  readonly asking?: object;
  /** The call as a person is shown it. */
  readonly shownOf: (listed: SuspendedCall) => Omit<WaitingCall, 'call'>;
  /** Hands an answer to the run that waits. */
  readonly answer: (agent: Agent, given: GivenAnswer) => Promise<Streamed>;
  /** Goes on with an interrupted run. Absent: Mastra goes on with an answer only. */
  readonly goOn?: (agent: Agent, runId: string) => Promise<Streamed>;
}

export interface GivenAnswer {
  readonly runId: string;
  readonly toolCallId: string | undefined;
  readonly answer: PersonAnswer;
  /** The question about the call that the answer names, if a client was shown one. */
  readonly shown: ShownCall | undefined;
}

type Streamed = Awaited<ReturnType<Agent['stream']>>;
type OtherCall = Pick<WantedCall, 'tool' | 'args'>;
type Handlers = Omit<DriverHandlers, 'name' | 'versions' | 'cannot'>;

export const MASTRA_VERSIONS = versionsOf('@mastra/core', '@mastra/libsql');

export const NO_FORK = 'an agent has no time travel';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** The operations of an agent with these tools. */
export function mastraHandlers({ folder, effect }: DriverSetup, parts: MastraParts): Handlers {
  const wanted = new JsonFiles<readonly WantedCall[]>(folder, 'calls');
  const runIds = new JsonFiles<readonly string[]>(folder, 'runs');
  const shown = new JsonFiles<readonly ShownCall[]>(folder, 'shown');
  const file = join(folder, 'mastra.db');
  const storage = new LibSQLStore({ id: 'state', url: `file:${file}` });

  function agentOf(run: string): Agent {
    const made = (id: ToolName, inputSchema: z.ZodType, more: object = {}) =>
      createTool({
        ...{ id, description: id, inputSchema, outputSchema: z.string(), ...more },
        execute: async (args: any, { agent, abortSignal }: any) =>
          effect({ run, call: agent.toolCallId, tool: id, args }, { signal: abortSignal }),
      } as never);
    const asking = (id: ToolName) =>
      made(id, z.object({ to: z.string(), cents: z.number() }), parts.asking);
    const free = (['note', 'get', 'set'] as const).map((id) => [id, made(id, FREE_SCHEMAS[id])]);
    const asked = { pay: asking('pay'), refund: asking('refund') };
    const tools = parts.tools({ ...asked, ...Object.fromEntries(free) }, run);
    const model = modelOf(() => wanted.read(run) ?? []);
    const agent = new Agent({
      id: 'payer',
      name: 'payer',
      instructions: 'Pay.',
      model: model as never,
      tools,
    } as never);
    return new Mastra({ agents: { agent }, storage, logger: false }).getAgent(
      'agent',
    ) as unknown as Agent;
  }

  /** The run of Mastra in which the last message of a run is answered. */
  function currentOf(run: string): string {
    const current = runIds.read(run)?.at(-1);
    if (current === undefined) throw new Error(`there is no run ${run}`);
    return current;
  }

  async function waitingOf(run: string): Promise<readonly ShownCall[]> {
    const { runs } = await agentOf(run).listSuspendedRuns();
    const current = currentOf(run);
    return runs
      .filter(({ runId }) => runId === current)
      .flatMap(({ runId, toolCalls }) =>
        (toolCalls as SuspendedCall[]).map((listed) => ({
          ...{ call: listed.toolCallId, runId, listed },
          ...parts.shownOf(listed),
        })),
      );
  }

  async function progressOf(run: string, streamed: Streamed): Promise<Progress> {
    const told: Told[] = [];
    for await (const { type, payload } of streamed.fullStream as AsyncIterable<any>) {
      const call = payload?.toolCallId;
      if (type === 'tool-result') told.push({ call, ...resultOf(payload.result) });
      if (type === 'tool-error')
        told.push({ call, isError: true, text: String(payload.error?.message) });
      if (type === 'tool-output-denied') told.push({ call, isError: true, text: 'denied' });
      if (type === 'error') throw payload.error;
    }
    const waiting = await waitingOf(run);
    if (waiting.length === 0) return { state: 'done', told };
    // A client keeps the question that it was shown.
    const older = (shown.read(run) ?? []).filter(
      ({ call }) => !waiting.some((each) => each.call === call),
    );
    shown.write(run, [...older, ...waiting]);
    return { state: 'paused', waiting: waiting.map(plain), told };
  }

  async function resume(run: string, answers: Answers): Promise<Progress> {
    const runs = [run, ...runIds.runs().filter((each) => each !== run)];
    const named = Object.entries(answers);
    const given: (readonly [string | undefined, PersonAnswer])[] =
      named.length > 0 ? named : [[undefined, null]];
    let progress: Progress | undefined;
    for (const [call, answer] of given) {
      const found = runs
        .flatMap((each) => shown.read(each) ?? [])
        .find((each) => each.call === call);
      const own = (shown.read(run) ?? []).find((each) => each.call === call);
      // A client names the run of the page on which the button is.
      const runId = own?.runId ?? currentOf(run);
      const streamed = await parts.answer(agentOf(run), {
        runId,
        toolCallId: call,
        answer,
        shown: own ?? found,
      });
      progress = await progressOf(run, streamed);
    }
    return progress as Progress;
  }

  return {
    async start({ run, calls }) {
      wanted.write(run, calls);
      const before = runIds.read(run) ?? [];
      const runId = before.length === 0 ? run : `${run}.${before.length + 1}`;
      runIds.write(run, [...before, runId]);
      return progressOf(run, await agentOf(run).stream('go', { runId }));
    },
    resume: ({ run, answers }) => resume(run, answers),
    async retry({ run }) {
      if (parts.goOn !== undefined)
        return progressOf(run, await parts.goOn(agentOf(run), currentOf(run)));
      const waiting = await waitingOf(run);
      return waiting.length === 0
        ? { state: 'done' }
        : { state: 'paused', waiting: waiting.map(plain) };
    },
    tamper: async ({ call, tool, args }) => tamper(file, call, { tool, args }),
    end: async () => [],
    shown: async ({ run }) => (await waitingOf(run)).map(plain),
  };
}

function plain({ call, tool, args }: WaitingCall): WaitingCall {
  return { call, tool, args };
}

/** A tool that ends with a text, and the answer of Mastra in its place. */
function resultOf(result: unknown): Omit<Told, 'call'> {
  const isError =
    typeof result === 'object' && result !== null && (result as { error?: unknown }).error === true;
  return { isError, text: typeof result === 'string' ? result : JSON.stringify(result) };
}

function modelOf(calls: () => readonly WantedCall[]) {
  const answer = (prompt: readonly { role: string }[]) =>
    prompt.at(-1)?.role === 'tool'
      ? {
          parts: [
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'bye' },
            { type: 'text-end', id: 't' },
          ],
          finishReason: 'stop',
        }
      : {
          parts: calls().map(({ id, tool, args }) => ({
            type: 'tool-call',
            toolCallId: id,
            toolName: tool,
            input: JSON.stringify(args),
          })),
          finishReason: 'tool-calls',
        };
  return new MastraLanguageModelV2Mock({
    doStream: async ({ prompt }: any) => {
      const { parts, finishReason } = answer(prompt);
      const chunks = [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', finishReason, usage },
      ];
      return { stream: ReadableStream.from(chunks) as never };
    },
  } as never);
}

/** Changes a call in every snapshot. */
function tamper(file: string, call: string, other: OtherCall): number {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    let changed = 0;
    const rows = database
      .prepare('SELECT rowid AS row, json(snapshot) AS text FROM mastra_workflow_snapshot')
      .all();
    for (const { row, text } of rows) {
      const found = replaced(JSON.parse(text as string), call, other);
      if (found.changed === 0) continue;
      changed += found.changed;
      const change = database.prepare(
        'UPDATE mastra_workflow_snapshot SET snapshot = jsonb(?) WHERE rowid = ?',
      );
      change.run(JSON.stringify(found.value), row as number);
    }
    return changed;
  } finally {
    database.close();
  }
}

function replaced(
  value: unknown,
  call: string,
  { tool, args }: OtherCall,
): { readonly changed: number; readonly value: unknown } {
  let changed = 0;
  const text = JSON.stringify(value, (_, member) => {
    if (typeof member !== 'object' || member === null || member.toolCallId !== call) return member;
    const names = ['args', 'input'].filter((name) => typeof member[name] === 'object');
    changed += names.length;
    const named = typeof member.toolName === 'string' && { toolName: tool };
    return { ...member, ...named, ...Object.fromEntries(names.map((name) => [name, args])) };
  });
  return { changed, value: JSON.parse(text) };
}
