import type { ToolClass } from '../rules/rules.ts';

/**
 * The own tools of Claude Code 2.1.332 and Codex 0.171.0 whose calls have no parts: only the name
 * says what a call does. `read` are those that note, look, wait, plan, or ask the person, and those
 * that start an agent or a skill here: each of its calls is judged by itself. A tool that is not
 * listed asks, as an unknown one.
 */
export const TOOLS: Readonly<Record<string, Readonly<Record<ToolClass, readonly string[]>>>> = {
  'claude-code': {
    read: [
      ...['AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode', 'SendUserMessage', 'Brief'],
      ...['TodoWrite', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate', 'SetGoal'],
      ...['TaskOutput', 'TaskStop', 'BashOutput', 'KillShell', 'KillBash', 'ScheduleWakeup'],
      ...['ToolSearch', 'WaitForMcpServers', 'ListMcpResources', 'ListMcpResourcesTool'],
      ...['Agent', 'Task', 'ListAgents', 'ListPeers', 'SubagentHandback', 'Skill'],
      ...['CronList', 'ReadNotifications', 'PushNotification', 'ReportFindings'],
      ...['StructuredOutput', 'EndConversation', 'OfferChromeSetup', 'ShowOnboardingRolePicker'],
      ...['propose_skills', 'DeferredToolPlaceholder'],
    ],
    reversible: ['CronCreate', 'CronDelete', 'EnterWorktree'],
    irreversible: [
      ...['ExitWorktree', 'SendMessage', 'Workflow', 'RemoteTrigger', 'PowerShell', 'REPL'],
      ...['ReadMcpResource', 'ReadMcpResourceTool', 'ReadMcpResourceDirTool'],
      ...['Artifact', 'ClaudeDesign', 'Projects', 'SendFeedback', 'SendUserFile'],
      ...['ShareOnboardingGuide'],
    ],
  },
  codex: {
    read: [
      ...['update_plan', 'create_goal', 'get_goal', 'update_goal', 'wait'],
      ...['request_user_input', 'request_user_input_async', 'send_message_to_user_async'],
      ...['list_mcp_resources', 'list_mcp_resource_templates', 'clockcurr_time', 'clocksleep'],
      ...['spawn_agent', 'wait_agent', 'close_agent', 'resume_agent', 'send_input'],
      ...['spawn_agent', 'wait_agent', 'list_agents', 'followup_task', 'send_message'].map(ofTeam),
      ofTeam('interrupt_agent'),
    ],
    reversible: [],
    irreversible: ['read_mcp_resource', 'write_stdin'],
  },
};

/** The hooks of Codex join the name of a namespace and that of its tool. */
function ofTeam(tool: string): string {
  return `collaboration${tool}`;
}

/** Tools whose calls have parts. The parts say what a call does. */
export const WITH_PARTS: Readonly<Record<string, readonly string[]>> = {
  'claude-code': [
    ...['Bash', 'Monitor', 'Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'LSP'],
    ...['Glob', 'Grep', 'LS', 'WebFetch', 'WebSearch'],
  ],
  // The hooks name `exec_command` Bash.
  codex: ['Bash', 'exec_command', 'apply_patch', 'view_image'],
};

const CLASSES: ReadonlyMap<string, ToolClass> = new Map(
  Object.entries(TOOLS).flatMap(([server, classes]) =>
    Object.entries(classes).flatMap(([of, names]) =>
      names.map((name) => [`${server}/${name}`, of as ToolClass] as const),
    ),
  ),
);

/** The class of a tool that an agent program has itself. Undefined: its name does not say one. */
export function agentToolClass(name: string): ToolClass | undefined {
  return CLASSES.get(name);
}

/** Those of the tools of an agent program that Assize does not know. */
export function unknownAgentTools(server: string, names: readonly string[]): readonly string[] {
  const parted = WITH_PARTS[server] ?? [];
  return names.filter((name) => !parted.includes(name) && !CLASSES.has(`${server}/${name}`));
}
