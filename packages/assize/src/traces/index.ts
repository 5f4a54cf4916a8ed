/**
 * Steps of the runtime, told to one tracer of the process, such as that of OpenTelemetry.
 *
 * Guarantees: without a tracer nothing is collected. A fact is a name, an id, a number or a code,
 * and never an argument, a result, or the text of a rule or of an error.
 * Never: changes a step, its result or its error.
 */
export { currentTracer, installTracer, TraceError, traced } from './current-tracer.ts';
export type { Facts, Interval, Step, Told, Tracer } from './tracer.ts';
