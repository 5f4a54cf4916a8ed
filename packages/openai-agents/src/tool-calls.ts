import {
  type CallEnd,
  CallError,
  errorOf,
  type Gate,
  type GateCall,
  type HeldCall,
  type JudgedEnd,
  type MakeOptions,
} from '@assize/gate/internal/calls';
import {
  interimText,
  makeOptions,
  personOf,
  runTool,
  type ToolRun,
  waitsText,
} from '@assize/gate/internal/tool-calls';
import {
  type FunctionTool,
  getCurrentTrace,
  type RunContext,
  type ToolGuardrailFunctionOutput,
  type ToolInputGuardrailData,
} from '@openai/agents';
import { toSmartString } from '@openai/agents/utils';
import { isInstance, type Json } from 'assize/internal/base';
import { answerTo } from './answers.ts';
import { argsOf, inputOf, namedArgs } from './call-args.ts';
import type { OpenAIAgentsOptions, StateAnswer } from './options.ts';
import { fromRecord, toRecord } from './results.ts';
import { isFailureText, recordedFailureText, ToldFailure } from './told-failure.ts';

type AnyTool = FunctionTool<any, any, any>;
type Context = RunContext<any>;
type Details = NonNullable<Parameters<AnyTool['invoke']>[2]>;

type FunctionCallItem = NonNullable<Details['toolCall']>;

/** The result of a call for the model. `held`: it still waits. */
export interface PastResult {
  readonly text: string;
  readonly held?: HeldCall;
}

/** The calls of one tool: judged before the SDK makes them, and made once. */
export class ToolCalls {
  readonly #gate: Gate;
  readonly #tool: AnyTool;
  readonly #options: OpenAIAgentsOptions;
  readonly #asking: MakeOptions;
  /** The rulings that the SDK has not acted on yet. */
  readonly #judged: WeakMap<Context, Map<string, JudgedEnd>> = new WeakMap();

  constructor(gate: Gate, tool: AnyTool, options: OpenAIAgentsOptions) {
    this.#gate = gate;
    this.#tool = tool;
    this.#options = options;
    this.#asking = makeOptions(tool.name, options);
  }

  /**
   * Whether a call waits for a person: by the rules, or by the tool's own policy.
   *
   * @throws CallError; the errors of `Gate.judge` and of `CallPort.decide`
   */
  async needsApproval(context: Context, input: unknown, id: string | undefined): Promise<boolean> {
    const call = this.#callOf(context, id, namedArgs(input));
    const answer = answerTo(context, this, call.id);
    const judged = await this.#judge(context, call, answer);
    this.#remember(context, call.id, judged);
    if (judged.end !== 'ready') return judged.end === 'pending';
    if (!(await this.#tool.needsApproval(context, input as never, id))) return false;
    if (answer?.type === 'reject') {
      const reason = answer.message ?? 'it was not approved';
      this.#remember(context, call.id, { end: 'refused', call: judged.call, reason });
    }
    return answer === undefined;
  }

  /**
   * Tells the model why a call is refused, as a guardrail does.
   *
   * @throws CallError; the errors of `Gate.judge`
   */
  async guard({
    context,
    toolCall,
  }: ToolInputGuardrailData<any>): Promise<ToolGuardrailFunctionOutput> {
    const { callId } = toolCall;
    const known = this.#recall(context, callId);
    const judged =
      known ??
      (await this.#judge(context, this.#callOf(context, callId, argsOf(toolCall.arguments))));
    if (judged.end !== 'refused') return { behavior: { type: 'allow' } };
    const { call, reason } = judged;
    const message = `The call was refused: ${reason}`;
    return { behavior: { type: 'rejectContent', message }, outputInfo: { call, reason } };
  }

  /**
   * Makes a call, once.
   *
   * @throws CallError; CallError; the error of the tool; the errors of `Gate.run`
   */
  async invoke(context: Context, input: string, details: Details | undefined): Promise<unknown> {
    const { signal, toolCall } = details ?? {};
    signal?.throwIfAborted();
    const call = this.#callOf(context, toolCall?.callId, argsOf(input));
    const { end, live } = await this.#run(context, call, { input, details });
    if (live === undefined) return this.#ended(end);
    if ('thrown' in live) throw live.thrown;
    return live.value;
  }

  /**
   * The result of a call that the items have gone on without, made now if it may be.
   *
   * @throws CallError; the errors of `Gate.run`
   */
  async past(context: Context, toolCall: FunctionCallItem): Promise<PastResult> {
    const { callId, arguments: input } = toolCall;
    const call = this.#callOf(context, callId, argsOf(input));
    const { end, live } = await this.#run(context, call, { input, details: { toolCall } }, 0);
    if (end.end === 'pending') {
      const held = await this.#gate.held(call, end);
      return held === undefined
        ? this.past(context, toolCall)
        : { text: waitsText(held.reason), held };
    }
    if (end.end === 'doubt' && end.settled === undefined)
      return { text: interimText(messageOf(errorOf(end))) };
    if (live !== undefined && 'thrown' in live) return { text: messageOf(live.thrown) };
    if (end.end === 'refused' || end.end === 'doubt')
      return { text: `The call was not made now: ${end.reason}` };
    const failure = end.end === 'failed' ? recordedFailureText(end.error) : undefined;
    if (live === undefined && end.end === 'failed')
      return { text: failure ?? messageOf(errorOf(end)) };
    const output = live === undefined ? this.#ended(end) : live.value;
    return {
      text: this.#tool.outputSchema === undefined ? toSmartString(output) : JSON.stringify(output),
    };
  }

  #run(
    context: Context,
    call: GateCall,
    { input, details }: { readonly input: string; readonly details: Details | undefined },
    waitMs?: number,
  ): Promise<ToolRun<unknown>> {
    const tool = {
      make: ({ args }: Pick<GateCall, 'args'>) =>
        this.#made(context, { input, details }, args, call.args),
      toRecord: (output: unknown): Json => {
        if (this.#tool.outputSchema === undefined && isFailureText(output))
          throw new ToldFailure(output);
        return toRecord(output);
      },
    };
    const options = makeOptions(call.tool, this.#options, details?.signal);
    return runTool(this.#gate, call, tool, {
      ...{ ...options, ...(waitMs !== undefined && { waitMs }) },
      isUnknown: (error) => !isInstance(error, ToldFailure) && options.isUnknown(error),
    });
  }

  /**
   * The call of a paused item, as its person is shown it. Undefined if it is decided.
   *
   * @throws CallError; the errors of `Gate.judge`
   */
  async held(
    context: Context,
    id: string,
    input: string,
    group?: string,
  ): Promise<HeldCall | undefined> {
    const call = this.#callOf(context, id, argsOf(input), group);
    const end = await this.#gate.judge(call, { ...this.#asking, waitMs: 0 });
    return end.end === 'pending' ? this.#gate.held(call, end) : undefined;
  }

  async #judge(context: Context, call: GateCall, answer?: StateAnswer): Promise<JudgedEnd> {
    const end = await this.#gate.judge(call, this.#asking);
    if (end.end !== 'pending' || answer === undefined) return end;
    const held = await this.#gate.held(call, end);
    if (held !== undefined) {
      const person = await personOf(this.#options.approver, { answer, held, context });
      if (person === undefined) return end;
      const { type: decision, message } = answer as StateAnswer & { readonly message?: string };
      await this.#gate.port.decide(end.approval, {
        ...{ decision, method: 'openai-agents', ...person },
        ...(message !== undefined && { reason: message }),
      });
    }
    return this.#gate.judge(call, { ...this.#asking, waitMs: 0 });
  }

  /** The arguments of the model reach the tool as they are, and amended ones in their place. */
  #made(
    context: Context,
    { input, details }: { readonly input: string; readonly details: Details | undefined },
    args: GateCall['args'],
    asked: GateCall['args'],
  ): Promise<unknown> {
    if (args === asked) return this.#tool.invoke(context, input, details);
    const amended = inputOf(args, input);
    const toolCall = details?.toolCall && { ...details.toolCall, arguments: amended };
    return this.#tool.invoke(context, amended, {
      ...details,
      ...(toolCall !== undefined && { toolCall }),
    });
  }

  /** The end of a call that was not made now. */
  #ended(end: CallEnd<Json>): unknown {
    if (end.end === 'done') return fromRecord(end.result);
    const failure = end.end === 'failed' ? recordedFailureText(end.error) : undefined;
    if (failure !== undefined) return failure;
    const isTold = end.end === 'refused' || (end.end === 'doubt' && end.settled !== undefined);
    if (isTold && this.#tool.outputSchema === undefined)
      return `The call was not made now: ${end.reason}`;
    if (end.end !== 'pending') throw errorOf(end);
    const { call, approval, reason } = end;
    const text = `The state says that the call ${call} is approved, and no person has: ${reason}. Restore an earlier one.`;
    throw new CallError('wrong_state', text, { evidence: { call, approval } });
  }

  #callOf(
    context: Context,
    id: string | undefined,
    args: GateCall['args'],
    group?: string,
  ): GateCall {
    const { name: tool } = this.#tool;
    if (id === undefined || id === '')
      throw new CallError(
        'no_identity',
        `A call of ${tool} has no id. Invoke the tool with a tool call.`,
        {
          evidence: { tool },
        },
      );
    const own: unknown = (context.context as { readonly runId?: unknown } | null | undefined)
      ?.runId;
    const { run: runOf = () => own ?? group ?? getCurrentTrace()?.groupId } = this.#options;
    const run = runOf(context);
    if (typeof run === 'string' && run !== '') return { run, id, tool, args };
    const text = `The run that calls ${tool} has no id. Pass runId in the context, or \`run\` in the options.`;
    throw new CallError('no_identity', text, { evidence: { tool } });
  }

  #remember(context: Context, id: string, judged: JudgedEnd): void {
    const known = this.#judged.get(context) ?? new Map<string, JudgedEnd>();
    this.#judged.set(context, known.set(id, judged));
  }

  /** The ruling about a call, for the next step only. */
  #recall(context: Context, id: string): JudgedEnd | undefined {
    const known = this.#judged.get(context);
    const judged = known?.get(id);
    known?.delete(id);
    return judged;
  }
}

function messageOf(error: unknown): string {
  return isInstance(error, Error) ? error.message : String(error);
}
