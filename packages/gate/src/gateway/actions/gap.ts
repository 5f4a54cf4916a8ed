import { z } from 'zod';
import { agentName } from '../name-forms.ts';

/** The arguments of the action `gap`. It leaves the state as it is. */
export const gapArgs: z.ZodObject<{
  from: z.ZodString;
  to: z.ZodString;
  calls: z.ZodInt;
  agents: z.ZodRecord<z.ZodString, z.ZodInt>;
}> = z.strictObject({
  /** The times of the first and the last call that hooks let through, by their own clock. */
  from: z.string().min(1).max(40),
  to: z.string().min(1).max(40),
  calls: z.int().min(1),
  agents: z.record(agentName, z.int().min(1)),
});
export type Gap = z.infer<typeof gapArgs>;
