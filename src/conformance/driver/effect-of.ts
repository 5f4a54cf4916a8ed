import type { Effect } from '../sink/effect.ts';

export interface EffectOptions {
  /** Ends the wait for the sink. */
  readonly signal?: AbortSignal | undefined;
  /** The time after which the wait ends with a `TimeoutError`. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The whole body of a driver's tool: one request to the sink. Returns its text for the model.
 *
 * @throws Error if the sink refuses; the errors of `fetch`, such as for a lost reply or a time-out
 */
export async function sendEffect(
  sink: string,
  effect: Effect,
  { signal, timeoutMs }: EffectOptions = {},
): Promise<string> {
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
