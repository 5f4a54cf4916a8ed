/** Runs of the OpenAI Agents SDK whose tool pays, through a gate over its own store. */
import {
  Agent,
  type FunctionTool,
  Runner,
  type RunResult,
  RunState,
  StreamedRunResult,
  tool,
} from '@openai/agents';
import {
  assistantMessage,
  functionCall,
  modelResponder,
  ScriptedModel,
} from '@openai/agents/testing';
import { z } from 'zod';
import type { Gate, HeldCall } from '#calls';
import { gatedTools, heldCalls, type OpenAIAgentsOptions } from '#integrations/openai-agents';
import { openShop } from './gated-shop.ts';

export type Paid = { readonly to: string; readonly cents: number };
export type Call = ReturnType<typeof functionCall>;
export type PayTool = FunctionTool<any, any, any>;
export type AnyState = RunState<any, any>;

export const pay = (callId: string, to: string, cents: number): Call =>
  functionCall('pay', { to, cents }, { callId });

/** The end of one call of the runner. */
export interface Ended {
  readonly state: AnyState;
  /** The calls that wait, as the integration tells them. */
  readonly held: readonly HeldCall[];
  /** The ids of the calls that wait, as the SDK tells them. */
  readonly paused: readonly string[];
  /** The results of the calls, as the model was given them. */
  readonly told: readonly (readonly [string, string])[];
}

export interface PayOptions extends OpenAIAgentsOptions {
  readonly pays?: (paid: Paid, details: { readonly signal?: AbortSignal } | undefined) => unknown;
  readonly rules?: string;
  /** How long a question waits for a person. */
  readonly timeoutMs?: number;
  /** More options of the SDK's `tool`. */
  readonly tool?: object;
}

/** A run without any function of the integration but the gated tools. */
export interface Plain {
  run(input: string | AnyState, options: object): Promise<RunResult<any, any>>;
}

interface Parts {
  readonly open: () => Promise<Gate>;
  readonly gate: Gate;
  readonly made: Paid[];
  readonly options: OpenAIAgentsOptions;
  readonly tool: PayTool;
}

/** An agent with a tool that pays, as one process has it. */
export class Desk {
  readonly gate: Gate;
  /** The payments that were made, by this process and by its copies. */
  readonly made: Paid[];
  readonly pay: PayTool;
  readonly agent: Agent<any, any>;
  readonly runner: Runner = new Runner({ tracingDisabled: true });
  readonly #parts: Parts;
  /** The events of streamed runs. */
  readonly events: string[] = [];
  #calls: readonly Call[];

  constructor(parts: Parts, calls: readonly Call[] = []) {
    this.#parts = parts;
    this.#calls = calls;
    this.gate = parts.gate;
    this.made = parts.made;
    [this.pay] = gatedTools(parts.gate, [parts.tool], parts.options) as [PayTool];
    // A run that is resumed asks the model again, with the items until there.
    const model = new ScriptedModel(
      Array.from({ length: 20 }, () =>
        modelResponder(({ request: { input } }) =>
          Array.isArray(input) && input.at(-1)?.type === 'function_call_result'
            ? [assistantMessage('bye')]
            : [...this.#calls],
        ),
      ),
    );
    this.agent = new Agent({ name: 'clerk', model, tools: [this.pay] });
  }

  start(
    calls: readonly Call[],
    context: unknown = { runId: 'r1' },
    more: object = {},
  ): Promise<Ended> {
    this.#calls = calls;
    return this.#run('go', { context, ...more });
  }

  /** The SDK's own runs, in which the model asks for these calls. */
  plan(calls: readonly Call[]): Plain {
    this.#calls = calls;
    return { run: (input, options) => this.runner.run(this.agent, input, options) };
  }

  resume(state: AnyState, more: object = {}): Promise<Ended> {
    return this.#run(state, more);
  }

  /** The state as another process restores it. */
  restore(text: string): Promise<AnyState> {
    return RunState.fromString(this.agent, text);
  }

  /** The same program in another process: with another gate over the same store. */
  async copy(): Promise<Desk> {
    return new Desk({ ...this.#parts, gate: await this.#parts.open() }, this.#calls);
  }

  async #run(input: string | AnyState, options: object): Promise<Ended> {
    const result = await this.runner.run(this.agent, input, options as { stream?: false });
    if (isStreamed(result)) {
      for await (const event of result)
        this.events.push(event.type === 'run_item_stream_event' ? event.name : event.type);
      await result.completed;
    }
    return this.ended(result as RunResult<any, any>);
  }

  async ended({ state, interruptions, history }: RunResult<any, any>): Promise<Ended> {
    const told = history.flatMap((item) =>
      item.type === 'function_call_result' ? [[item.callId, textOf(item.output)] as const] : [],
    );
    const paused = interruptions.map(
      ({ rawItem }) => (rawItem as { readonly callId: string }).callId,
    );
    return { state, held: await heldCalls(state), paused, told };
  }
}

function isStreamed(result: unknown): result is StreamedRunResult<any, any> {
  return result instanceof StreamedRunResult;
}

function textOf(output: unknown): string {
  return typeof output === 'string'
    ? output
    : ((output as { readonly text?: string }).text ?? JSON.stringify(output));
}

export async function deskOf({
  pays = ({ to }) => `paid ${to}`,
  rules,
  timeoutMs,
  tool: more = {},
  ...options
}: PayOptions = {}): Promise<Desk> {
  const { gate, open } = await openShop({ rules, timeoutMs });
  const made: Paid[] = [];
  const payTool = tool({
    ...{
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ to: z.string(), cents: z.number() }),
    },
    execute: async (paid: Paid, _context, details) => {
      made.push(paid);
      return pays(paid, details);
    },
    ...more,
  });
  return new Desk({ open, gate, made, options, tool: payTool as PayTool });
}

/** Records the decision of a person in the ledger. */
export async function decide(
  { gate }: Desk,
  held: HeldCall,
  decision: 'approve' | 'reject',
): Promise<void> {
  const { approval, digest } = held;
  await gate.port.decide(approval, {
    decision,
    by: 'manager:grace',
    method: 'console',
    digest: digest!,
  });
}

export const named: OpenAIAgentsOptions = { approver: () => 'manager:grace' };
