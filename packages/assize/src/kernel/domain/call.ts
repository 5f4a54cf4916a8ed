import type { Json } from '#base';
import { KernelError } from '../errors.ts';

/** A tool as actions and rules name it: the result of `declareTool`. */
export interface CallableTool<Input = any, Parsed = any> {
  readonly name: string;
  /** Undefined for a tool that only reads. */
  readonly class: unknown;
  parse(input: unknown): Json;
  /** Types only: the field never exists at run time. */
  readonly types?: { readonly input: Input; readonly parsed: Parsed };
}

/** A call that an action declares, before its input is parsed. */
export interface ActionCall {
  readonly tool: CallableTool;
  readonly input: unknown;
}

/**
 * A tool call of a proposal, as rules and policies judge it. `result`: the answer, if the call was
 * made before the ruling.
 */
export interface ProposedCall<Input = any> {
  readonly tool: string;
  readonly input: Input;
  readonly result?: Json;
}

/**
 * A call for the `calls` of an action. The input is typed by the schema of the tool, and parsed
 * when the proposal is judged.
 *
 * @throws KernelError `bad_argument` for a value that is not a tool
 */
export function call<Input>(tool: CallableTool<Input>, input: Input): ActionCall {
  if (typeof tool?.name !== 'string' || typeof tool.parse !== 'function')
    throw new KernelError(
      'bad_argument',
      'A call names no tool. Pass the result of `declareTool`.',
    );
  return Object.freeze({ tool, input });
}
