import { DidNothing, declareTool, type Tool } from 'assize/internal/effects';
import type { Fault } from './schedule.ts';

/** The answer to a call was lost, so the caller does not know the outcome. */
export class LostResponse extends Error {
  override readonly name = 'LostResponse';
}

/** A call, as a sink hears of it. */
export interface FaultyCall {
  readonly tool: string;
  readonly input: unknown;
  readonly key: string;
}

/**
 * The same tools, with faults between them and their caller. A fault never hits a compensation or a
 * query of a sink (A.2: per tool call). `tear` executes the part of a `torn` call; by default no
 * part is executed.
 */
export function withFaults(
  tools: readonly Tool[],
  faultOf: (call: FaultyCall) => Fault,
  tear: (call: FaultyCall) => void | Promise<void> = () => undefined,
): Tool[] {
  return tools.map(({ name, spec }) =>
    declareTool({
      ...spec,
      execute: async (input, call, planned) => {
        const made = { tool: name, input, key: call.key };
        const fault = faultOf(made);
        if (fault === 'exception') throw new DidNothing(`${name} was not reached`);
        if (fault === 'torn') {
          await tear(made);
          throw new LostResponse(`${name} was cut off`);
        }
        const answer: unknown = await spec.execute(input, call, planned);
        if (fault === 'lost') throw new LostResponse(`the answer of ${name} was lost`);
        return answer;
      },
    }),
  );
}
