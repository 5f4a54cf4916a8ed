import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** The context of a span in another process. Undefined without a valid traceparent. */
export function readContext(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = traceparent?.split('-') ?? [];
  const read = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(read) ? read : undefined;
}

/** The traceparent of a span. */
export function formatContext({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
