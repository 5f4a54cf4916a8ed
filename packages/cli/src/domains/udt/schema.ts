/**
 * The state of the UDT domain. Orders, tests, claims and relapses are keyed by patient first, so
 * that the rows of one patient are together. A role's parameter confines it to one patient, and a
 * rule about a patient reads only that patient's rows.
 */
import { z } from 'zod';
import type { Day } from './days.ts';

export type TestType = 'presumptive' | 'definitive';
export type TestResult = 'positive' | 'negative';
/** Days since the last positive test. */
export type Tier = '0-30' | '31-89' | '90+';

/** Number of covered definitive tests in a number of days, including the day of the claim. */
export interface Coverage {
  tests: number;
  days: number;
}

export interface Patient {
  program_phase: string;
  enrolled_at: Day;
  /** Day of collection of the last positive test. Null without a positive. */
  last_positive: Day | null;
  /** The last day of the counted abstinence. */
  as_of: Day;
  /** From the last positive, or else from enrolment, to `as_of`. */
  consecutive_days: number;
  tier: Tier;
}

/** A sample, under the id of its order. */
export interface UdtTest {
  type: TestType;
  collected_at: Day;
  /** The last event about the test: its collection, then its result. */
  n: number;
  /** The presumptive test that this one confirms. */
  confirms?: string;
  result?: TestResult;
  /** A doctor decided that this positive does not count, for claims from event `n` on. */
  set_aside?: { by: string; n: number };
}

export interface Order {
  type: TestType;
  rationale: string;
  confirms?: string;
}

export interface Claim {
  test: string;
  /** The date of service: the day on which the sample was collected. */
  date: Day;
  /** The event in which the claim was made. Later records never change its check. */
  n: number;
  tier: Tier;
}

/** The response to a positive test. */
export interface Relapse {
  test: string;
  response: string;
  decided_by?: string;
}

type ByPatient<Row> = Record<string, Record<string, Row>>;

export interface UdtState {
  /** Chosen when a trajectory is created. No action changes it. */
  coverage: Record<Tier, Coverage>;
  /** Number of events, by patient. Every patient here is enrolled. */
  events: Record<string, number>;
  patients: Record<string, Patient>;
  orders: ByPatient<Order>;
  tests: ByPatient<UdtTest>;
  claims: ByPatient<Claim>;
  relapses: ByPatient<Relapse>;
}

/**
 * Ids are used in pointers without escapes: no `/`, no `~`, and never a name with a meaning in
 * JavaScript.
 */
export const id: z.ZodString = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
export const day: z.ZodType<Day, Day> = z.iso.date();
export const testType: z.ZodType<TestType, TestType> = z.enum(['presumptive', 'definitive']);
export const testResult: z.ZodType<TestResult, TestResult> = z.enum(['positive', 'negative']);
export const tier: z.ZodType<Tier, Tier> = z.enum(['0-30', '31-89', '90+']);

const count = z.number().int().nonnegative();
const byPatient = <Row extends z.ZodType>(row: Row) => z.record(id, z.record(id, row));

export const udtState: z.ZodType<UdtState> = z.object({
  // The regulation fixes the other rows: only the middle row can be set.
  coverage: z.object({
    '0-30': z.object({ tests: z.literal(1), days: z.literal(7) }),
    '31-89': z.object({ tests: count, days: count.min(1) }),
    '90+': z.object({ tests: z.literal(3), days: z.literal(90) }),
  }),
  events: z.record(id, count),
  patients: z.record(
    id,
    z.object({
      program_phase: z.string(),
      enrolled_at: day,
      last_positive: day.nullable(),
      as_of: day,
      consecutive_days: count,
      tier,
    }),
  ),
  orders: byPatient(
    z.object({ type: testType, rationale: z.string(), confirms: id.exactOptional() }),
  ),
  tests: byPatient(
    z.object({
      type: testType,
      collected_at: day,
      n: count,
      confirms: id.exactOptional(),
      result: testResult.exactOptional(),
      set_aside: z.object({ by: z.string(), n: count }).exactOptional(),
    }),
  ),
  claims: byPatient(z.object({ test: id, date: day, n: count, tier })),
  relapses: byPatient(
    z.object({ test: id, response: z.string(), decided_by: z.string().exactOptional() }),
  ),
});
