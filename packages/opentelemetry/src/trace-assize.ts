import { type TracerProvider, trace } from '@opentelemetry/api';
import { arg, checkArgument } from 'assize/internal/base';
import { installTracer } from 'assize/internal/traces';
import { OtelTracer } from './otel-tracer.ts';

export interface OtelOptions {
  /** The provider of tracers. Default: the global one, as the SDK has registered it. */
  readonly tracerProvider?: TracerProvider;
  /** Whether the span of a tool has the names of the GenAI conventions too. Default: false. */
  readonly genAi?: boolean;
  /**
   * Whether the entries of this process record the trace of the step that causes them, where no
   * caller has passed another. Default: true.
   */
  readonly record?: boolean;
}

/**
 * Makes spans of all that Assize does in this process from now on. Returns a function that ends
 * this. Register the SDK with its context manager first.
 *
 * @throws TraceError `misuse`; ArgumentError `bad_argument`
 */
export function traceAssize(options: OtelOptions = {}): () => void {
  checkArgument(OPTIONS, options, 'options');
  const { tracerProvider = trace.getTracerProvider(), genAi = false, record = true } = options;
  return installTracer(new OtelTracer(tracerProvider.getTracer('assize'), { genAi, record }));
}

const OPTIONS = arg.options<OtelOptions>({
  tracerProvider: arg.optional(arg.object),
  genAi: arg.optional(arg.flag),
  record: arg.optional(arg.flag),
});
