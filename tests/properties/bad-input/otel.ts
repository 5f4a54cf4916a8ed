import * as otel from '#integrations/otel';
import type { Case, Exempt } from './case.ts';
import { takes } from './table.ts';

/** Traces no longer than the call, because a process has one tracer. */
const traceAssize = (options: never): void => otel.traceAssize(options)();

export const OTEL: Readonly<Record<string, Case | Exempt>> = {
  traceAssize: takes(traceAssize as never, () => [{ genAi: true, record: false }]),
};
