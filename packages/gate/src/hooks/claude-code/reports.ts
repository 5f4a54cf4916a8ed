import type { Json } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import type { CallWorld } from '#calls';
import { attend, callIdOf, closeCall, closeCallsOf, inDoubt, type Outcome } from '#calls';
import * as answers from '../answers.ts';
import { doubtText } from '../doubt-text.ts';
import { sessionEvent, type ToolDone, toolDone } from '../events.ts';
import { sessionEnded } from '../session-ended.ts';
import * as events from './events.ts';
import { fileChange } from './file-change.ts';
import type { HookOptions } from './hook-options.ts';
import { isRefusal } from './refusal-text.ts';
import { sessionOf, UNTOLD } from './session-of.ts';

/** Records an event that only informs. An unknown one is let pass. */
export async function recorded(
  world: CallWorld,
  name: string,
  given: unknown,
  { inboxUrl }: HookOptions,
): Promise<answers.HookAnswer> {
  switch (name) {
    case 'PostToolUse': {
      const event = toolDone.safeParse(given);
      return event.success ? closed(world, event.data, doneWith(event.data)) : unread(name);
    }
    case 'PostToolUseFailure': {
      const event = events.toolFailed.safeParse(given);
      return event.success ? closed(world, event.data, failedWith(event.data)) : unread(name);
    }
    case 'PermissionDenied': {
      const event = events.permissionDenied.safeParse(given);
      const { tool_use_id, reason = '' } = event.data ?? {};
      if (event.data === undefined || tool_use_id === undefined) return answers.NOTHING;
      const result = { denied: reason.slice(0, 4_000).toWellFormed() };
      return closed(world, { ...event.data, tool_use_id }, { outcome: 'failed', result });
    }
    case 'PostToolBatch': {
      const event = events.batch.safeParse(given);
      return event.success ? batchClosed(world, event.data) : unread(name);
    }
    case 'UserPromptSubmit':
    case 'SessionStart':
    case 'SubagentStart':
      return begun(world, given, inboxUrl);
    case 'SubagentStop':
    case 'SessionEnd':
      return sessionEnded(world, given);
    default:
      return answers.NOTHING;
  }
}

function unread(name: string): answers.HookAnswer {
  return answers.told(`Assize could not read the event ${name}. Calls may stay open; see the console.`);
}

async function closed(world: CallWorld, event: EndedCall, outcome: Outcome): Promise<answers.HookAnswer> {
  await closeCall(world, callIdOf(event.session_id, event.tool_use_id), outcome);
  await skillClosed(world, event, outcome.outcome === 'done' ? 'done' : 'unknown');
  return answers.NOTHING;
}

interface EndedCall {
  readonly session_id: string;
  readonly tool_use_id: string;
  readonly tool_name?: string | undefined;
}

/** The commands in the text of a skill. Those of one that failed may have run or not. */
async function skillClosed(
  world: CallWorld,
  { session_id, tool_use_id, tool_name }: EndedCall,
  outcome: Outcome['outcome'],
): Promise<void> {
  if (tool_name !== 'Skill') return;
  await closeCallsOf(world, callIdOf(session_id, `${tool_use_id}:preamble-`), { outcome, result: UNTOLD });
}

function doneWith({ tool_name, tool_input, tool_response }: ToolDone): Outcome {
  const change = fileChange(tool_name, tool_input, tool_response);
  if (change !== undefined) return { outcome: 'done', result: { file: change } };
  if (isStart(tool_name, tool_response))
    return { outcome: 'done', result: { note: STARTED, response: tool_response as Json } };
  return tool_response === undefined ? { outcome: 'done' } : { outcome: 'done', result: tool_response as Json };
}

const STARTED = 'The call started work in the background. Claude Code reports no end of it.';

/** Whether the outcome of a call is only that its work was started. */
function isStart(tool: string, response: unknown): boolean {
  if (tool === 'Monitor') return true;
  const { backgroundTaskId, status } = (response ?? {}) as { backgroundTaskId?: unknown; status?: unknown };
  return backgroundTaskId !== undefined || (tool === 'Agent' && status === 'async_launched');
}

function failedWith({ error = '', is_interrupt = false }: events.ToolFailed): Outcome {
  const result = {
    error: error.slice(0, 16_384).toWellFormed(),
    ...(error.length > 16_384 && { sha256: hashText(error) }),
  };
  return { outcome: is_interrupt ? 'unknown' : 'failed', result };
}

/**
 * The end of a turn. A call that was let through and has no outcome yet was refused by the program
 * itself. Otherwise the event of its outcome was lost, and whether the call was made is not known.
 */
async function batchClosed(world: CallWorld, { session_id, tool_calls }: events.Batch): Promise<answers.HookAnswer> {
  for (const { tool_use_id, tool_name, tool_response } of tool_calls) {
    const said = typeof tool_response === 'string' ? tool_response.slice(0, 4_000).toWellFormed() : '';
    const outcome: Outcome = isRefusal(said)
      ? { outcome: 'failed', result: { not_made: said } }
      : { outcome: 'unknown', result: { model_read: said } };
    await closeCall(world, callIdOf(session_id, tool_use_id), outcome);
    await skillClosed(world, { session_id, tool_use_id, tool_name }, 'unknown');
  }
  return answers.NOTHING;
}

/** The start of a session, or its next prompt: tells the person of calls in doubt. */
async function begun(world: CallWorld, given: unknown, inboxUrl: string): Promise<answers.HookAnswer> {
  const event = sessionEvent.safeParse(given);
  if (!event.success) return answers.NOTHING;
  const session = sessionOf(event.data);
  await attend(world, session);
  const calls = inDoubt(world, world.now(), session.id);
  const text = doubtText(world, calls, inboxUrl);
  return text === undefined ? answers.NOTHING : answers.told(text);
}
