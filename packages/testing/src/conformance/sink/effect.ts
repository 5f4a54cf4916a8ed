import type { Json } from 'assize/internal/base';
import { z } from 'zod';

/** An effect that the sink has taken. */
export interface Effect {
  readonly run: string;
  readonly call: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  /** The idempotency key of the request. The sink only records it. */
  readonly key?: string | undefined;
}

/** The body of a request to the sink. */
export const effectForm: z.ZodType<Effect> = z.object({
  run: z.string(),
  call: z.string(),
  tool: z.string(),
  args: z.record(z.string(), z.json() as z.ZodType<Json>),
  key: z.string().optional(),
});

/** The treatment of the next request about a call. */
export type Behaviour =
  /** It takes the effect, and answers after a while. */
  | { readonly does: 'late'; readonly ms: number }
  /** It takes the effect, and closes the connection. */
  | { readonly does: 'drop' }
  /** It answers with an error, without the effect. */
  | { readonly does: 'fail' }
  /** It waits before it takes the effect, until it is released. */
  | { readonly does: 'hold' }
  /** It takes the effect, and waits with its answer until it is released. */
  | { readonly does: 'hold-reply' };

/** A message to the process of the sink. */
export type SinkCommand =
  | { readonly op: 'behave'; readonly call: string; readonly behaviour: Behaviour }
  /** Ends a hold. `take: false`: the request has no effect. */
  | { readonly op: 'release'; readonly call: string; readonly take: boolean }
  | { readonly op: 'state' };

export interface SinkState {
  readonly effects: readonly Effect[];
  /** The number of requests by call, with those that have no effect. */
  readonly arrived: Readonly<Record<string, number>>;
}
