import { z } from 'zod';
import * as shared from '../shared-events.ts';

/** The events that only Claude Code has, as version 2.1.332 sends them. */

const { id, sessionEvent } = shared;
const text = z.string().max(1_048_576);

const origin = {
  mcp_server: z.object({ name: z.string().max(1_000), source: z.string().max(100) }).optional(),
};

export const permissionRequest = shared.toolEvent.extend(origin);
export type ToolEvent = z.infer<typeof permissionRequest>;

export const askingTool = shared.askingTool.extend(origin);
export type AskingTool = z.infer<typeof askingTool>;

/** `user`: the person typed the command of the skill, and no call of the tool Skill ends it. */
export const skillCommand = askingTool.extend({ invoked_by: z.string().max(100).optional() });

export const toolFailed = askingTool.extend({
  error: text.optional(),
  is_interrupt: z.boolean().optional(),
});
export type ToolFailed = z.infer<typeof toolFailed>;

export const batch = sessionEvent.extend({
  tool_calls: z
    .array(
      z.object({
        tool_use_id: id,
        tool_name: z.string().optional(),
        tool_response: z.unknown().optional(),
      }),
    )
    .max(1_000),
});
export type Batch = z.infer<typeof batch>;

export const permissionDenied = sessionEvent.extend({
  tool_use_id: id.optional(),
  reason: text.optional(),
});

export const configChange = sessionEvent.extend({
  source: z.string().max(100),
  file_path: z.string().max(4_096).optional(),
});

export const elicitation = sessionEvent.extend({
  mcp_server_name: z.string().min(1).max(1_000),
  message: text.optional(),
  mode: z.string().max(100).optional(),
  url: z.string().max(10_000).optional(),
  requested_schema: z.unknown().optional(),
});
