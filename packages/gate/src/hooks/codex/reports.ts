import type { Json } from 'assize/internal/base';
import type { z } from 'zod';
import { attend, type CallWorld, callIdOf, closeCall } from '#calls';
import * as answers from '../answers.ts';
import type { HookProgram } from '../handle-event.ts';
import { sessionBegun, sessionEnded, sessionOf } from '../sessions.ts';
import * as shared from '../shared-events.ts';
import { sessionEvent } from '../shared-events.ts';

/** Records an event that only informs. An unknown one is let pass. */
export const recorded: HookProgram<HookOptions>['recorded'] = async (
  world,
  name,
  given,
  { inboxUrl },
) => {
  switch (name) {
    case 'PostToolUse': {
      const event = toolDone.safeParse(given);
      return event.success
        ? closed(world, event.data)
        : answers.told(
            `Assize could not read the event ${name}. A call may stay open; see the console.`,
          );
    }
    case 'SessionStart':
      // Codex reports no outcome of a command in the background, nor of one that it refuses itself.
      return sessionBegun(
        world,
        given,
        { program: CODEX, inboxUrl },
        (call) => call.class !== 'read',
      );
    case 'UserPromptSubmit':
    case 'SubagentStart': {
      const event = sessionEvent.safeParse(given);
      if (event.success) await attend(world, sessionOf(event.data, CODEX));
      return answers.NOTHING;
    }
    case 'SubagentStop':
    case 'SessionEnd':
      return sessionEnded(world, given);
    default:
      return answers.NOTHING;
  }
};

/** Codex reports no exit code, so a call that came to its end is done. */
async function closed(
  world: CallWorld,
  { session_id, tool_use_id, tool_response }: ToolDone,
): Promise<answers.HookAnswer> {
  const result = tool_response === undefined ? {} : { result: tool_response as Json };
  await closeCall(world, callIdOf(session_id, tool_use_id), { outcome: 'done', ...result });
  return answers.NOTHING;
}

/** The end of a call, as Codex 0.171.0 sends it. It has no exit code. */
const toolDone = shared.toolDone.omit({ tool_input: true });
type ToolDone = z.infer<typeof toolDone>;

/** How the server answers the hooks of Codex. */
export interface HookOptions {
  /** How long a question waits for a person. */
  readonly waitMs: number;
  /** The digest of the sandbox in which the program runs its commands, if it has one. */
  readonly sandbox?: string | undefined;
  /** The address of the inbox of the console. */
  readonly inboxUrl: string;
}

/** The name of the program, as sessions have it. */
export const CODEX = 'Codex';
