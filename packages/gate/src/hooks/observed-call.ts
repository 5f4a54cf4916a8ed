import { callIdOf, withReaches } from '#calls';
import { type Rules, RulesAlone } from '#gateway';
import * as claudeCode from './claude-code/call-of.ts';
import { permissionRequest } from './claude-code/events.ts';
import * as codex from './codex/call-of.ts';
import { toolEvent } from './shared-events.ts';

/** A call that rules only observe. */
export interface ObservedCall {
  readonly call: string;
  readonly tool: string;
}

/**
 * The call of an event, judged by a rules file alone, or the reason why it may not be made: the
 * rules do not only observe it, or the event is about something else.
 *
 * @throws ZodError for an event that cannot be read
 */
export async function observedCall(
  agent: 'codex' | 'claude-code',
  rules: Rules,
  { event, at }: { readonly event: Readonly<Record<string, unknown>>; readonly at: string },
): Promise<ObservedCall | string> {
  if (!TOOLS.has(event['hook_event_name'])) return 'Only calls of tools are observed.';
  const content = await (agent === 'codex'
    ? codex.contentOf(toolEvent.parse(event), false)
    : claudeCode.contentOf(permissionRequest.parse(event), false));
  const alone = new RulesAlone(rules);
  const looking = { agent, read: <T>(read: (state: typeof alone.state) => T) => read(alone.state) };
  const call = await withReaches(looking, content);
  const held = alone.holds(call as never, { agent, at });
  if (held !== undefined) return `The call waits for the server: ${held}.`;
  const { session_id, tool_use_id } = event as { readonly [name: string]: string };
  return {
    call: callIdOf(String(session_id), String(tool_use_id)),
    tool: `${content.server}/${content.tool}`,
  };
}

const TOOLS: ReadonlySet<unknown> = new Set([
  ...['PreToolUse', 'PreSkillShellCommand', 'PermissionRequest'],
]);
