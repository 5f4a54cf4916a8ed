import type { Json } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import { type CallWorld, callIdOf, closeCall, closeCallsOf, type Outcome } from '#calls';
import * as answers from '../answers.ts';
import type { HookProgram } from '../handle-event.ts';
import { sessionBegun, sessionEnded } from '../sessions.ts';
import { type ToolDone, toolDone } from '../shared-events.ts';
import * as events from './events.ts';

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
      return sessionBegun(world, given, { program: CLAUDE_CODE, inboxUrl });
    case 'SubagentStop':
    case 'SessionEnd':
      return sessionEnded(world, given);
    default:
      return answers.NOTHING;
  }
};

function unread(name: string): answers.HookAnswer {
  return answers.told(
    `Assize could not read the event ${name}. Calls may stay open; see the console.`,
  );
}

async function closed(
  world: CallWorld,
  event: EndedCall,
  outcome: Outcome,
): Promise<answers.HookAnswer> {
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
  await closeCallsOf(world, callIdOf(session_id, `${tool_use_id}:preamble-`), {
    outcome,
    result: UNTOLD,
  });
}

function doneWith({ tool_name, tool_input, tool_response }: ToolDone): Outcome {
  const change = fileChange(tool_name, tool_input, tool_response);
  if (change !== undefined) return { outcome: 'done', result: { file: change } };
  if (isStart(tool_name, tool_response))
    return { outcome: 'done', result: { note: STARTED, response: tool_response as Json } };
  return tool_response === undefined
    ? { outcome: 'done' }
    : { outcome: 'done', result: tool_response as Json };
}

const STARTED = 'The call started work in the background. Claude Code reports no end of it.';

/** Whether the outcome of a call is only that its work was started. */
function isStart(tool: string, response: unknown): boolean {
  if (tool === 'Monitor') return true;
  const { backgroundTaskId, status } = (response ?? {}) as {
    backgroundTaskId?: unknown;
    status?: unknown;
  };
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
async function batchClosed(
  world: CallWorld,
  { session_id, tool_calls }: events.Batch,
): Promise<answers.HookAnswer> {
  for (const { tool_use_id, tool_name, tool_response } of tool_calls) {
    const said =
      typeof tool_response === 'string' ? tool_response.slice(0, 4_000).toWellFormed() : '';
    const outcome: Outcome = isRefusal(said)
      ? { outcome: 'failed', result: { not_made: said } }
      : { outcome: 'unknown', result: { model_read: said } };
    await closeCall(world, callIdOf(session_id, tool_use_id), outcome);
    await skillClosed(world, { session_id, tool_use_id, tool_name }, 'unknown');
  }
  return answers.NOTHING;
}

/** The change of a file by a call, so that it can be taken back. */
interface FileChange {
  readonly [name: string]: Json;
  readonly path: string;
  /** The text before the call. Null: there was no file. */
  readonly before: string | null;
  /** The hash of the text after the call. */
  readonly after: string;
}

/** The largest text before a call that is kept. */
const BEFORE_BYTES_MAX = 200_000;

/**
 * The change of a call of Write, Edit or NotebookEdit, from its response. Undefined without a
 * change, or if the text before it is not known or too large.
 */
function fileChange(tool: string, input: object, response: unknown): FileChange | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  const { originalFile, original_file, updated_file, content, replaceAll } = response as Record<
    string,
    unknown
  >;
  const { file_path, notebook_path, old_string, new_string } = input as Record<string, unknown>;
  // The person can change an edit at the terminal, and then only the response has it.
  const { oldString = old_string, newString = new_string } = response as Record<string, unknown>;
  const path = file_path ?? notebook_path;
  const before = originalFile === undefined ? original_file : originalFile;
  if (typeof path !== 'string' || !(typeof before === 'string' || before === null))
    return undefined;
  if (before !== null && Buffer.byteLength(before) > BEFORE_BYTES_MAX) return undefined;
  const after =
    tool === 'Write'
      ? content
      : tool === 'Edit'
        ? edited(before, oldString, newString, replaceAll)
        : updated_file;
  return typeof after === 'string' ? { path, before, after: hashText(after) } : undefined;
}

function edited(
  before: string | null,
  from: unknown,
  to: unknown,
  isAll: unknown,
): string | undefined {
  if (typeof from !== 'string' || typeof to !== 'string') return undefined;
  const text = before ?? '';
  if (from === '') return to;
  if (isAll === true) return text.replaceAll(from, () => to);
  return text.replace(from, () => to);
}

/**
 * How Claude Code 2.1.332 begins the result of a call that it refused before it was made: the call
 * was invalid, a hook refused it, or the person or a rule of the person did. A failed command has
 * another beginning.
 */
const BEGINNINGS: readonly RegExp[] = [
  /^<tool_use_error>/,
  /^PreToolUse(?::| hook for )/,
  /^\[https?:[^\]]*\]: (?:failed|timed out); blocking/,
  /^Permission (?:to use |for this |denied by |denied for )/,
  /^Claude requested permissions to /,
  /^Auto mode is unavailable/,
  /^The user doesn't want to (?:proceed with this tool use|take this action)/,
  // The reason of an answer of Assize that asks the person, or refuses such a question.
  /^Assize: /,
];

/** Whether the result that the model read says that its call was not made. */
function isRefusal(result: string): boolean {
  return BEGINNINGS.some((beginning) => beginning.test(result));
}

/** How the server answers one installation of the hooks. */
export interface HookOptions {
  /** How long a question waits for a person. */
  readonly waitMs: number;
  /** The digest of the sandbox in which the program runs its commands, if it has one. */
  readonly sandbox?: string | undefined;
  /** The answer before a decision: a refusal, or a run that stops until it is resumed. */
  readonly pending: 'deny' | 'defer';
  /** The calls that the person at the terminal confirms too, after the rules let them through. */
  readonly confirm: 'never' | 'irreversible' | 'changes' | 'always';
  /** The address of the inbox of the console. */
  readonly inboxUrl: string;
}

/** The name of the program, as sessions have it. */
export const CLAUDE_CODE = 'Claude Code';

/** The result of a command in the text of a skill. */
export const UNTOLD = { note: 'Claude Code reports no outcome of a command in a skill.' };
