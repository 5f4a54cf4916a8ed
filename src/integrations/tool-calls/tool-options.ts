import { arg } from '#base';
import { type Approver, isInterruption, type MakeOptions } from '#calls';

/** The options that the tools of every framework have. */
export interface ToolOptions<Answer = unknown, Context = unknown> {
  /**
   * Names the person of an answer, such as `manager:grace`. Default: the program names none, and an
   * answer only makes the ledger be asked again.
   */
  readonly approver?: Approver<Answer, Context>;
  /** The tools of which a second call does no harm: they may be made again after a failure. */
  readonly idempotent?: readonly string[];
  /** How long a call waits for a person before the framework pauses. Default: as the gate. */
  readonly waitMs?: number;
}

/** The forms of these options. */
export const TOOL_OPTIONS = {
  approver: arg.optional(arg.code),
  idempotent: arg.optional(arg.list(arg.text)),
  waitMs: arg.optional(arg.number),
} as const;

/**
 * The gate's options for a call of a tool. A tool that is not named is idempotent as the rules say.
 * An error after the run was aborted leaves it open if the call took effect.
 */
export function makeOptions(
  tool: string,
  { idempotent = [], waitMs }: Pick<ToolOptions, 'idempotent' | 'waitMs'>,
  signal?: AbortSignal,
): MakeOptions & Required<Pick<MakeOptions, 'isUnknown'>> {
  return {
    ...(idempotent.includes(tool) && { isIdempotent: true }),
    isUnknown: (error) => signal?.aborted === true || isInterruption(error),
    ...(waitMs !== undefined && { waitMs }),
  };
}
