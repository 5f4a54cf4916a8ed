import { expect } from 'vitest';
import { startWithRules } from '../../../../../tests/support/agents/ruling.ts';
import type { Asking, TestServer } from '../../../../../tests/support/server/serving.ts';

/** A server whose hooks a test asks by hand. */
export interface Hooks {
  readonly server: TestServer;
  send(event: object, query?: string): Promise<any>;
  /** The permission for a call, and its reason. */
  ask(
    tool: string,
    input: object,
    more?: object,
    query?: string,
  ): Promise<{ permission: string; reason: string }>;
  approve(): Promise<void>;
  state(): Promise<any>;
}

/** `program`: the last part of the path of the hooks. */
export async function hooksOf(program: string, rules: string): Promise<Hooks> {
  const server = await startWithRules(rules);
  const path = `/v1/trajectories/calls/hooks/${program}`;
  const tokens = {
    agent: await server.tokenFor('agent:coder'),
    grace: await server.tokenFor('human:grace'),
  };
  const asked = async (method: string, at: string, asking: Asking) => {
    const { status, body, text } = await server.ask(method, at, asking);
    if (status >= 300) throw new Error(text);
    return body;
  };
  const send: Hooks['send'] = (event, query = 'wait=0') =>
    asked('POST', `${path}?${query}`, {
      token: tokens.agent,
      body: { session_id: 's1', cwd: '/repo', ...event },
    });
  let calls = 0;
  return {
    server,
    send,
    ask: async (tool_name, tool_input, more = {}, query = 'wait=0') => {
      const event = {
        hook_event_name: 'PreToolUse',
        tool_name,
        tool_input,
        tool_use_id: `toolu_${++calls}`,
        ...more,
      };
      const { hookSpecificOutput: said } = await send(event, query);
      expect(said.hookEventName).toBe('PreToolUse');
      return { permission: said.permissionDecision, reason: said.permissionDecisionReason };
    },
    approve: async () => {
      const { approvals } = await asked('GET', '/v1/approvals', { token: tokens.grace });
      expect(approvals).toHaveLength(1);
      const [{ id, digest }] = approvals;
      await asked('POST', `/v1/approvals/${id}/approve`, {
        token: tokens.grace,
        body: { digest, reason: 'fine' },
      });
    },
    state: async () =>
      (await asked('GET', '/v1/trajectories/calls/state', { token: tokens.grace })).state,
  };
}
