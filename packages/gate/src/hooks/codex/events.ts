import type { z } from 'zod';
import * as shared from '../events.ts';

/** The events that Codex has in a form of its own, as version 0.171.0 sends them. */

/** The end of a call. It says nothing of an exit code. */
export const toolDone = shared.toolDone.omit({ tool_input: true });
export type ToolDone = z.infer<typeof toolDone>;
