import { addMicros, instantToMillis, readInstant } from 'assize/internal/canon';
import { z } from 'zod';
import { agentName, ruleId, toolPattern, unitName } from '../name-forms.ts';
import { matchesTool } from '../names.ts';
import type { Rules } from '../rules/rules.ts';
import type { GatewayState } from '../schema.ts';
import { HOUR_MS } from './call.ts';

export const standArgs: z.ZodObject<{
  id: z.ZodString;
  agent: z.ZodString;
  tools: z.ZodArray<z.ZodString>;
  uses: z.ZodInt;
  amounts: z.ZodRecord<z.ZodString, z.ZodInt>;
  expires: z.ZodString;
  because: z.ZodString;
}> = z.strictObject({
  id: ruleId,
  agent: agentName,
  tools: z.array(toolPattern).min(1).max(100),
  uses: z.int().min(1),
  amounts: z.record(unitName, z.int().min(0)),
  /** An instant such as `2026-03-01T18:00:00Z`. */
  expires: z.string(),
  because: z.string().min(1).max(2000),
});

/**
 * Proposes a standing approval. The invariant `STANDING_APPROVED` needs a counselor to commit it.
 */
export function applyStand(
  state: GatewayState,
  { id, ...asked }: z.infer<typeof standArgs>,
  { agent, at }: { readonly agent: string | undefined; readonly at: string },
  { standing: most }: Rules,
): void {
  if (agent !== undefined && asked.agent !== agent)
    throw new Error(`${agent} can ask only for itself`);
  if (state.standing[id] !== undefined)
    throw new Error(`the standing approval ${id} exists already`);
  const isSpent = Object.keys(state.spent).some((key) => key.startsWith(`${id}|`));
  if (isSpent)
    throw new Error(
      `uses of an earlier standing approval ${id} are still counted; give it another id`,
    );
  if (asked.tools.some((pattern) => matchesTool(pattern, '*') && pattern === '*'))
    throw new Error('a standing approval names its tools: write server/tool or server/*');
  const expires = readInstant(asked.expires);
  if (expires === undefined)
    throw new Error('expires is not an instant; write 2026-03-01T18:00:00Z');
  if (expires <= at) throw new Error(`it would have expired at ${expires}`);
  if (instantToMillis(expires) - instantToMillis(at) > most.hours * HOUR_MS)
    throw new Error(
      `it would last longer than ${most.hours} hours, until after ${addMicros(at, most.hours * HOUR_MS * 1000)}`,
    );
  if (asked.uses > most.uses)
    throw new Error(`${asked.uses} uses are more than the ${most.uses} of the rules`);
  for (const [unit, amount] of Object.entries(asked.amounts)) {
    const cap = Object.hasOwn(most.amounts, unit) ? (most.amounts[unit] as number) : 0;
    if (amount > cap) throw new Error(`${amount} ${unit} are more than the ${cap} of the rules`);
  }
  state.standing[id] = { ...asked, expires };
}

export const endStandingArgs: z.ZodObject<{ id: z.ZodString }> = z.strictObject({ id: ruleId });

/** Ends a standing approval immediately. Its uses stay counted until they are tidied away. */
export function applyEndStanding(
  state: GatewayState,
  { id }: z.infer<typeof endStandingArgs>,
  { agent }: { readonly agent: string | undefined },
): void {
  const standing = state.standing[id];
  if (standing === undefined) throw new Error(`there is no standing approval ${id}`);
  if (agent !== undefined && standing.agent !== agent)
    throw new Error(`${id} is that of another agent`);
  delete state.standing[id];
}
