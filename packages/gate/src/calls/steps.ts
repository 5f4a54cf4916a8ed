import { readRow, traceparentIn } from 'assize/internal/ledger';
import type { Step } from 'assize/internal/traces';
import { type AskedCall, keyOf, runCallIdOf } from './asked-call.ts';
import type { CallWorld } from './call-world.ts';

/** A call, as its framework names it. */
interface NamedCall {
  readonly run: string;
  readonly id: string;
  readonly tool: string;
}

/** The end of a call. */
interface End {
  readonly end: string;
  readonly call: string;
  readonly isRecorded?: boolean;
  readonly approval?: string;
}

interface Decided {
  readonly kind: string;
  readonly call?: string;
  readonly approval?: string;
}

/** A call of a framework, from the question to its recorded outcome. */
export function callStep(server: string, { run, id, tool }: NamedCall): Step<End> {
  return {
    name: 'call',
    facts: { call: runCallIdOf(run, id), tool: `${server}/${tool}`, run, tool_call: id },
    told: ({ end, call, isRecorded: recorded, approval }) => {
      const error =
        end === 'failed' ? 'call_failed' : end === 'doubt' ? 'call_in_doubt' : undefined;
      return { facts: { end, call, recorded, approval }, error };
    },
  };
}

/** The work of the tool. */
export function makeStep(
  server: string,
  call: string,
  { run, id, tool }: NamedCall,
): Step<unknown> {
  return { name: 'make', facts: { call, tool: `${server}/${tool}`, run, tool_call: id } };
}

/** The question whether a call may be made, now or later. A repeated one links to the first. */
export function askStep(world: CallWorld, asked: AskedCall, name: 'ask' | 'judge'): Step<Decided> {
  const { id, session: run, server, tool } = asked;
  const { trajectory, principal, traceparent: parent } = world;
  const facts = { trajectory: trajectory.id, call: id, tool: `${server}/${tool}`, run, principal };
  return {
    ...{ name, facts, parent },
    told: async ({ kind: decision, call = id, approval }) => ({
      facts: { decision, call, approval },
      links: [await traceOf(world, call)],
    }),
  };
}

/** The record of an outcome. */
export function reportStep(
  world: CallWorld,
  call: string,
  { outcome }: { readonly outcome: string },
): Step<boolean> {
  const { trajectory, traceparent: parent } = world;
  const facts = { trajectory: trajectory.id, call, outcome };
  return { name: 'report', facts, parent, told: (recorded) => ({ facts: { recorded } }) };
}

/** The trace in which a call was first asked about. */
async function traceOf(
  { trajectory, principal }: CallWorld,
  call: string,
): Promise<string | undefined> {
  const ruling = await trajectory.rulingOf(keyOf({ id: call }), principal);
  return ruling === undefined || ruling.ruling === 'frozen'
    ? undefined
    : traceparentIn(readRow(ruling.entry).payload);
}
