import type { ExpectedCall } from '../judge.ts';
import type { Ability, Answers, WantedCall } from '../protocol/messages.ts';
import { Deviation, type Stage } from '../stage.ts';

/** One situation that every runtime is put into. */
export interface Scenario {
  /** In kebab case, for the command line. */
  readonly name: string;
  /** The situation, in a few words. */
  readonly title: string;
  /** The effects that may be at the sink. */
  readonly passes: string;
  readonly why: string;
  /** A driver that lacks one of these is not judged here. */
  readonly needs: readonly Ability[];
  /** @throws Deviation, ConformanceError */
  readonly run: (stage: Stage) => Promise<readonly ExpectedCall[]>;
}

/** The run of scenarios with one. */
export const RUN = 'run-1';

export const PERSON = 'manager:grace';

/** A payment. It asks a person. */
export function pay(id: string, to: string, cents: number): WantedCall {
  return { id, tool: 'pay', args: { to, cents } };
}

/** Another tool with the arguments of a payment. It asks a person too. */
export function refund(id: string, to: string, cents: number): WantedCall {
  return { id, tool: 'refund', args: { to, cents } };
}

/** A note: an effect that asks no person. */
export function note(id: string, text: string): WantedCall {
  return { id, tool: 'note', args: { text } };
}

/** Reads a value. This has no effect. */
export function get(id: string, item: string): WantedCall {
  return { id, tool: 'get', args: { item } };
}

/** Changes a value, and answers with the one before. */
export function set(id: string, item: string, to: string): WantedCall {
  return { id, tool: 'set', args: { item, to } };
}

export function approve(...calls: readonly WantedCall[]): Answers {
  return Object.fromEntries(calls.map(({ id }) => [id, { decision: 'approve', person: PERSON }]));
}

export function reject(...calls: readonly WantedCall[]): Answers {
  return Object.fromEntries(calls.map(({ id }) => [id, { decision: 'reject', person: PERSON }]));
}

export function expected(
  made: ExpectedCall['made'],
  call: WantedCall,
  run: string = RUN,
): ExpectedCall {
  return { ...call, run, made };
}

/** That a request about the call is at the sink. @throws Deviation `not-reached` */
export async function untilArrived({ sink, timeoutMs }: Stage, { id }: WantedCall): Promise<void> {
  if (await sink.hasArrived(id, timeoutMs)) return;
  throw new Deviation(
    'not-reached',
    `the approved call ${id} did not reach the sink in ${timeoutMs} ms`,
  );
}

/** That a call which waits has no effect yet. @throws Deviation `not-approved` */
export async function assertUnmade({ sink }: Stage, { id, tool }: WantedCall): Promise<void> {
  const { effects } = await sink.state();
  if (!effects.some(({ call }) => call === id)) return;
  throw new Deviation('not-approved', `${tool} ${id} was made before its approval`);
}
