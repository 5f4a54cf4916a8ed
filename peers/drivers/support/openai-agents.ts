/** The common part of the drivers of the OpenAI Agents SDK: run states in files, as its guide says. */

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
import {
  Agent,
  type AgentInputItem,
  type FunctionTool,
  type RunContext,
  Runner,
  RunState,
  type RunToolApprovalItem,
  tool,
} from '@openai/agents';
import {
  assistantMessage,
  functionCall,
  modelResponder,
  ScriptedModel,
} from '@openai/agents/testing';
import { z } from 'zod';
import { FREE_SCHEMAS, TOOLS } from './free-tools.ts';
import { JsonFiles } from './json-file.ts';
import { versionsOf } from './versions.ts';

export type State = RunState<any, any>;
type AnyTool = FunctionTool<any, any, any>;
type Details = Parameters<AnyTool['invoke']>[2];
type AnyAgent = Agent<any, any>;

/** The states of a run: the newest one, and those in which a person was asked. */
interface Kept {
  readonly state: string;
  readonly asked: readonly string[];
}

export interface OpenAIAgentsParts {
  /** The tools of the agent, from those of the driver. */
  readonly tools: (tools: readonly AnyTool[]) => readonly AnyTool[];
  /** The policy of the tools that ask. */
  readonly needsApproval?: () => Promise<boolean>;
  readonly restore: (
    agent: AnyAgent,
    text: string,
    place: { run: string; user?: NonNullable<PersonAnswer>['person'] },
  ) => Promise<State>;
  /** The calls that wait, as a person is shown them. */
  readonly shown: (state: State) => Promise<readonly WaitingCall[]>;
}

export const OPENAI_AGENTS_VERSIONS = versionsOf('@openai/agents');

/** The words with which the SDK tells a model that a call was not made, or failed. */
const ERRORS = /^(An error occurred|Tool execution was not approved|The call was|Tool '|aborted)/;

/** The operations of an agent with these tools. */
export function openAIAgentsHandlers(
  { folder, effect }: DriverSetup,
  { tools: toolsOf, needsApproval, restore, shown }: OpenAIAgentsParts,
): Omit<DriverHandlers, 'name' | 'versions' | 'cannot'> {
  const wanted = new JsonFiles<readonly WantedCall[]>(folder, 'calls');
  const states = new JsonFiles<Kept>(folder, 'state');
  const runner = new Runner({ tracingDisabled: true });
  const money = z.object({ to: z.string(), cents: z.number() });
  const schemas = { pay: money, refund: money, ...FREE_SCHEMAS };
  const toolOf = (name: ToolName): AnyTool =>
    tool({
      ...{ name, description: name, parameters: schemas[name] as never },
      ...(!(name in FREE_SCHEMAS) && needsApproval !== undefined && { needsApproval }),
      execute: async (args: any, context: RunContext<any> | undefined, details: Details) => {
        const { toolCall, signal } = details ?? {};
        return effect(
          { run: context?.context.runId, call: toolCall?.callId ?? '', tool: name, args },
          { signal },
        );
      },
    } as never);

  function agentOf(run: string): AnyAgent {
    const responder = modelResponder(({ request: { input } }) =>
      Array.isArray(input) && input.at(-1)?.type === 'function_call_result'
        ? [assistantMessage('bye')]
        : (wanted.read(run) ?? []).map(({ id, tool, args }) =>
            functionCall(tool, { ...args }, { callId: id }),
          ),
    );
    const model = new ScriptedModel(Array.from({ length: 20 }, () => responder));
    return new Agent({
      name: 'suite',
      model,
      tools: [...toolsOf(TOOLS.map(toolOf))],
    });
  }

  async function go(
    run: string,
    agent: AnyAgent,
    input: State | AgentInputItem[],
    context: object,
  ): Promise<Progress> {
    const { state, history, interruptions } = await runner.run(agent, input, { context });
    const told: Told[] = history.flatMap((item) => {
      if (item.type !== 'function_call_result') return [];
      const text = textOf(item.output);
      return [{ call: item.callId, isError: ERRORS.test(text), text }];
    });
    const asked = states.read(run)?.asked ?? [];
    const text = state.toString();
    states.write(run, { state: text, asked: interruptions.length > 0 ? [...asked, text] : asked });
    return interruptions.length > 0
      ? { state: 'paused', waiting: await shown(state), told }
      : { state: 'done', told };
  }

  /** The paused calls with these ids, in the run or in another one. */
  async function itemsOf(
    run: string,
    agent: AnyAgent,
    ids: readonly string[],
  ): Promise<RunToolApprovalItem[]> {
    const runs = [run, ...states.runs().filter((each) => each !== run)];
    const found = new Map<string, RunToolApprovalItem>();
    for (const text of runs.flatMap((each) => [...(states.read(each)?.asked ?? [])].reverse()))
      for (const item of (await RunState.fromString(agent, text)).getInterruptions()) {
        const { callId } = item.rawItem as { readonly callId: string };
        if (ids.includes(callId) && !found.has(callId)) found.set(callId, item);
      }
    return [...found.values()];
  }

  async function resume(run: string, text: string, answers: Answers): Promise<Progress> {
    const agent = agentOf(run);
    const person = Object.values(answers).find((answer) => answer?.person !== undefined)?.person;
    const state = await restore(agent, text, {
      run,
      ...(person !== undefined && { user: person }),
    });
    const own = new Map(state.getInterruptions().map((item) => [callOf(item), item]));
    for (const item of await itemsOf(run, agent, Object.keys(answers))) {
      const decision = answers[callOf(item)]?.decision;
      if (decision === 'approve') state.approve(own.get(callOf(item)) ?? item);
      else if (decision === 'reject') state.reject(own.get(callOf(item)) ?? item);
    }
    return go(run, agent, state, {});
  }

  function kept(run: string): Kept {
    const found = states.read(run);
    if (found === undefined) throw new Error(`there is no run ${run}`);
    return found;
  }

  return {
    async start({ run, calls }) {
      wanted.write(run, calls);
      const agent = agentOf(run);
      const before = states.read(run);
      const history =
        before === undefined ? [] : (await RunState.fromString(agent, before.state)).history;
      return go(run, agent, [...history, { role: 'user', content: 'go' }], { runId: run });
    },
    resume: ({ run, answers }) => resume(run, kept(run).state, answers),
    retry: ({ run }) => resume(run, kept(run).state, {}),
    // A state of the SDK is a snapshot. The older one asks a person again.
    fork: async ({ run }) => {
      const before = kept(run).asked.at(-1);
      if (before === undefined) throw new Error('no state is from before the calls');
      return resume(run, before, {});
    },
    tamper: async ({ run, call, tool, args }) => {
      const { state, asked } = kept(run);
      const changed = [state, ...asked].map((text) => replaced(text, call, { tool, args }));
      const [newest, ...others] = changed.map(({ text }) => text) as [string, ...string[]];
      states.write(run, { state: newest, asked: others });
      return changed.reduce((sum, each) => sum + each.changed, 0);
    },
    end: async () => [],
    shown: async ({ run }) => shown(await restore(agentOf(run), kept(run).state, { run })),
  };
}

function callOf({ rawItem }: RunToolApprovalItem): string {
  return (rawItem as { readonly callId: string }).callId;
}

/** The calls that wait, as the SDK tells a person of them. */
export async function interruptionsOf(state: State): Promise<readonly WaitingCall[]> {
  return state.getInterruptions().map((item) => ({
    ...{ call: callOf(item), tool: item.name ?? '', args: JSON.parse(item.arguments ?? '{}') },
  }));
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : String((output as { readonly text?: unknown }).text);
}

/** Changes a call wherever a state has it. */
function replaced(
  text: string,
  call: string,
  { tool: name, args }: Pick<WantedCall, 'tool' | 'args'>,
): { readonly changed: number; readonly text: string } {
  let changed = 0;
  const value = JSON.parse(text, (_, member) => {
    // The question about the call, and the tool that was found for it.
    if (member?.rawItem?.callId === call && 'toolName' in member) {
      const [kind] = JSON.parse(member.functionToolStateKey);
      return { ...member, toolName: name, functionToolStateKey: JSON.stringify([kind, name]) };
    }
    if (member?.toolCall?.callId === call && 'tool' in member)
      return { ...member, tool: { ...member.tool, name } };
    if (typeof member?.arguments !== 'string' || member.callId !== call) return member;
    changed++;
    return { ...member, name, arguments: JSON.stringify(args) };
  });
  return { changed, text: JSON.stringify(value) };
}
