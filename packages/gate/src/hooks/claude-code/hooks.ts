import { randomUUID } from 'node:crypto';
import type { Json } from 'assize/internal/base';
import { attend, type CallWorld, callIdOf, closeCall, type Decision, decideCall } from '#calls';
import type { HookAnswer } from '../answers.ts';
import * as answers from '../answers.ts';
import { askCall, hasSandbox, isLetThrough } from '../ask-call.ts';
import type { HookProgram, Question } from '../handle-event.ts';
import { sessionOf } from '../sessions.ts';
import { contentOf } from './call-of.ts';
import * as events from './events.ts';
import { CLAUDE_CODE, type HookOptions, recorded, UNTOLD } from './reports.ts';

type Answer = Question<HookOptions>['answer'];

const toolUse: Answer = async (world, given, options) => {
  const event = events.askingTool.parse(given);
  const decision = await decided(world, event, options);
  if (decision.kind === 'allowed') {
    const confirm = mustConfirm(decision, options.confirm);
    return answers.permission(
      'PreToolUse',
      confirm ? 'ask' : 'allow',
      answers.allowedReason(world, decision),
    );
  }
  // A deferred call in a subagent would end it without a word.
  const canWait =
    decision.kind === 'pending' && options.pending === 'defer' && event.agent_id === undefined;
  return answers.permission(
    'PreToolUse',
    canWait ? 'defer' : 'deny',
    answers.reasonOf(decision, options.inboxUrl),
  );
};

async function decided(
  world: CallWorld,
  event: events.AskingTool,
  { waitMs, sandbox }: Pick<HookOptions, 'waitMs' | 'sandbox'>,
): Promise<Decision> {
  return askCall(world, event, {
    session: sessionOf(event, CLAUDE_CODE),
    content: await contentOf(event, hasSandbox(world, sandbox)),
    waitMs,
  });
}

function mustConfirm(
  { class: of }: Extract<Decision, { kind: 'allowed' }>,
  confirm: HookOptions['confirm'],
): boolean {
  if (confirm === 'always') return true;
  if (confirm === 'changes') return of !== 'read';
  return confirm === 'irreversible' && of === 'irreversible';
}

/**
 * A command in the text of a skill. Claude Code reports no outcome of it. It ends with the call of
 * the skill, if the model and not the person asked for the skill.
 */
const skillCommand: Answer = async (world, given, options) => {
  const event = events.skillCommand.parse(given);
  const decision = await decided(world, event, { waitMs: options.waitMs });
  if (decision.kind !== 'allowed')
    return answers.permission(
      'PreSkillShellCommand',
      'deny',
      answers.reasonOf(decision, options.inboxUrl),
    );
  if (event.invoked_by === 'user')
    await closeCall(world, callIdOf(event.session_id, event.tool_use_id), {
      outcome: 'done',
      result: UNTOLD,
    });
  return answers.permission(
    'PreSkillShellCommand',
    'allow',
    'Assize: the rules let the command through.',
  );
};

/**
 * Claude Code is about to ask the person at the terminal, by a rule of that person. The answer is
 * left to the person if Assize let exactly this call through, and is a refusal otherwise.
 */
const permissionRequest: Answer = async (world, given, { sandbox }) => {
  const event = events.permissionRequest.parse(given);
  const content = await contentOf(event, hasSandbox(world, sandbox));
  const isOpen = await isLetThrough(world, sessionOf(event, CLAUDE_CODE), content);
  return isOpen
    ? answers.NOTHING
    : answers.refusedRequest('Assize: this call was not let through.');
};

/**
 * A question of an MCP server to the person, whom alone the answer is left to. The event does not
 * say where the server is configured, so no rule about the tools of a server is one about this.
 */
const elicitation: Answer = async (world, given, options) => {
  const event = events.elicitation.parse(given);
  const session = sessionOf(event, CLAUDE_CODE);
  await attend(world, session);
  const { mcp_server_name, message = '', mode = 'form', url, requested_schema } = event;
  const schema =
    requested_schema === undefined ? {} : { requested_schema: requested_schema as Json };
  const args = {
    server: mcp_server_name,
    message,
    mode,
    ...(url !== undefined && { url }),
    ...schema,
  };
  // The event has no id. Each question is another call, and an approval is found by its content.
  const id = callIdOf(event.session_id, `elicitation-${randomUUID()}`);
  const call = { id, session: session.id, server: 'claude-code', tool: 'elicitation', args };
  const decision = await decideCall(world, call, { waitMs: options.waitMs });
  if (decision.kind !== 'allowed') return declined(answers.reasonOf(decision, options.inboxUrl));
  await closeCall(world, id, {
    outcome: 'done',
    result: { note: 'The question was left to the person.' },
  });
  return answers.NOTHING;
};

/** Settings that change during a session could end the hooks, so they wait for the next one. */
const configChange: Answer = async (world, given) => {
  const event = events.configChange.parse(given);
  const { source, file_path } = event;
  const session = sessionOf(event, CLAUDE_CODE);
  await attend(world, session);
  const value = { source, ...(file_path !== undefined && { file_path }) };
  const observations = [{ name: 'refused_settings', value }];
  await world.propose('session', { session: session.id, event: 'start' }, { observations });
  return blocked(
    `Assize: the settings ${file_path ?? source} changed. They take effect in the next session. Check them there: assize init claude-code --check.`,
  );
};

/** Declines a question of an MCP server to the person. */
function declined(reason: string): HookAnswer {
  return {
    decision: 'block',
    reason,
    hookSpecificOutput: { hookEventName: 'Elicitation', action: 'decline' },
  };
}

/** Keeps a changed settings file from taking effect in the session. */
function blocked(reason: string): HookAnswer {
  return { decision: 'block', reason };
}

/** The events of Claude Code. */
export const CLAUDE_CODE_HOOKS: HookProgram<HookOptions> = {
  questions: {
    PreToolUse: {
      answer: toolUse,
      refuse: (reason) => answers.permission('PreToolUse', 'deny', reason),
    },
    PreSkillShellCommand: {
      answer: skillCommand,
      refuse: (reason) => answers.permission('PreSkillShellCommand', 'deny', reason),
    },
    PermissionRequest: { answer: permissionRequest, refuse: answers.refusedRequest },
    Elicitation: { answer: elicitation, refuse: declined },
    ConfigChange: { answer: configChange, refuse: blocked },
  },
  recorded,
};
