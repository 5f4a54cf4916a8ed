import { type BegunCall, GATE } from '@assize/gate/internal/calls';
import { type ArgumentSchema, arg, checkArgument, type Json } from 'assize/internal/base';

/** The arguments of a call. */
export type CallArgs = Readonly<Record<string, Json>>;

/** A call in a step of an engine. */
export interface OnceCall<Args extends CallArgs = CallArgs> {
  /** The name of the call in its run. A repetition with this name is the same call. */
  readonly key: string;
  readonly tool: string;
  readonly args: Args;
  /**
   * The run of the call. Default: as the engine says. A number of an order or a case lets a second
   * run of the same work get the recorded results.
   */
  readonly run?: string;
}

/** A call that has started, as its function makes it. */
export interface BegunOnce<Args extends CallArgs> extends BegunCall {
  /** The arguments that are approved. A person may have changed them. */
  readonly args: Args;
}

/** Makes a call, with the arguments that are approved. The ledger keeps its result as JSON. */
export type MakeOnce<Args extends CallArgs, T extends Json | undefined> = (
  begun: BegunOnce<Args>,
) => T | Promise<T>;

export interface OnceOptions {
  /** Whether a second call does no harm. Then a call that failed or is in doubt is made again. */
  readonly idempotent?: boolean;
  /** Whether an error leaves it open if the call took effect. Default: aborts and time-outs do. */
  readonly isUnknown?: (error: unknown) => boolean;
  /** How long a step waits for a person before the engine does. Default: as the gate. */
  readonly waitMs?: number;
}

const NAME: ArgumentSchema = arg.of(
  'a text that is not empty',
  (value) => typeof value === 'string' && value !== '',
);

const ONCE_OPTIONS = arg.options<OnceOptions>({
  idempotent: arg.optional(arg.flag),
  isUnknown: arg.optional(arg.code),
  waitMs: arg.optional(arg.number),
});

const CALL = arg.options<OnceCall>({
  key: NAME,
  tool: NAME,
  args: arg.object,
  run: arg.optional(NAME),
});
const CALL_IN_RUN = arg.options<OnceCall>({ key: NAME, tool: NAME, args: arg.object, run: NAME });

export function checkGate(gate: unknown): void {
  checkArgument(GATE, gate, 'gate');
}

/** @throws ArgumentError `bad_argument` */
export function checkCall(
  call: unknown,
  make: unknown,
  options: unknown,
  { hasRun = false }: { readonly hasRun?: boolean } = {},
): void {
  checkArgument(hasRun ? CALL_IN_RUN : CALL, call, 'call');
  checkArgument(arg.code, make, 'make');
  checkArgument(ONCE_OPTIONS, options, 'options');
}
