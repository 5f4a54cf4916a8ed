import { z } from 'zod';

/**
 * The forms of events that Claude Code 2.1.332 and Codex 0.171.0 share. Unknown members are kept
 * out. An unknown event is not an error: it is not about permissions.
 */

export const id: z.ZodString = z.string().min(1).max(500);

/** An event of a session, or of a subagent in it. */
export const sessionEvent = z.object({
  session_id: id,
  cwd: z.string().min(1).max(4_096),
  permission_mode: z.string().max(100).optional(),
  agent_id: id.optional(),
  agent_type: z.string().max(200).optional(),
});
export type SessionEvent = z.infer<typeof sessionEvent>;

/** An event about a tool and its input. A question before a call to a person names no call. */
export const toolEvent = sessionEvent.extend({
  tool_name: z.string().min(1).max(500),
  tool_input: z.record(z.string(), z.unknown()),
});
export type ToolEvent = z.infer<typeof toolEvent>;

/** A question about a call that the program is about to make. */
export const askingTool = toolEvent.extend({ tool_use_id: id });
export type AskingTool = z.infer<typeof askingTool>;

export const toolDone = askingTool.extend({ tool_response: z.unknown().optional() });
export type ToolDone = z.infer<typeof toolDone>;
