import { type Payload, traceparentIn } from '#ledger';

/** The span of OpenTelemetry that caused an entry. */
export interface EntryTrace {
  readonly trace_id: string;
  readonly span_id: string;
  /** The page of the trace. Absent if no address of traces is known. */
  readonly url?: string;
}

/**
 * The trace that an entry has recorded. Undefined if it has none. `address`: the address of a
 * trace, with `{traceId}` and, if it is wanted, `{spanId}`.
 */
export function traceOf(payload: Payload, address: string | undefined): EntryTrace | undefined {
  const [, trace_id = '', span_id = ''] = traceparentIn(payload)?.split('-') ?? [];
  if (trace_id === '') return undefined;
  const url = address?.replaceAll('{traceId}', trace_id).replaceAll('{spanId}', span_id);
  return { trace_id, span_id, ...(url !== undefined && /^https?:\/\//.test(url) && { url }) };
}
