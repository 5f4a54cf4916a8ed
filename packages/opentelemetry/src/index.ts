/**
 * Spans of OpenTelemetry for proposals, calls and approvals, by the optional peer
 * `@opentelemetry/api`. The program brings its own SDK.
 *
 * Guarantees: spans have ids, names and codes. An entry records the trace that caused it.
 * Never: an argument, a result, the text of a rule, or the message of an error in a span.
 */
export { type OtelOptions, traceAssize } from './trace-assize.ts';
