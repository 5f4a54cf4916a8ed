/**
 * The actions of the three agents. An action records its arguments. The invariants decide whether
 * the record can stand. The action itself refuses only a meaningless record: an unknown patient, a
 * repeated id, a sample that was never ordered, a future day.
 */

import type { Action } from 'assize/internal/kernel';
import { z } from 'zod';
import { abstinenceOn, tracked } from './abstinence.ts';
import { type Day, dayOf } from './days.ts';
import { MD } from './doctor.ts';
import type { ProcessName } from './roles.ts';
import {
  day,
  id,
  type Patient,
  type TestResult,
  type TestType,
  type Tier,
  testResult,
  testType,
  tier,
  type UdtState,
  type UdtTest,
} from './schema.ts';

export interface Enroll {
  program_phase: string;
  enrolled_at: Day;
}

export interface OrderTest {
  order: string;
  type: TestType;
  rationale: string;
  confirms?: string;
}

export interface CollectSample {
  /** The order's id. The test has the same id. */
  test: string;
  collected_at: Day;
}

export interface RecordResult {
  test: string;
  result: TestResult;
}

export interface TrackTier {
  as_of: Day;
  tier: Tier;
}

export interface SubmitClaim {
  claim: string;
  test: string;
  date: Day;
  tier: Tier;
}

export interface RespondToRelapse {
  relapse: string;
  test: string;
  response: string;
}

export interface SetAsidePositive {
  relapse: string;
  test: string;
  reason: string;
}

// A type and not an interface: `defineDomain` requires an index signature, and only types have one
// implicitly.
export type UdtActions = {
  enroll: Enroll;
  order_test: OrderTest;
  collect_sample: CollectSample;
  record_result: RecordResult;
  track_tier: TrackTier;
  submit_claim: SubmitClaim;
  respond_to_relapse: RespondToRelapse;
  set_aside_positive: SetAsidePositive;
};

interface UdtAction<Name extends ProcessName, Args> extends Action<UdtState, Args, OfPatient> {
  readonly process: Name;
  /** The recorded arguments equal the proposed ones: no defaults are added. */
  readonly args: z.ZodType<Args, Args>;
}

/** Every role is confined to one patient. */
type OfPatient = { readonly patient: string };

const enroll: UdtAction<'enrolment', Enroll> = {
  process: 'enrolment',
  description: 'Enroll a patient. Abstinence counts from this day until there is a positive test.',
  args: z.object({ program_phase: z.string(), enrolled_at: day }),
  apply: (state, { program_phase, enrolled_at }, { role, at }) => {
    const { patient } = role;
    if (state.events[patient] !== undefined) throw new Error(`${patient} is enrolled already`);
    notAfterToday(enrolled_at, at);
    state.events[patient] = 0;
    const abstinence = abstinenceOn(enrolled_at, enrolled_at, {});
    state.patients[patient] = { program_phase, enrolled_at, as_of: enrolled_at, ...abstinence };
  },
};

const orderTest: UdtAction<'ordering', OrderTest> = {
  process: 'ordering',
  description: 'Order a urine drug test. Orders are never refused for coverage.',
  args: z.object({
    order: id,
    type: testType,
    rationale: z.string(),
    confirms: id.exactOptional(),
  }),
  apply: (state, { order, ...row }, { role }) => {
    addRow(state.orders, enrolled(state, role), order, row);
  },
};

const collectSample: UdtAction<'testing', CollectSample> = {
  process: 'testing',
  description:
    'Record that the sample of an order was collected. The day of collection is the one that counts.',
  args: z.object({ test: id, collected_at: day }),
  apply: (state, { test, collected_at }, { role, at }) => {
    const patient = enrolled(state, role);
    const order = state.orders[patient]?.[test];
    if (order === undefined) throw new Error(`nothing is ordered under ${test}`);
    if (collected_at < recordOf(state, patient).enrolled_at)
      throw new Error(`${patient} was not enrolled then`);
    notAfterToday(collected_at, at);
    const { type, confirms } = order;
    const n = nextEvent(state, patient);
    addRow(state.tests, patient, test, {
      type,
      collected_at,
      n,
      ...(confirms === undefined ? {} : { confirms }),
    });
  },
};

const recordResult: UdtAction<'testing', RecordResult> = {
  process: 'testing',
  description: 'Record the result of a test, whenever it arrives. A positive resets the tier.',
  args: z.object({ test: id, result: testResult }),
  apply: (state, { test, result }, { role }) => {
    const patient = enrolled(state, role);
    const row = testOf(state, patient, test);
    // A negative result can still become positive. The reverse is a doctor's decision.
    if (row.result === 'positive')
      throw new Error(`${test} is positive; only a doctor can void it`);
    if (row.result === result) throw new Error(`${test} is recorded as ${result} already`);
    row.result = result;
    row.n = nextEvent(state, patient);
    track(state, patient, row.collected_at);
  },
};

const trackTier: UdtAction<'tracking', TrackTier> = {
  process: 'tracking',
  description: 'Advance the abstinence record to a day, with its tier.',
  args: z.object({ as_of: day, tier }),
  apply: (state, { as_of, tier }, { role, at }) => {
    const { patient } = role;
    const before = recordOf(state, patient);
    if (as_of < before.as_of) throw new Error(`${patient} is tracked to ${before.as_of} already`);
    notAfterToday(as_of, at);
    track(state, patient, as_of);
    recordOf(state, patient).tier = tier;
  },
};

const submitClaim: UdtAction<'claiming', SubmitClaim> = {
  process: 'claiming',
  description: 'Claim coverage for a test: the day of its collection, and the tier on that day.',
  args: z.object({ claim: id, test: id, date: day, tier }),
  apply: (state, { claim, ...row }, { role }) => {
    const patient = enrolled(state, role);
    addRow(state.claims, patient, claim, { ...row, n: nextEvent(state, patient) });
  },
};

const respondToRelapse: UdtAction<'relapse_response', RespondToRelapse> = {
  process: 'relapse_response',
  description: 'Propose the response to a positive test. A doctor decides.',
  args: z.object({ relapse: id, test: id, response: z.string().min(1) }),
  channel: MD,
  apply: (state, { relapse, test, response }, { role }) => {
    const { patient } = role;
    mustBePositive(state, patient, test);
    addRow(state.relapses, patient, relapse, { test, response });
  },
};

const setAsidePositive: UdtAction<'reappraisal', SetAsidePositive> = {
  process: 'reappraisal',
  description: 'Propose to void a positive test, which restores the tier. A doctor decides.',
  args: z.object({ relapse: id, test: id, reason: z.string().min(1) }),
  channel: MD,
  apply: (state, { relapse, test, reason }, { role }) => {
    const patient = enrolled(state, role);
    if (mustBePositive(state, patient, test).set_aside !== undefined)
      throw new Error(`${test} is set aside already`);
    addRow(state.relapses, patient, relapse, { test, response: `set aside: ${reason}` });
  },
  // Nothing is set aside before the decision: the tier and the claims change with the approval, in
  // its commit.
  onApprove: (state, { test }, { role, counselor }) => {
    const patient = enrolled(state, role);
    const row = testOf(state, patient, test);
    row.set_aside = { by: counselor, n: nextEvent(state, patient) };
    track(state, patient, row.collected_at);
  },
};

export const actions = {
  enroll,
  order_test: orderTest,
  collect_sample: collectSample,
  record_result: recordResult,
  track_tier: trackTier,
  submit_claim: submitClaim,
  respond_to_relapse: respondToRelapse,
  set_aside_positive: setAsidePositive,
} satisfies { readonly [Name in keyof UdtActions]: UdtAction<ProcessName, UdtActions[Name]> };

function enrolled({ events }: Pick<UdtState, 'events'>, { patient }: OfPatient): string {
  if (events[patient] === undefined) throw new Error(`${patient} is not enrolled`);
  return patient;
}

function nextEvent({ events }: Pick<UdtState, 'events'>, patient: string): number {
  const n = (events[patient] ?? 0) + 1;
  events[patient] = n;
  return n;
}

function addRow<Row>(
  rows: Record<string, Record<string, Row>>,
  patient: string,
  key: string,
  row: Row,
): void {
  // Written first and read back: an assigned value is copied, so the local object is a different
  // one.
  if (rows[patient] === undefined) rows[patient] = {};
  const mine = rows[patient] as Record<string, Row>;
  if (mine[key] !== undefined)
    throw new Error(`there is a ${key} of ${patient} already; use another id`);
  mine[key] = row;
}

function recordOf({ patients }: Pick<UdtState, 'patients'>, patient: string): Patient {
  const record = patients[patient];
  if (record === undefined) throw new Error(`${patient} is not enrolled`);
  return record;
}

function testOf({ tests }: Pick<UdtState, 'tests'>, patient: string, test: string): UdtTest {
  const row = tests[patient]?.[test];
  if (row === undefined) throw new Error(`no sample was collected under ${test}`);
  return row;
}

function mustBePositive(state: Pick<UdtState, 'tests'>, patient: string, test: string): UdtTest {
  const row = testOf(state, patient, test);
  if (row.result !== 'positive') throw new Error(`${test} is not positive`);
  return row;
}

function track(state: Pick<UdtState, 'patients' | 'tests'>, patient: string, upTo: Day): void {
  const record = recordOf(state, patient);
  Object.assign(record, tracked(record, state.tests[patient] ?? {}, upTo));
}

function notAfterToday(day: Day, at: string): void {
  if (day > dayOf(at)) throw new Error(`${day} is in the future`);
}
