import { z } from 'zod';
import { AGENT, CALL, RULE, SERVER, TOOL, TOOL_PATTERN, UNIT } from './names.ts';

/** The names in arguments and in rules. A misfit says what is expected, with an example. */

export const serverName: z.ZodString = z
  .string()
  .regex(SERVER, 'write a server such as bank, with letters, digits and _ : @ -, at most 100');
export const toolName: z.ZodString = z
  .string()
  .regex(
    TOOL,
    'write a tool such as pay or repos/get, with letters, digits and _ . : / -, at most 200',
  );
export const toolPattern: z.ZodString = z
  .string()
  .regex(TOOL_PATTERN, 'write server/tool, server/*, server/get_* or *');
export const agentName: z.ZodString = z
  .string()
  .regex(AGENT, 'write an agent such as ada, with letters, digits and _ . : @ + -, at most 200');
export const callId: z.ZodString = z
  .string()
  .regex(CALL, 'write an id such as call-1, with letters, digits and _ . : -, at most 200');
export const sessionId: z.ZodString = z
  .string()
  .regex(CALL, 'write a session such as run-1, with letters, digits and _ . : -, at most 200');
export const ruleId: z.ZodString = z
  .string()
  .regex(RULE, 'use lower-case letters, digits and -, at most 64');
export const unitName: z.ZodString = z
  .string()
  .regex(UNIT, 'write a unit such as cents, with lower-case letters, digits and _, at most 32');
