import { isDeepStrictEqual } from 'node:util';
import {
  type BegunCall,
  CallError,
  errorOf,
  type Gate,
  type GateCall,
  type HeldCall,
} from '@assize/gate/internal/calls';
import {
  makeOptions,
  notKept,
  personOf,
  runTool,
  type ToolRun,
} from '@assize/gate/internal/tool-calls';
import { isAssizeError } from 'assize/internal/base';
import { readAnswer } from './answer.ts';
import { argsOf, type CallArgs, inputOf, readInput } from './input.ts';
import type { MastraOptions } from './options.ts';
import { suspensionOf } from './pause.ts';
import { identityOf, observed } from './place.ts';
import { type KeptResult, misfitOf, toRecord } from './results.ts';
import { ANSWER_FORM } from './schemas.ts';
import type { Suspendable, ToolContext } from './tool.ts';
import { contextFor, pauseBefore, pausedBy, refusePause } from './tool-context.ts';

/** A call of a tool by an agent, by a step of a workflow, or by code. */
export interface ToolCall {
  /** The id of the tool. */
  readonly tool: string;
  readonly inputSchema: unknown;
  readonly input: unknown;
  readonly context: ToolContext;
  readonly execute: (input: unknown, context: ToolContext) => Promise<unknown>;
}

/**
 * Judges a call, suspends it while it waits for a person, and makes it once.
 *
 * @throws CallError; CallError `call_refused`, `call_failed`, `call_in_doubt`; the error of
 * the tool; the errors of `Gate.run`
 */
export async function gatedCall(
  gate: Gate,
  call: ToolCall,
  options: MastraOptions,
): Promise<unknown> {
  call.context.abortSignal?.throwIfAborted();
  return new GatedCall(gate, call, options).result();
}

class GatedCall {
  readonly #gate: Gate;
  readonly #of: ToolCall;
  readonly #options: MastraOptions;
  /** The input that the tool gets, and its form in the ledger. */
  readonly #input: unknown;
  readonly #args: CallArgs;
  readonly #call: GateCall;
  readonly #isIdempotent: boolean;
  /** Whether the tool has paused itself. */
  #isSuspended: boolean = false;
  #isAnswered: boolean = false;
  /** The reason for which the answer was refused. */
  #refusal: string | undefined;

  constructor(gate: Gate, of: ToolCall, options: MastraOptions) {
    const { tool, inputSchema, input, context } = of;
    this.#gate = gate;
    this.#of = of;
    this.#options = options;
    const isResumed = context.agent?.resumeData !== undefined && context.agent.resumeData !== null;
    this.#input = isResumed ? readInput(inputSchema, input, pauseBefore(context)?.args) : input;
    this.#args = argsOf(tool, this.#input);
    const identity = identityOf({ tool, input: this.#input, args: this.#args }, context, options);
    this.#call = { ...identity, tool, args: this.#args, observations: [observed(context)] };
    this.#isIdempotent = options.idempotent?.includes(tool) === true;
  }

  async result(): Promise<unknown> {
    for (;;) {
      const run = await this.#run();
      const { end } = run;
      if (end.end !== 'pending') return this.#ended(run);
      const held = await this.#gate.held(this.#call, end);
      if (held !== undefined && !(await this.#answered(held))) return this.#suspend(held);
    }
  }

  #run(): Promise<ToolRun<unknown, KeptResult>> {
    const { tool, context } = this.#of;
    const options = makeOptions(tool, this.#options, context.abortSignal);
    const toRecord = (result: unknown): KeptResult => this.#kept(result);
    return runTool(
      this.#gate,
      this.#call,
      { make: (begun) => this.#make(begun), toRecord },
      options,
    );
  }

  #kept(result: unknown): KeptResult {
    if (this.#isSuspended) throw new Error('The tool has suspended itself.');
    const misfit = misfitOf(result);
    if (misfit !== undefined) throw new Error(misfit);
    return toRecord(result);
  }

  #make({ call, args }: BegunCall): Promise<unknown> {
    const { context, execute } = this.#of;
    const isAmended = !isDeepStrictEqual(args, this.#args);
    const given = contextFor(context, {
      isAnswered: this.#isGatesAnswer(),
      isNew: isAmended,
      suspend: (suspend) => this.#pauseOfTool(call, suspend),
    });
    return execute(isAmended ? inputOf(args, this.#input) : this.#input, given);
  }

  /** A tool that pauses itself is made again after the pause, and gets the answer to it. */
  #isGatesAnswer(): boolean {
    const { context } = this.#of;
    const isPaused =
      pauseBefore(context) !== undefined || readAnswer(pausedBy(context).resumeData) !== undefined;
    return isPaused || !this.#isIdempotent;
  }

  #pauseOfTool(call: string, suspend: Suspendable['suspend']): Suspendable['suspend'] {
    if (!this.#isIdempotent) return refusePause(this.#of.tool, call);
    return async (payload, options) => {
      this.#isSuspended = true;
      return suspend?.(payload, options);
    };
  }

  /** The result of a call that was made, now or before. */
  #ended({ end, live }: ToolRun<unknown, KeptResult>): unknown {
    if (live !== undefined) {
      if ('value' in live) return live.value;
      // Mastra ends an aborted call in its own way.
      if (this.#of.context.abortSignal?.aborted === true) throw live.thrown;
    }
    if (end.end !== 'done') throw errorOf(end);
    const { result } = end;
    if (!('unkept' in result)) return result.value;
    const { call } = end;
    throw new CallError(
      'not_json',
      `The call ${call} was made, and ${notKept(result.unkept)}. Return plain data from the tool.`,
      {
        evidence: { call, at: result.unkept },
      },
    );
  }

  /** Records the decision of a named person. Returns whether there is one. */
  async #answered(held: HeldCall): Promise<boolean> {
    if (this.#isAnswered) return false;
    this.#isAnswered = true;
    const { context } = this.#of;
    const given = pausedBy(context).resumeData;
    const answer = readAnswer(given);
    // A model can write an answer too, but not the payload that Mastra has kept of the pause.
    if (answer === undefined || pauseBefore(context)?.assize.approval !== held.approval)
      return false;
    const { call, approval, digest } = answer.assize;
    if (call !== held.call || approval !== held.approval || digest !== held.digest) return false;
    const person = await personOf(this.#options.approver, { answer: given, held, context });
    if (person === undefined) return false;
    const { decision, reason } = answer;
    const told = reason === undefined ? {} : { reason };
    try {
      await this.#gate.port.decide(held.approval, {
        decision,
        ...person,
        method: 'mastra',
        ...told,
      });
      return true;
    } catch (error) {
      // Mastra would tell the model, and end the run without the call.
      if (!isAssizeError(error) || error.retryable) throw error;
      this.#refusal = error.message;
      return false;
    }
  }

  #suspend(held: HeldCall): Promise<unknown> {
    const paused = pausedBy(this.#of.context);
    const { call, approval, reason } = held;
    if (typeof paused.suspend !== 'function')
      throw new CallError(
        'cannot_pause',
        `The call waits for a person (${reason}), and cannot be suspended here. Call it in an agent or a workflow.`,
        { evidence: { call, approval } },
      );
    return paused.suspend(suspensionOf(held, this.#refusal), { resumeSchema: ANSWER_FORM });
  }
}
