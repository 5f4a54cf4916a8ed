import { z } from 'zod';

/**
 * The events of Claude Code that reach the server, as version 2.1.332 sends them. Unknown members
 * are kept out. An unknown event is no error: it is not about permissions.
 */

const text = z.string().max(1_048_576);
const id = z.string().min(1).max(500);
const input = z.record(z.string(), z.unknown());

const base = z.object({
  session_id: id,
  cwd: z.string().min(1).max(4_096),
  permission_mode: z.string().max(100).optional(),
  agent_id: id.optional(),
  agent_type: z.string().max(200).optional(),
});

const mcpServer = z.object({ name: z.string().max(1_000), source: z.string().max(100) });

const tool = base.extend({
  tool_name: z.string().min(1).max(500),
  tool_input: input,
  mcp_server: mcpServer.optional(),
});

export const askingTool: typeof tool & z.ZodObject<{ tool_use_id: z.ZodString }> = tool.extend({
  tool_use_id: id,
}) as never;
/** `user`: the person typed the command of the skill, and no call of the tool Skill ends it. */
export const skillCommand: typeof askingTool & z.ZodObject<{ invoked_by: z.ZodOptional<z.ZodString> }> =
  askingTool.extend({ invoked_by: z.string().max(100).optional() }) as never;
export type AskingTool = z.infer<typeof tool> & { readonly tool_use_id: string };
export type ToolEvent = z.infer<typeof tool>;

export const permissionRequest: typeof tool = tool;

export const toolDone = tool.extend({
  tool_use_id: id,
  tool_response: z.unknown().optional(),
});
export type ToolDone = z.infer<typeof toolDone>;

export const toolFailed = tool.extend({
  tool_use_id: id,
  error: text.optional(),
  is_interrupt: z.boolean().optional(),
});
export type ToolFailed = z.infer<typeof toolFailed>;

export const batch = base.extend({
  tool_calls: z
    .array(z.object({ tool_use_id: id, tool_name: z.string().optional(), tool_response: z.unknown().optional() }))
    .max(1_000),
});
export type Batch = z.infer<typeof batch>;

export const permissionDenied = base.extend({ tool_use_id: id.optional(), reason: text.optional() });
export type PermissionDenied = z.infer<typeof permissionDenied>;

export const configChange = base.extend({ source: z.string().max(100), file_path: z.string().max(4_096).optional() });
export type ConfigChange = z.infer<typeof configChange>;

export const elicitation = base.extend({
  mcp_server_name: z.string().min(1).max(1_000),
  message: text.optional(),
  mode: z.string().max(100).optional(),
  url: z.string().max(10_000).optional(),
  requested_schema: z.unknown().optional(),
});
export type Elicitation = z.infer<typeof elicitation>;

export const sessionEvent: typeof base = base;
export type SessionEvent = z.infer<typeof base>;
