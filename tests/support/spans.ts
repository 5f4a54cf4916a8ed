/** The spans of this process, as an SDK of OpenTelemetry exports them into memory. */
import { type AttributeValue, context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { onTestFinished } from 'vitest';
import { type OtelOptions, traceAssize } from '#integrations/otel';

export interface Spans {
  readonly all: readonly ReadableSpan[];
  /** The names of spans under each other, in the order of their starts. */
  tree(): readonly string[];
  /** The spans of a name, the oldest first. */
  named(name: string): readonly ReadableSpan[];
  /** The value of an attribute in each span of a name. */
  values(name: string, attribute: string): readonly (AttributeValue | undefined)[];
  /** Runs a program's own work in a span, a new trace. */
  within<T>(name: string, run: () => Promise<T>): Promise<T>;
  clear(): void;
  stop(): void;
}

/** Makes spans until the end of the test. */
export function spans(options: Omit<OtelOptions, 'tracerProvider'> = {}): Spans {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const stop = traceAssize({ ...options, tracerProvider: provider });
  onTestFinished(() => {
    stop();
    context.disable();
    propagation.disable();
  });
  const all = (): ReadableSpan[] =>
    exporter
      .getFinishedSpans()
      .toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
  const under = (parent: string | undefined, depth: number): string[] =>
    all()
      .filter((span) => parentIn(all(), span) === parent)
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.name}`,
        ...under(span.spanContext().spanId, depth + 1),
      ]);
  const named = (name: string): readonly ReadableSpan[] =>
    all().filter((span) => span.name === name);
  return {
    get all() {
      return all();
    },
    tree: () => under(undefined, 0),
    named,
    values: (name, attribute) => named(name).map(({ attributes }) => attributes[attribute]),
    within: (name, run) => {
      const span = provider.getTracer('program').startSpan(name);
      return context.with(trace.setSpan(context.active(), span), run).finally(() => span.end());
    },
    clear: () => exporter.reset(),
    stop,
  };
}

/** The parent of a span among the others. */
function parentIn(
  all: readonly ReadableSpan[],
  { parentSpanContext }: ReadableSpan,
): string | undefined {
  const id = parentSpanContext?.spanId;
  return all.some((span) => span.spanContext().spanId === id) ? id : undefined;
}
