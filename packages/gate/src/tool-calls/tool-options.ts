import { arg } from 'assize/internal/base';
import { type Approver, isInterruption, type MakeOptions } from '#calls';

/** The options that the tools of every framework have. */
export interface ToolOptions<Answer = unknown, Context = unknown> {
  /**
   * Names the person of an answer, such as `manager:grace`. Default: the program names none, and an
   * answer only makes the ledger be asked again.
   */
  readonly approver?: Approver<Answer, Context>;
  /** The tools that are safe to call twice: they may be called again after a failure. */
  readonly idempotent?: readonly string[];
  /** How long a call waits for a person before the framework pauses. Default: as the gate. */
  readonly waitMs?: number;
  /**
   * Whether an error of a tool leaves it open if the call took effect. Default: aborts, time-outs,
   * cut connections and faults of a server do.
   */
  readonly isUnknown?: (error: unknown) => boolean;
}

/** The forms of these options. */
export const TOOL_OPTIONS = {
  approver: arg.optional(arg.code),
  idempotent: arg.optional(arg.list(arg.text)),
  waitMs: arg.optional(arg.number),
  isUnknown: arg.optional(arg.code),
} as const;

/**
 * The gate's options for a call of a tool. A tool that is not named is idempotent as the rules say.
 * An error after the run was aborted leaves it open if the call took effect.
 */
export function makeOptions(
  tool: string,
  {
    idempotent = [],
    waitMs,
    isUnknown = isInterruption,
  }: Pick<ToolOptions, 'idempotent' | 'waitMs' | 'isUnknown'>,
  signal?: AbortSignal,
): MakeOptions & Required<Pick<MakeOptions, 'isUnknown'>> {
  return {
    ...(idempotent.includes(tool) && { isIdempotent: true }),
    isUnknown: (error) => signal?.aborted === true || isUnknown(error),
    ...(waitMs !== undefined && { waitMs }),
  };
}
