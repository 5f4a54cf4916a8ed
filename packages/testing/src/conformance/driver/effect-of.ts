import { arg, checkArgument, isInstance } from 'assize/internal/base';
import { type Effect, effectForm } from '../sink/effect.ts';

export interface EffectOptions {
  /** Ends the wait for the sink. */
  readonly signal?: AbortSignal | undefined;
  /** The time after which the wait ends with a `TimeoutError`. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The whole body of a driver's tool: one request to the sink. Returns its text for the model.
 *
 * @throws Error if the sink refuses; the errors of `fetch`, such as for a lost reply or a time-out;
 * ArgumentError `bad_argument`
 */
export async function sendEffect(
  sink: string,
  effect: Effect,
  options: EffectOptions = {},
): Promise<string> {
  checkArgument(ADDRESS, sink, 'sink');
  checkArgument(EFFECT, effect, 'effect');
  checkArgument(OPTIONS, options, 'options');
  const { signal, timeoutMs } = options;
  const signals = [
    ...(signal === undefined ? [] : [signal]),
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
  ];
  const response = await fetch(new URL('/effects', sink), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(effect),
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the sink refused: ${text}`);
  return text;
}

const ADDRESS = arg.of('an address', (value) => typeof value === 'string' && URL.canParse(value));
const EFFECT = arg.of(
  'an effect: run, call, tool and args',
  (value) => effectForm.safeParse(value).success,
);
const OPTIONS = arg.options<EffectOptions>({
  signal: arg.optional(arg.of('an AbortSignal', (value) => isInstance(value, AbortSignal))),
  timeoutMs: arg.optional(arg.wholeFrom(1)),
});
