/** The common part of the drivers of LangGraph: an agent of LangChain with checkpoints in SQLite. */
import { join } from 'node:path';
import type {
  DriverHandlers,
  DriverSetup,
  PersonAnswer,
  Progress,
  Told,
  ToolName,
  WaitingCall,
  WantedCall,
} from '@assize/testing/conformance';
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { Command } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { type AgentMiddleware, createAgent, tool } from 'langchain';
import { z } from 'zod';
import { FREE_SCHEMAS, TOOLS } from './free-tools.ts';
import { JsonFiles } from './json-file.ts';
import { NodeSqlite } from './node-sqlite.ts';
import { versionsOf } from './versions.ts';

/** An interrupt with the request of LangChain for a person. */
export interface Question {
  readonly id: string;
  readonly value: {
    readonly actionRequests: readonly {
      readonly name: string;
      readonly args: WantedCall['args'];
    }[];
  };
}

/** A call that a client was shown, with the question to which it belongs. */
interface ShownCall extends WaitingCall {
  readonly question: Question;
}

export interface LangGraphParts {
  readonly middleware: AgentMiddleware;
  /** The ids of the calls of a question, in its order. */
  readonly callsOf: (
    question: Question,
    asking: readonly WantedCall[],
    run: string,
  ) => readonly string[];
  /** The value with which a question is answered. */
  readonly answer: (question: Question, decisions: readonly unknown[]) => unknown;
  /** Whether an answer is sent without the id of its interrupt. */
  readonly isUnnamed?: boolean;
}

type OtherCall = Pick<WantedCall, 'tool' | 'args'>;
type Handlers = Omit<DriverHandlers, 'name' | 'versions' | 'cannot'>;

export const LANGGRAPH_VERSIONS = versionsOf(
  'langchain',
  '@langchain/langgraph',
  '@langchain/langgraph-checkpoint-sqlite',
);

/** The operations of an agent with this middleware. */
export function langGraphHandlers(
  setup: DriverSetup,
  { middleware, callsOf, answer, isUnnamed = false }: LangGraphParts,
): Handlers {
  const { folder, effect } = setup;
  const wanted = new JsonFiles<readonly WantedCall[]>(folder, 'calls');
  const shown = new JsonFiles<readonly ShownCall[]>(folder, 'shown');
  const sqlite = new NodeSqlite(join(folder, 'checkpoints.db'));
  const checkpointer = new SqliteSaver(sqlite as never);

  const money = z.object({ to: z.string(), cents: z.number() });
  const schemas = { pay: money, refund: money, ...FREE_SCHEMAS };
  const tools = TOOLS.map((name) =>
    tool(
      async (args: any, { toolCall, configurable, signal }: any) =>
        effect({ run: configurable.thread_id, call: toolCall.id, tool: name, args }, { signal }),
      { name, description: name, schema: schemas[name] as never },
    ),
  );

  function agentOf(run: string) {
    const model = fakeModel();
    const respond = (messages: readonly BaseMessage[]) =>
      messages.at(-1)?.type === 'tool'
        ? new AIMessage('bye')
        : new AIMessage({
            content: '',
            tool_calls: (wanted.read(run) ?? []).map(({ id, tool, args }) => ({
              id,
              name: tool,
              args: { ...args },
            })),
          });
    for (let i = 0; i < 20; i++) model.respond(respond as never);
    return createAgent({ model, tools, middleware: [middleware], checkpointer }).graph;
  }

  async function waitingOf(run: string): Promise<readonly ShownCall[]> {
    const { tasks, values } = await agentOf(run).getState({ configurable: { thread_id: run } });
    const last = ((values as { messages?: BaseMessage[] }).messages ?? []).findLast(
      (message) => message.type === 'ai',
    );
    const asking = ((last as AIMessage | undefined)?.tool_calls ?? []).filter(
      ({ name }) => name === 'pay' || name === 'refund',
    );
    const calls = asking.map(({ id = '', name, args }) => ({ id, tool: name as ToolName, args }));
    return tasks
      .flatMap(({ interrupts }) => interrupts as unknown as Question[])
      .flatMap((question) => {
        const ids = callsOf(question, calls, run);
        return question.value.actionRequests.map(({ name, args }, i) => ({
          ...{ call: ids[i] ?? '', tool: name, args, question },
        }));
      });
  }

  async function invoke(run: string, input: unknown, more: object = {}): Promise<Progress> {
    const { messages, __interrupt__ } = (await agentOf(run).invoke(input as never, {
      configurable: { thread_id: run, ...more },
    })) as { messages: BaseMessage[]; __interrupt__?: readonly unknown[] };
    const told: Told[] = messages
      .filter((message) => ToolMessage.isInstance(message))
      .map(({ tool_call_id, status, text }) => ({
        call: tool_call_id,
        isError: status === 'error',
        text,
      }));
    if (__interrupt__ === undefined) return { state: 'done', told };
    const waiting = await waitingOf(run);
    // A client keeps the question that it was shown.
    const older = (shown.read(run) ?? []).filter(
      ({ call }) => !waiting.some((each) => each.call === call),
    );
    shown.write(run, [...older, ...waiting]);
    return {
      state: 'paused',
      waiting: waiting.map(({ call, tool, args }) => ({ call, tool, args })),
      told,
    };
  }

  /** The question in which a client was shown the call, in whatever run. */
  function questionsAbout(
    calls: readonly string[],
    runs: readonly string[],
  ): Map<string, Question> {
    const all = runs
      .flatMap((run) => shown.read(run) ?? [])
      .filter(({ call }) => calls.includes(call));
    return new Map(all.map(({ question }) => [question.id, question]));
  }

  return {
    start({ run, calls }) {
      wanted.write(run, calls);
      return invoke(run, { messages: [new HumanMessage('go')] });
    },
    async resume({ run, answers }) {
      const waiting = await waitingOf(run);
      const named = Object.keys(answers);
      const runs = [run, ...wanted.runs().filter((each) => each !== run)];
      const mine = (shown.read(run) ?? []).filter(({ call }) => named.includes(call));
      const found = questionsAbout(named, mine.length > 0 ? [run] : runs);
      // An answer that names no call is sent with the question that waits.
      const questions =
        found.size > 0 ? [...found.values()] : waiting.map(({ question }) => question);
      const resume = questions.map((question) => {
        const calls = runs
          .flatMap((each) => shown.read(each) ?? [])
          .filter((each) => each.question.id === question.id)
          .map(({ call }) => call)
          .filter((call) => call in answers);
        return [
          question.id,
          answer(
            question,
            calls.map((call) => decisionOf(answers[call] ?? null)),
          ),
        ];
      });
      const person = named.map((call) => answers[call]?.person).find((each) => each !== undefined);
      if (!isUnnamed)
        return invoke(run, new Command({ resume: Object.fromEntries(resume) }), { user: person });
      // An answer without the id of a question is one answer.
      let progress: Progress = { state: 'done' };
      for (const [, given] of resume)
        progress = await invoke(run, new Command({ resume: given }), { user: person });
      return progress;
    },
    retry: ({ run }) => invoke(run, null),
    async fork({ run }) {
      const history = agentOf(run).getStateHistory({ configurable: { thread_id: run } });
      for await (const { next, config } of history)
        if (next.includes('tools'))
          return invoke(run, null, { checkpoint_id: config.configurable?.['checkpoint_id'] });
      throw new Error('no checkpoint is before the tools');
    },
    end: async () => [],
    tamper: async ({ call, tool, args }) => tamper(sqlite, call, { tool, args }),
    shown: async ({ run }) =>
      (await waitingOf(run)).map(({ call, tool, args }) => ({ call, tool, args })),
  };
}

function decisionOf(answer: PersonAnswer): unknown {
  return answer === null ? null : { type: answer.decision };
}

/** Changes a call in every checkpoint and every write. */
function tamper({ database }: NodeSqlite, call: string, other: OtherCall): number {
  let changed = 0;
  for (const [table, column] of [
    ['checkpoints', 'checkpoint'],
    ['writes', 'value'],
  ] as const) {
    const rows = database.prepare(`SELECT rowid AS row, ${column} AS bytes FROM ${table}`).all();
    for (const { row, bytes } of rows) {
      const text =
        typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes as Uint8Array);
      const found =
        text === '' ? { changed: 0, value: null } : replaced(JSON.parse(text), call, other);
      if (found.changed === 0) continue;
      changed += found.changed;
      const blob = new TextEncoder().encode(JSON.stringify(found.value));
      database
        .prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`)
        .run(blob, row as number);
    }
  }
  return changed;
}

function replaced(
  value: unknown,
  call: string,
  { tool: name, args }: OtherCall,
): { readonly changed: number; readonly value: unknown } {
  let changed = 0;
  const text = JSON.stringify(value, (_, member) => {
    if (typeof member !== 'object' || member === null || member.id !== call || !('args' in member))
      return member;
    changed++;
    return { ...member, name, args };
  });
  return { changed, value: JSON.parse(text) };
}
