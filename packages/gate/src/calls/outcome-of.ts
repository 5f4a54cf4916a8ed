import { argsUnder } from './args-under.ts';
import type { CallWorld } from './call-world.ts';
import { type Outcome, reportKey } from './close-call.ts';
import { pastCall } from './past-call.ts';

/**
 * The recorded outcome of a call, however old, with the result that its agent has reported. One
 * that a person has settled has no result. Undefined while it is not known.
 */
export async function outcomeOf(world: CallWorld, call: string): Promise<Outcome | undefined> {
  const { isKnown, outcome } = world.read(({ calls }) => {
    const row = Object.hasOwn(calls, call) ? calls[call] : undefined;
    return {
      isKnown: row !== undefined,
      outcome: row?.agent === world.agent ? row.outcome : undefined,
    };
  });
  if (!isKnown) return (await pastCall(world, call)).outcome;
  if (outcome === undefined) return undefined;
  const args = await argsUnder(world, reportKey(call, outcome));
  return { outcome, ...(args?.['result'] !== undefined && { result: args['result'] }) };
}
