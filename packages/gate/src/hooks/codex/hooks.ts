import * as answers from '../answers.ts';
import { askCall, hasSandbox, isLetThrough } from '../ask-call.ts';
import type { HookProgram, Question } from '../handle-event.ts';
import { sessionOf } from '../sessions.ts';
import { askingTool, toolEvent } from '../shared-events.ts';
import { contentOf } from './call-of.ts';
import { CODEX, type HookOptions, recorded } from './reports.ts';

type Answer = Question<HookOptions>['answer'];

const toolUse: Answer = async (world, given, { waitMs, sandbox, inboxUrl }) => {
  const event = askingTool.parse(given);
  const session = sessionOf(event, CODEX);
  const decision = await askCall(world, event, {
    session,
    content: await contentOf(event, hasSandbox(world, sandbox)),
    waitMs,
  });
  return decision.kind === 'allowed'
    ? answers.permission('PreToolUse', 'allow', answers.allowedReason(world, decision))
    : answers.permission('PreToolUse', 'deny', answers.reasonOf(decision, inboxUrl));
};

/**
 * Codex is about to ask the person at the terminal. The answer is left to the person if Assize let
 * exactly this call through, and is a refusal otherwise: a command that was let through for its
 * sandbox must not leave it.
 */
const permissionRequest: Answer = async (world, given) => {
  const event = toolEvent.parse(given);
  // Here Codex adds the reason of the model. It is not a part of the call.
  const { description: _, ...tool_input } = event.tool_input;
  const asked = event.tool_name.startsWith('mcp__') ? event : { ...event, tool_input };
  const isOpen = await isLetThrough(world, sessionOf(event, CODEX), await contentOf(asked, false));
  return isOpen
    ? answers.NOTHING
    : answers.refusedRequest('Assize: this call was not let through.');
};

/** The events of Codex. */
export const CODEX_HOOKS: HookProgram<HookOptions> = {
  questions: {
    PreToolUse: {
      answer: toolUse,
      refuse: (reason) => answers.permission('PreToolUse', 'deny', reason),
    },
    PermissionRequest: { answer: permissionRequest, refuse: answers.refusedRequest },
  },
  recorded,
};
