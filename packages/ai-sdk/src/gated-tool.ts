import { isDeepStrictEqual } from 'node:util';
import {
  type BegunCall,
  type CallEnd,
  CallError,
  errorOf,
  type Gate,
  type GateCall,
  type JudgedEnd,
  type MakeOptions,
  ofPlain,
  type PendingEnd,
  runCallIdOf,
  toPlain,
} from '@assize/gate/internal/calls';
import {
  interimText,
  makeOptions,
  notKept,
  personOf,
  runTool,
  type ToolRun,
} from '@assize/gate/internal/tool-calls';
import { asSchema, type Tool, type ToolExecutionOptions, type ToolResultPart } from 'ai';
import { isInstance, type Json } from 'assize/internal/base';
import { answerIn, type GivenAnswer, isResumed } from './asked-in.ts';
import type { AiSdkOptions, CallPlace } from './options.ts';
import { digestIn } from './question.ts';

/** A tool with its call, as the SDK makes it. */
export type Execute = NonNullable<Tool['execute']>;

/** The result of a call, in the form of the model. */
type ToolOutput = ToolResultPart['output'];

/** Takes the results of a tool that gives several, one after the other. */
export type Take = (result: unknown) => void;

/** How many refused calls are kept for their `execute`: it comes immediately. */
const REFUSED_MAX = 1_000;

type Refused = Extract<JudgedEnd, { readonly end: 'refused' }>;

/** A result that the ledger cannot keep. A repetition of the call says so. */
const UNKEPT: Json = { $: 'unkept' };

/** A tool of the SDK whose calls go through the gate. */
export class GatedTool {
  readonly name: string;
  readonly gate: Gate;
  readonly #tool: Tool;
  readonly #options: AiSdkOptions;
  /** The calls that were refused before they were made, by their ids in the ledger. */
  readonly #refused: Map<string, Refused> = new Map();

  constructor(gate: Gate, name: string, tool: Tool, options: AiSdkOptions) {
    this.gate = gate;
    this.name = name;
    this.#tool = tool;
    this.#options = options;
  }

  /**
   * Judges a call before it is made, and counts an answer in the last message if the program names
   * its person.
   *
   * @throws CallError `call_pending` if the run was resumed, and the call still waits; CallError;
   * the errors of `Gate.judge` and of `CallPort.decide`
   */
  async judge(input: unknown, place: CallPlace): Promise<JudgedEnd> {
    const end = await this.judged(input, place);
    const isAnswered =
      end.end === 'pending' && answerIn(place.messages, place.toolCallId) !== undefined;
    if (isAnswered) throw errorOf(end);
    return end;
  }

  /**
   * Whether the call waits for a person. A runtime that learns nothing else makes a refused call:
   * `execute` refuses it then, also if the runtime gives it other messages.
   *
   * @throws the errors of `judge`
   */
  async waits(input: unknown, place: CallPlace): Promise<boolean> {
    const end = await this.judge(input, place);
    const { run, id } = this.callOf(input, place);
    this.#refused.delete(runCallIdOf(run, id));
    if (end.end === 'refused') this.#refused.set(runCallIdOf(run, id), end);
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size > REFUSED_MAX) this.#refused.delete(oldest);
    return end.end === 'pending';
  }

  /** The same, where a call that still waits is a result. */
  async judged(input: unknown, place: CallPlace): Promise<JudgedEnd> {
    const call = this.callOf(input, place);
    const options = this.#optionsAt(place);
    const end = await this.gate.judge(call, options);
    const answer =
      options.isKnown === true ? answerIn(place.messages, place.toolCallId) : undefined;
    if (end.end !== 'pending' || answer === undefined) return end;
    return (await this.#answered(call, end, answer, place)) ? this.gate.judge(call, options) : end;
  }

  /**
   * Makes a call through the gate, and gives its result.
   *
   * @throws the error of the tool; CallError; CallError; the errors of `Gate.run`
   */
  async execute(
    input: unknown,
    options: ToolExecutionOptions<unknown>,
    take?: Take,
  ): Promise<unknown> {
    options.abortSignal?.throwIfAborted();
    const { run, id } = this.callOf(input, { ...options, context: options.context });
    const refused = this.#refused.get(runCallIdOf(run, id));
    if (refused !== undefined) throw errorOf(refused);
    return endValue(await this.#run(input, options, take), take);
  }

  /**
   * Makes a call that the messages have gone on without. Its result is as the model gets it.
   *
   * @throws CallError; the errors of `Gate.run`
   */
  async output(input: unknown, place: CallPlace): Promise<ToolOutput> {
    const { toolCallId, messages, context } = place;
    const ran = await this.#run(input, { toolCallId, messages: [...messages], context });
    const { end } = ran;
    if (end.end === 'refused') return { type: 'execution-denied', reason: end.reason };
    try {
      return await this.#told(toolCallId, input, endValue(ran));
    } catch (error) {
      const text = isInstance(error, Error) ? error.message : String(error);
      const isOpen = end.end === 'pending' || (end.end === 'doubt' && end.settled === undefined);
      return { type: 'error-text', value: isOpen ? interimText(text) : text };
    }
  }

  async #told(toolCallId: string, input: unknown, output: unknown): Promise<ToolOutput> {
    const own = await this.#tool.toModelOutput?.({ toolCallId, input, output });
    if (own !== undefined) return own;
    if (typeof output === 'string') return { type: 'text', value: output };
    return { type: 'json', value: JSON.parse(JSON.stringify(output) ?? 'null') };
  }

  async #run(
    input: unknown,
    options: ToolExecutionOptions<unknown>,
    take?: Take,
  ): Promise<ToolRun<unknown>> {
    const place = { ...options, context: options.context };
    const call = this.callOf(input, place);
    const make = async ({ args }: BegunCall): Promise<unknown> => {
      const given = isDeepStrictEqual(args, call.args) ? input : await this.#validated(args);
      return this.#made(given, options, take);
    };
    const toRecord = (result: unknown): Json => toPlain(result) ?? UNKEPT;
    return runTool(
      this.gate,
      call,
      { make, toRecord },
      this.#optionsAt(place, options.abortSignal),
    );
  }

  callOf(input: unknown, place: CallPlace): GateCall {
    const args = toPlain(input);
    const isObject =
      typeof args === 'object' && args !== null && !Array.isArray(args) && isRecord(input);
    if (!isObject)
      throw new CallError(
        'not_json',
        `The input of ${this.name} is not an object of plain data. Change its schema.`,
        {
          evidence: { tool: this.name },
        },
      );
    return {
      run: this.#runOf(place),
      id: place.toolCallId,
      tool: this.name,
      args: args as GateCall['args'],
    };
  }

  #optionsAt({ messages, toolCallId }: CallPlace, signal?: AbortSignal): MakeOptions {
    return {
      ...makeOptions(this.name, this.#options, signal),
      isKnown: isResumed(messages, toolCallId),
    };
  }

  #runOf(place: CallPlace): string {
    const { run } = this.#options;
    const found: unknown = typeof run === 'function' ? run(place) : run;
    if (typeof found === 'string' && found !== '' && place.toolCallId !== '') return found;
    throw new CallError(
      'no_identity',
      `The call of ${this.name} has no run or no id. Pass \`run\` in the options.`,
      {
        evidence: { tool: this.name },
      },
    );
  }

  /** Records the decision of a named person about the call that the person was shown. */
  async #answered(
    call: GateCall,
    end: PendingEnd,
    { response, request }: GivenAnswer,
    place: CallPlace,
  ): Promise<boolean> {
    const held = await this.gate.held(call, end);
    if (held === undefined) return true;
    if (
      (digestIn(request.reason) ?? held.digest) !== held.digest ||
      typeof response.approved !== 'boolean'
    )
      return false;
    const person = await personOf(this.#options.approver, {
      answer: response,
      held,
      context: place,
    });
    if (person === undefined) return false;
    const { approved, reason } = response;
    await this.gate.port.decide(end.approval, {
      ...{ decision: approved ? 'approve' : 'reject', method: 'ai-sdk', ...person },
      ...(typeof reason === 'string' && reason.trim() !== '' && { reason }),
    });
    return true;
  }

  /** The input that a person has approved instead, checked by the schema of the tool. */
  async #validated(args: GateCall['args']): Promise<unknown> {
    const given = ofPlain(args);
    const checked = await asSchema(this.#tool.inputSchema).validate?.(given);
    if (checked === undefined) return given;
    if (checked.success) return checked.value;
    throw checked.error;
  }

  async #made(
    input: unknown,
    options: ToolExecutionOptions<unknown>,
    take: Take | undefined,
  ): Promise<unknown> {
    const result: unknown = await (this.#tool.execute as Execute).call(
      this.#tool,
      input as never,
      options as never,
    );
    if (!isAsyncIterable(result)) return result;
    let last: unknown;
    for await (const next of result) {
      last = next;
      take?.(next);
    }
    return last;
  }
}

/** The value of a call, or its error. */
function endValue({ end, live }: ToolRun<unknown>, take?: Take): unknown {
  if (live === undefined) return recorded(end, take);
  if ('thrown' in live) throw live.thrown;
  return live.value;
}

/** The result of a call that was made before. */
function recorded(end: CallEnd<Json>, take: Take | undefined): unknown {
  if (end.end !== 'done') throw errorOf(end);
  const { call, result } = end;
  if (isDeepStrictEqual(result, UNKEPT))
    throw errorOf({ end: 'doubt', call, reason: `it is done, and ${notKept()}`, settled: 'done' });
  const value = ofPlain(result);
  take?.(value);
  return value;
}

function isRecord(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof (value as AsyncIterable<unknown> | null | undefined)?.[Symbol.asyncIterator] ===
    'function'
  );
}
