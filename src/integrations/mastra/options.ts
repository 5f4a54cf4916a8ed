import { type ArgumentSchema, arg } from '#base';
import type { Approver } from '#calls';
import type { ToolContext } from './tool.ts';

/** The place of a call: the same for every repetition of it, and for no other call. */
export interface CallIdentity {
  /** The run. It is the session of the call in the ledger. */
  readonly run: string;
  /** The id of the call in its run. */
  readonly id: string;
}

export interface MastraOptions {
  /**
   * Names the person of an answer, such as `manager:grace`. Default: the program names none, and an
   * answer only makes the ledger be asked again.
   */
  readonly approver?: Approver<unknown, ToolContext>;
  /**
   * Names a call. Default: for an agent, its run and the model's id of the call; for a step of a
   * workflow, its run, the tool and the input.
   */
  readonly identity?: (input: unknown, context: ToolContext) => CallIdentity | undefined;
  /** The tools of which a second call does no harm: they may be made again after a failure. */
  readonly idempotent?: readonly string[];
  /** How long a call waits for a person before it is suspended. Default: as the gate. */
  readonly waitMs?: number;
}

export const MASTRA_OPTIONS: ArgumentSchema = arg.options<MastraOptions>({
  approver: arg.optional(arg.code),
  identity: arg.optional(arg.code),
  idempotent: arg.optional(arg.list(arg.text)),
  waitMs: arg.optional(arg.number),
});
