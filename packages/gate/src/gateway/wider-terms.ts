import { readInstant } from 'assize/internal/canon';
import type { z } from 'zod';
import type { standArgs } from './actions/stand.ts';
import { matchesSome } from './names.ts';

type Terms = Omit<z.infer<typeof standArgs>, 'id' | 'because'>;

/**
 * Names the part by which the amended terms of a standing approval may let more through than the
 * proposed ones. Undefined: they cover no other call. A pattern of tools counts as more unless one
 * proposed pattern matches all of its tools.
 */
export function widerTerms(proposed: Terms, amended: Terms): string | undefined {
  const { agent, uses, expires } = amended;
  if (agent !== proposed.agent) return `the agent ${agent}`;
  const tool = amended.tools.find((pattern) => !matchesSome(proposed.tools, pattern));
  if (tool !== undefined) return `the tools ${tool}`;
  if (uses > proposed.uses) return `${uses} uses, and ${proposed.uses} were proposed`;
  for (const [unit, amount] of Object.entries(amended.amounts)) {
    // A call that spends a unit without an amount is not covered.
    const most = Object.hasOwn(proposed.amounts, unit)
      ? (proposed.amounts[unit] as number)
      : undefined;
    if (most === undefined || amount > most)
      return `${amount} ${unit}, and ${most ?? 'none'} were proposed`;
  }
  const end = readInstant(expires);
  const proposedEnd = readInstant(proposed.expires);
  // `apply` refuses a text that is not an instant.
  if (end !== undefined && proposedEnd !== undefined && end > proposedEnd)
    return `an end at ${end}, and ${proposedEnd} was proposed`;
  return undefined;
}
