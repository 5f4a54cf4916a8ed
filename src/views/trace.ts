import { type Payload, traceparentIn } from '#ledger';

/** The span of OpenTelemetry that caused an entry. */
export interface EntryTrace {
  readonly trace_id: string;
  readonly span_id: string;
}

/** The trace that an entry has recorded. Undefined if it has none. */
export function traceOf(payload: Payload): EntryTrace | undefined {
  const [, trace_id = '', span_id = ''] = traceparentIn(payload)?.split('-') ?? [];
  return trace_id === '' ? undefined : { trace_id, span_id };
}
