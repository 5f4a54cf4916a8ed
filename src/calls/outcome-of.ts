import type { CallWorld } from './call-world.ts';
import { type Outcome, reportKey } from './close-call.ts';
import { argsUnder } from './decide-call.ts';

/** The recorded outcome of a call, with its result. Undefined while it is not known. */
export async function outcomeOf(world: CallWorld, call: string): Promise<Outcome | undefined> {
  const { isKnown, outcome } = world.read(({ calls }) => {
    const row = Object.hasOwn(calls, call) ? calls[call] : undefined;
    return { isKnown: row !== undefined, outcome: row?.agent === world.agent ? row.outcome : undefined };
  });
  if (isKnown) return outcome && { outcome, ...(await reported(world, call, outcome)) };
  // A closed call of a past day is no longer in the state.
  for (const past of ['done', 'failed'] as const) {
    const found = await reported(world, call, past);
    if (found !== undefined) return { outcome: past, ...found };
  }
  return undefined;
}

/** The report of the agent. A call that a person has settled has none. */
async function reported(
  world: CallWorld,
  call: string,
  outcome: Outcome['outcome'],
): Promise<Pick<Outcome, 'result'> | undefined> {
  const args = await argsUnder(world, reportKey(call, outcome));
  if (args === undefined) return undefined;
  return args['result'] === undefined ? {} : { result: args['result'] };
}
