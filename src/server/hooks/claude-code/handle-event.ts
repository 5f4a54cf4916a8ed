import { z } from 'zod';
import { isAssizeError, isInstance, type Json } from '#base';
import { contentHash, hashText } from '#canon';
import { callIdOf, sessionIdOf } from '../asked-call.ts';
import { closeCall, closeCallsOf, type Outcome } from '../close-call.ts';
import { type Decision, decideCall, digestOf } from '../decide-call.ts';
import type { GatewayDesk } from '../gateway-desk.ts';
import { attend, inDoubt, leave } from '../sessions.ts';
import * as answers from './answers.ts';
import { askedCallOf, contentOf, mcpServerName } from './call-of.ts';
import * as events from './events.ts';
import { fileChange } from './file-change.ts';
import { isRefusal } from './refusal-text.ts';

/** How the server answers one installation of the hooks. */
export interface HookOptions {
  /** How long a question waits for a person. */
  readonly waitMs: number;
  /** The answer before a decision: a refusal, or a run that stops until it is resumed. */
  readonly pending: 'deny' | 'defer';
  /** The calls that the person at the terminal confirms too, after the rules let them through. */
  readonly confirm: 'never' | 'irreversible' | 'changes' | 'always';
  /** The address of the inbox of the console. */
  readonly inboxUrl: string;
}

/**
 * The answer to one event of Claude Code. A question that cannot be read or decided is refused. An
 * event that only informs is recorded if it belongs to a recorded call.
 */
export async function handleEvent(
  desk: GatewayDesk,
  given: unknown,
  options: HookOptions,
): Promise<answers.HookAnswer> {
  const named = z.object({ hook_event_name: z.string().max(100) }).safeParse(given);
  const name = named.success ? named.data.hook_event_name : '';
  const question = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name as keyof typeof QUESTIONS] : undefined;
  if (question === undefined) return recorded(desk, name, given, options);
  try {
    return await question.answer(desk, given, options);
  } catch (error) {
    if (isInstance(error, z.ZodError))
      return question.refuse(`Assize: the event ${name} cannot be read: ${where(error)}`);
    if (isAssizeError(error) && !error.retryable) return question.refuse(`Assize: ${error.message}`);
    throw error;
  }
}

function where(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? 'no issue is named' : `${issue.path.join('.') || 'it'}: ${issue.message}`;
}

interface Question {
  readonly answer: (desk: GatewayDesk, given: unknown, options: HookOptions) => Promise<answers.HookAnswer>;
  readonly refuse: (reason: string) => answers.HookAnswer;
}

/** The events that ask for a permission. */
const QUESTIONS: Readonly<Record<string, Question>> = {
  PreToolUse: { answer: toolUse, refuse: (reason) => answers.permission('PreToolUse', 'deny', reason) },
  PreSkillShellCommand: {
    answer: skillCommand,
    refuse: (reason) => answers.permission('PreSkillShellCommand', 'deny', reason),
  },
  PermissionRequest: { answer: permissionRequest, refuse: answers.refusedRequest },
  Elicitation: { answer: elicitation, refuse: answers.declined },
  ConfigChange: { answer: configChange, refuse: answers.blocked },
};

async function toolUse(desk: GatewayDesk, given: unknown, options: HookOptions): Promise<answers.HookAnswer> {
  const event = events.askingTool.parse(given) as events.AskingTool;
  const decision = await decided(desk, event, options.waitMs);
  if (decision.kind === 'allowed') {
    const confirm = mustConfirm(decision, options.confirm);
    return answers.permission('PreToolUse', confirm ? 'ask' : 'allow', 'Assize: the rules let the call through.');
  }
  // A deferred call in a subagent would end it without a word.
  const canWait = decision.kind === 'pending' && options.pending === 'defer' && event.agent_id === undefined;
  return answers.permission('PreToolUse', canWait ? 'defer' : 'deny', answers.reasonOf(decision, options.inboxUrl));
}

async function decided(desk: GatewayDesk, event: events.AskingTool, waitMs: number): Promise<Decision> {
  await attend(desk, sessionOf(event));
  const { cwd, permission_mode } = event;
  const place = { cwd, ...(permission_mode !== undefined && { permission_mode }) };
  return decideCall(desk, await askedCallOf(event), { waitMs, observations: [{ name: 'place', value: place }] });
}

function sessionOf({ session_id, agent_id, agent_type }: events.SessionEvent) {
  if (agent_id === undefined) return { id: sessionIdOf(session_id), about: 'Claude Code' };
  return {
    id: sessionIdOf(session_id, agent_id),
    parent: sessionIdOf(session_id),
    ...(agent_type !== undefined && { about: agent_type }),
  };
}

function mustConfirm({ class: of }: Extract<Decision, { kind: 'allowed' }>, confirm: HookOptions['confirm']): boolean {
  if (confirm === 'always') return true;
  if (confirm === 'changes') return of !== 'read';
  return confirm === 'irreversible' && of === 'irreversible';
}

/**
 * A command in the text of a skill. Claude Code reports no outcome of it. It ends with the call of
 * the skill, if the model and not the person asked for the skill.
 */
async function skillCommand(desk: GatewayDesk, given: unknown, options: HookOptions): Promise<answers.HookAnswer> {
  const { invoked_by } = events.skillCommand.parse(given);
  const event = events.askingTool.parse(given) as events.AskingTool;
  const decision = await decided(desk, event, options.waitMs);
  if (decision.kind !== 'allowed')
    return answers.permission('PreSkillShellCommand', 'deny', answers.reasonOf(decision, options.inboxUrl));
  if (invoked_by === 'user')
    await closeCall(desk, callIdOf(event.session_id, event.tool_use_id), { outcome: 'done', result: UNTOLD });
  return answers.permission('PreSkillShellCommand', 'allow', 'Assize: the rules let the command through.');
}

/**
 * Claude Code is about to ask the person at the terminal, by a rule of that person. The answer is
 * left to the person if Assize let exactly this call through, and is a refusal otherwise.
 */
async function permissionRequest(desk: GatewayDesk, given: unknown): Promise<answers.HookAnswer> {
  const event = events.permissionRequest.parse(given);
  const content = await contentOf(event);
  const { server, tool } = content;
  const digest = digestOf(content);
  const session = sessionOf(event).id;
  const isLetThrough = desk.read(({ calls }) =>
    Object.values(calls).some(
      (row) =>
        row.session === session &&
        row.tool === `${server}/${tool}` &&
        row.digest === digest &&
        row.begunAt !== undefined &&
        row.outcome === undefined,
    ),
  );
  return isLetThrough ? answers.NOTHING : answers.refusedRequest('Assize: this call was not let through.');
}

/** A question of an MCP server to the person, whom alone the answer is left to. */
async function elicitation(desk: GatewayDesk, given: unknown, options: HookOptions): Promise<answers.HookAnswer> {
  const event = events.elicitation.parse(given);
  await attend(desk, sessionOf(event));
  const { mcp_server_name, message = '', mode = 'form', url, requested_schema } = event;
  const schema = requested_schema === undefined ? {} : { requested_schema: requested_schema as Json };
  const args = { message, mode, ...(url !== undefined && { url }), ...schema };
  const id = callIdOf(
    event.session_id,
    `elicitation-${contentHash({ server: mcp_server_name, ...args }).slice(0, 24)}`,
  );
  const call = { id, session: sessionOf(event).id, server: mcpServerName(mcp_server_name, 'user'), args };
  const decision = await decideCall(desk, { ...call, tool: 'elicitation' }, { waitMs: options.waitMs });
  if (decision.kind !== 'allowed') return answers.declined(answers.reasonOf(decision, options.inboxUrl));
  await closeCall(desk, id, { outcome: 'done', result: { note: 'The question was left to the person.' } });
  return answers.NOTHING;
}

/** Settings that change during a session could end the hooks, so they wait for the next one. */
async function configChange(_: GatewayDesk, given: unknown): Promise<answers.HookAnswer> {
  const { source, file_path } = events.configChange.parse(given);
  return answers.blocked(
    `Assize: the settings ${file_path ?? source} changed. They take effect in the next session. Check them there: assize init claude-code --check.`,
  );
}

/** Records an event that only informs. An unknown one is let pass. */
async function recorded(
  desk: GatewayDesk,
  name: string,
  given: unknown,
  { inboxUrl }: HookOptions,
): Promise<answers.HookAnswer> {
  switch (name) {
    case 'PostToolUse': {
      const event = events.toolDone.safeParse(given);
      return event.success ? closed(desk, event.data, doneWith(event.data)) : unread(name);
    }
    case 'PostToolUseFailure': {
      const event = events.toolFailed.safeParse(given);
      return event.success ? closed(desk, event.data, failedWith(event.data)) : unread(name);
    }
    case 'PermissionDenied': {
      const event = events.permissionDenied.safeParse(given);
      const { tool_use_id, reason = '' } = event.data ?? {};
      if (event.data === undefined || tool_use_id === undefined) return answers.NOTHING;
      const result = { denied: reason.slice(0, 4_000) };
      return closed(desk, { ...event.data, tool_use_id }, { outcome: 'failed', result });
    }
    case 'PostToolBatch': {
      const event = events.batch.safeParse(given);
      return event.success ? batchClosed(desk, event.data) : unread(name);
    }
    case 'UserPromptSubmit':
    case 'SessionStart':
    case 'SubagentStart':
      return begun(desk, given, inboxUrl);
    case 'SubagentStop':
    case 'SessionEnd': {
      const event = events.sessionEvent.safeParse(given);
      if (event.success) await leave(desk, sessionOf(event.data).id);
      return answers.NOTHING;
    }
    default:
      return answers.NOTHING;
  }
}

function unread(name: string): answers.HookAnswer {
  return answers.told(`Assize could not read the event ${name}. Calls may stay open; see the console.`);
}

async function closed(desk: GatewayDesk, event: EndedCall, outcome: Outcome): Promise<answers.HookAnswer> {
  await closeCall(desk, callIdOf(event.session_id, event.tool_use_id), outcome);
  await skillClosed(desk, event, outcome.outcome === 'done' ? 'done' : 'unknown');
  return answers.NOTHING;
}

interface EndedCall {
  readonly session_id: string;
  readonly tool_use_id: string;
  readonly tool_name?: string | undefined;
}

const UNTOLD = { note: 'Claude Code reports no outcome of a command in a skill.' };

/** The commands in the text of a skill. Those of one that failed may have run or not. */
async function skillClosed(
  desk: GatewayDesk,
  { session_id, tool_use_id, tool_name }: EndedCall,
  outcome: Outcome['outcome'],
): Promise<void> {
  if (tool_name !== 'Skill') return;
  await closeCallsOf(desk, callIdOf(session_id, `${tool_use_id}:preamble-`), { outcome, result: UNTOLD });
}

function doneWith({ tool_name, tool_input, tool_response }: events.ToolDone): Outcome {
  const change = fileChange(tool_name, tool_input, tool_response);
  if (change !== undefined) return { outcome: 'done', result: { file: change } };
  return tool_response === undefined ? { outcome: 'done' } : { outcome: 'done', result: tool_response as Json };
}

function failedWith({ error = '', is_interrupt = false }: events.ToolFailed): Outcome {
  const result = { error: error.slice(0, 16_384), ...(error.length > 16_384 && { sha256: hashText(error) }) };
  return { outcome: is_interrupt ? 'unknown' : 'failed', result };
}

/**
 * The end of a turn. A call that was let through and has no outcome yet was refused by the program
 * itself. Otherwise the event of its outcome was lost, and whether the call was made is not known.
 */
async function batchClosed(desk: GatewayDesk, { session_id, tool_calls }: events.Batch): Promise<answers.HookAnswer> {
  for (const { tool_use_id, tool_name, tool_response } of tool_calls) {
    const said = typeof tool_response === 'string' ? tool_response.slice(0, 4_000) : '';
    const outcome: Outcome = isRefusal(said)
      ? { outcome: 'failed', result: { not_made: said } }
      : { outcome: 'unknown', result: { model_read: said } };
    await closeCall(desk, callIdOf(session_id, tool_use_id), outcome);
    await skillClosed(desk, { session_id, tool_use_id, tool_name }, 'unknown');
  }
  return answers.NOTHING;
}

/** The start of a session, or its next prompt: tells the person of calls in doubt. */
async function begun(desk: GatewayDesk, given: unknown, inboxUrl: string): Promise<answers.HookAnswer> {
  const event = events.sessionEvent.safeParse(given);
  if (!event.success) return answers.NOTHING;
  const session = sessionOf(event.data);
  await attend(desk, session);
  const calls = inDoubt(desk, desk.request.service.clock.now(), session.id);
  if (calls.length === 0) return answers.NOTHING;
  const listed = calls.slice(0, 5).map(({ tool, at, id }) => `${tool} of ${at.slice(0, 16)}Z (${id})`);
  const more = calls.length > 5 ? ` and ${calls.length - 5} more` : '';
  return answers.told(
    `Assize: ${calls.length === 1 ? '1 call has' : `${calls.length} calls have`} no known outcome: ${listed.join(', ')}${more}. See ${inboxUrl.replace(/\/inbox$/, '/timeline')}/${desk.trajectory.id}.`,
  );
}
