import { isDeepStrictEqual } from 'node:util';
import {
  CallError,
  errorOf,
  type Gate,
  type GateCall,
  type HeldCall,
  type PendingEnd,
} from '@assize/gate/internal/calls';
import {
  interimText,
  makeOptions,
  notKept,
  personOf,
  runTool,
  type ToolRun,
  waitsText,
} from '@assize/gate/internal/tool-calls';
import { ToolMessage } from '@langchain/core/messages';
import { interrupt, isGraphBubbleUp, isGraphInterrupt } from '@langchain/langgraph';
import { isAssizeError, type Json } from 'assize/internal/base';
import { nodeOf } from './answers.ts';
import { type GivenAnswer, GivenAnswers } from './given-answers.ts';
import type { LangChainOptions } from './options.ts';
import { agUiInterrupt, hitlInterrupt } from './pause.ts';
import { type Configurable, observed, placeOf } from './place.ts';
import { fromRecord, type ToolResult, toRecord } from './results.ts';
import { Siblings } from './siblings.ts';

/** A tool call of a graph, as its node makes it. */
export interface GraphCall {
  /** The model's id of the call. */
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  readonly configurable: Configurable;
  readonly context: unknown;
  /** Whether the message of the model has no other call: an answer without a name is about it. */
  readonly isAlone: boolean;
  readonly signal: AbortSignal | undefined;
  /** How an error of the tool reaches the node. */
  readonly failed: (error: unknown) => ToolResult;
}

/** Makes a call, with the arguments that are approved. */
export type MakeCall = (args: Readonly<Record<string, Json>>) => Promise<ToolResult>;

/**
 * Judges a call, pauses the graph while it waits for a person, and makes it once.
 *
 * @throws CallError; CallError `call_in_doubt`; the interrupt of the graph; the error of the
 * tool if the run is aborted; the errors of `Gate.run`
 */
export async function gatedCall(
  gate: Gate,
  call: GraphCall,
  make: MakeCall,
  options: LangChainOptions,
): Promise<ToolResult> {
  call.signal?.throwIfAborted();
  return new GatedCall(gate, call, make, options).result();
}

/**
 * The result of a call that the messages have gone on without. It is made now if it may be, and
 * never pauses the graph.
 *
 * @throws CallError; the errors of `Gate.run`
 */
export function pastCall(
  gate: Gate,
  call: GraphCall,
  make: MakeCall,
  options: LangChainOptions,
): Promise<PastResult> {
  call.signal?.throwIfAborted();
  return new GatedCall(gate, call, make, { ...options, waitMs: 0 }).past();
}

/** The result of a call that the messages have gone on without. `held`: it still waits. */
export interface PastResult {
  readonly result: ToolResult;
  readonly held?: HeldCall;
}

class GatedCall {
  readonly #gate: Gate;
  readonly #call: GraphCall;
  readonly #make: MakeCall;
  readonly #options: LangChainOptions;
  readonly #asked: GateCall;
  readonly #answers: GivenAnswers;
  readonly #siblings: Siblings;
  #refusedEdit: string | undefined;
  /** The questions that an answer of this run has decided. */
  readonly #decided: Set<string> = new Set();

  constructor(gate: Gate, call: GraphCall, make: MakeCall, options: LangChainOptions) {
    this.#gate = gate;
    this.#call = call;
    this.#make = make;
    this.#options = options;
    const { id, tool, args, configurable } = call;
    const place = placeOf(configurable);
    const observations = place === undefined ? [] : [observed(place)];
    this.#asked = { run: threadOf(call, options), id, tool, args, observations };
    this.#answers = new GivenAnswers(call);
    this.#siblings = new Siblings(nodeOf(call.configurable));
  }

  result(): Promise<ToolResult> {
    return this.#siblings.run(() => this.#result());
  }

  async past(): Promise<PastResult> {
    for (;;) {
      const run = await this.#run();
      const { end } = run;
      if (end.end === 'doubt' && end.settled === undefined && this.#call.signal?.aborted !== true)
        return { result: this.#told(interimText((errorOf(end) as Error).message)) };
      if (end.end !== 'pending') return { result: await this.#ended(run) };
      const held = await this.#gate.held(this.#asked, end);
      if (held !== undefined) return { result: this.#told(waitsText(held.reason)), held };
    }
  }

  async #result(): Promise<ToolResult> {
    for (;;) {
      const run = await this.#run();
      const { end } = run;
      if (end.end !== 'pending') return this.#ended(run);
      const answer = this.#answers.next(end);
      if (answer === undefined) await this.#pause(end);
      else await this.#answered(end, answer);
    }
  }

  #run(): Promise<ToolRun<ToolResult>> {
    const { tool, signal } = this.#call;
    const make = ({ args }: Pick<GateCall, 'args'>): Promise<ToolResult> => this.#make(args);
    return runTool(
      this.#gate,
      this.#asked,
      { make, toRecord },
      makeOptions(tool, this.#options, signal),
    );
  }

  /** The result of a call that was made, now or before. */
  async #ended({ end, live }: ToolRun<ToolResult>): Promise<ToolResult> {
    if (live !== undefined) {
      if ('value' in live) return live.value;
      this.#passOn(end.call, live.thrown);
    }
    if (end.end === 'refused') return this.#told(`The call was refused: ${end.reason}`);
    if (end.end === 'failed') return this.#call.failed(errorOf(end));
    if (end.end === 'done') {
      const result = await fromRecord(end.result);
      return result ?? this.#told(`The call ${end.call} was made, and ${notKept()}.`);
    }
    if (end.end === 'doubt' && end.settled !== undefined)
      return this.#told(`The call was not made now: ${end.reason}`);
    throw errorOf(end as Exclude<typeof end, { readonly end: 'done' }>);
  }

  /** Errors that are not failures of the tool: the end of the run, and a pause of the tool. */
  #passOn(call: string, error: unknown): void {
    if (this.#call.signal?.aborted === true) throw error;
    if (!isGraphBubbleUp(error)) return;
    const { tool } = this.#call;
    if (!isGraphInterrupt(error) || this.#options.idempotent?.includes(tool) === true) throw error;
    const text = `The tool ${tool} paused itself after its start. Let the rules ask, or name it in \`idempotent\`.`;
    throw new CallError('tool_paused', text, { cause: error, evidence: { call } });
  }

  /** Records the decision of a named person, if the answer is one. */
  async #answered(end: PendingEnd, { raw, read, isFresh }: GivenAnswer): Promise<void> {
    if (read === undefined || !isFresh || this.#decided.has(end.approval)) return;
    const { name = this.#call.tool, args } = read.edited ?? {};
    if (name !== this.#call.tool) return;
    const held = await this.#gate.held(this.#asked, end);
    if (held === undefined || (read.about?.digest ?? held.digest) !== held.digest) return;
    const { configurable, context } = this.#call;
    const person = await personOf(this.#options.approver, {
      answer: raw,
      held,
      context: { configurable, context },
    });
    if (person === undefined) return;
    const isEdit = args !== undefined && !isDeepStrictEqual(args, held.args);
    try {
      await this.#gate.port.decide(end.approval, {
        ...{
          decision: read.type === 'reject' ? 'reject' : 'approve',
          method: 'langgraph',
          ...person,
        },
        ...(read.reason !== undefined && { reason: read.reason }),
        ...(isEdit && { args }),
      });
      this.#decided.add(end.approval);
    } catch (error) {
      // The call still waits, and the next pause tells why the edit was refused.
      if (!isEdit || !isAssizeError(error) || error.retryable) throw error;
      this.#refusedEdit = error.message;
    }
  }

  /** Ends this run of the node. Returns if the call is decided in the meantime. */
  async #pause(end: PendingEnd): Promise<void> {
    const held = await this.#gate.held(this.#asked, end);
    if (held === undefined) return;
    const { call, approval } = held;
    const reason =
      this.#refusedEdit === undefined
        ? held.reason
        : `${held.reason}. The edit: ${this.#refusedEdit}`;
    await this.#siblings.settled();
    const form = this.#options.interrupts === 'ag-ui' ? agUiInterrupt : hitlInterrupt;
    try {
      this.#answers.add(interrupt(form({ ...held, reason })));
    } catch (error) {
      if (isGraphInterrupt(error)) throw error;
      throw new CallError(
        'cannot_pause',
        `The call waits for a person (${reason}), and the graph cannot pause. Compile it with a checkpointer.`,
        { cause: error, evidence: { call, approval } },
      );
    }
  }

  #told(content: string): ToolMessage {
    const { id, tool } = this.#call;
    return new ToolMessage({ content, tool_call_id: id, name: tool, status: 'error' });
  }
}

function threadOf({ tool, id, configurable }: GraphCall, { thread }: LangChainOptions): string {
  if (typeof id !== 'string' || id === '')
    throw new CallError(
      'no_identity',
      `The call of ${tool} has no id. Invoke the tool with a tool call.`,
      {
        evidence: { tool },
      },
    );
  const found: unknown =
    thread === undefined ? placeOf(configurable)?.thread_id : thread(configurable);
  if (typeof found === 'string' && found !== '') return found;
  const text = `The run that calls ${tool} has no thread. Pass configurable.thread_id, or \`thread\` in the options.`;
  throw new CallError('no_identity', text, { evidence: { tool } });
}
