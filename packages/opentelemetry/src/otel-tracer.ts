import {
  type Context,
  context,
  isSpanContextValid,
  type Tracer as OtelApiTracer,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { isAssizeError, isInstance } from 'assize/internal/base';
import type { Interval, Step, Told, Tracer } from 'assize/internal/traces';
import { attributesOf, genAiAttributes, spanName } from './attributes.ts';
import { formatContext, readContext } from './span-contexts.ts';

/** Errors that answer a repetition. Their callers expect them. */
const EXPECTED: ReadonlySet<string> = new Set(['idempotency_conflict']);

/** Makes a span of each step and each interval. */
export class OtelTracer implements Tracer {
  readonly #tracer: OtelApiTracer;
  readonly #genAi: boolean;
  readonly isRecorded: boolean;

  constructor(
    tracer: OtelApiTracer,
    { genAi, record }: { readonly genAi: boolean; readonly record: boolean },
  ) {
    this.#tracer = tracer;
    this.#genAi = genAi;
    this.isRecorded = record;
  }

  async step<T>(step: Step<T>, run: () => Promise<T>): Promise<T> {
    const genAi = this.#genAi ? genAiAttributes(step) : undefined;
    const attributes = { ...attributesOf(step.facts), ...genAi?.attributes };
    const parent = parentOf(step.parent);
    const span = this.#tracer.startSpan(genAi?.name ?? spanName(step.name), { attributes }, parent);
    try {
      const result = await context.with(trace.setSpan(parent, span), run);
      if (step.told !== undefined && span.isRecording()) await tell(span, step.told, result);
      return result;
    } catch (error) {
      fail(
        span,
        isAssizeError(error) ? error.code : isInstance(error, Error) ? error.name : 'thrown',
      );
      throw error;
    } finally {
      span.end();
    }
  }

  interval({ name, facts, parent, from, until }: Interval): void {
    const caused = readContext(parent);
    const now = trace.getSpanContext(context.active());
    const within =
      caused === undefined ? context.active() : trace.setSpanContext(ROOT_CONTEXT, caused);
    const links =
      now === undefined || caused === undefined || !isSpanContextValid(now)
        ? []
        : [{ context: now }];
    const options = { startTime: from, attributes: attributesOf(facts), links };
    this.#tracer.startSpan(spanName(name), options, within).end(until);
  }

  traceparent(): string | undefined {
    const active = trace.getSpanContext(context.active());
    return active !== undefined && isSpanContextValid(active) ? formatContext(active) : undefined;
  }
}

/** The span that is active here, or else the one of the caller in another process. */
function parentOf(caller: string | undefined): Context {
  const active = context.active();
  const remote = trace.getSpanContext(active) === undefined ? readContext(caller) : undefined;
  return remote === undefined ? active : trace.setSpanContext(active, remote);
}

/** Adds the end of a step to its span. An error of `told` is not one of the step. */
async function tell<T>(span: Span, told: NonNullable<Step<T>['told']>, result: T): Promise<void> {
  let all: Told;
  try {
    all = await told(result);
  } catch {
    return;
  }
  span.setAttributes(attributesOf(all.facts ?? {}));
  const own = span.spanContext().traceId;
  for (const link of all.links ?? []) addLink(span, readContext(link), own);
  if (all.error !== undefined) fail(span, all.error);
}

/** Links to a span of another trace. One of the same trace is there to see. */
function addLink(span: Span, to: SpanContext | undefined, own: string): void {
  if (to !== undefined && to.traceId !== own) span.addLink({ context: to });
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  if (!EXPECTED.has(type)) span.setStatus({ code: SpanStatusCode.ERROR });
}
