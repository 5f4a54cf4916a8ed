import { onTestFinished } from 'vitest';
import {
  type MoreRules,
  type RulingServer,
  startRuling,
  withFolders,
} from '../../../../../tests/support/agents/ruling.ts';
import type { AgentStage } from '../../../../../tests/support/agents/stage.ts';
import {
  type MessagesApi,
  type Script,
  startMessagesApi,
  type ToolUse,
  use,
} from './messages-api.ts';
import { type ClaudeOptions, type ClaudeRun, claudeStage, runClaude } from './run-claude.ts';

/** The events that Claude Code waits for an answer to. The call is blocked if there is none. */
const BLOCKING = [
  'PreToolUse',
  'PreSkillShellCommand',
  'PermissionRequest',
  'ConfigChange',
  'Elicitation',
];
const RECORDING = [
  ...['PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'PermissionDenied'],
  ...['UserPromptSubmit', 'SubagentStart', 'SubagentStop', 'SessionEnd'],
];

/** The hook that the settings of a project name. */
export interface HookAddress {
  readonly url: string;
  readonly token: string;
  readonly query: string;
  /** Seconds. */
  readonly timeout?: number;
}

/** The settings of a project whose hooks are a server's. */
export function hookSettings({
  url,
  token,
  query,
  timeout = 30,
}: HookAddress): Readonly<Record<string, unknown>> {
  const hook = {
    type: 'http',
    url: `${url}/v1/trajectories/calls/hooks/claude-code?${query}`,
    headers: { authorization: `Bearer ${token}` },
    timeout,
  };
  const onFailure = (event: string) => (BLOCKING.includes(event) ? 'block' : 'continue');
  const events = [...BLOCKING, ...RECORDING];
  return {
    hooks: Object.fromEntries(
      events.map((event) => [event, [{ hooks: [{ ...hook, onFailure: onFailure(event) }] }]]),
    ),
  };
}

/** A use of Bash that adds a line to the file of a folder: one line for each time it runs. */
export const append = (id: string, line: string, folder = 'open'): ToolUse =>
  use(id, 'Bash', { command: `echo ${line} >> ${folder}/sink.txt` });

export function ruledStage(): AgentStage {
  return withFolders(claudeStage());
}

/** Claude Code in a project whose calls a server in this process rules on. */
export interface Ruled extends RulingServer {
  readonly stage: AgentStage;
  readonly api: MessagesApi;
  run(options: Partial<ClaudeOptions>): Promise<ClaudeRun>;
  /** Writes the settings: the query of the hook, and more members. */
  settings(query: string, more?: object, address?: Partial<HookAddress>): void;
}

export async function ruledClaude(
  script: Script,
  { query = 'wait=0', more = {} }: { readonly query?: string; readonly more?: MoreRules } = {},
): Promise<Ruled> {
  const stage = ruledStage();
  const ruling = await startRuling(stage, more);
  const { server, agentToken } = ruling;
  const api = await startMessagesApi(script);
  onTestFinished(() => api.close());
  const settings: Ruled['settings'] = (given, more = {}, address = {}) => {
    const hook = { url: server.url, token: agentToken, query: given, ...address };
    stage.write('project/.claude/settings.local.json', { ...more, ...hookSettings(hook) }, 0o600);
  };
  settings(query);
  return {
    ...ruling,
    stage,
    api,
    settings,
    run: (options) => runClaude(stage, { api: api.url, ...options }),
  };
}
