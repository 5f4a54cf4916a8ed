import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import type { AgentStage } from '../agents/stage.ts';
import { start, type TestServer } from '../server/serving.ts';
import { type MessagesApi, type Script, startMessagesApi, type ToolUse, use } from './messages-api.ts';
import { type ClaudeOptions, type ClaudeRun, claudeStage, runClaude } from './run-claude.ts';

/** Lines for the lists of a rules file. */
export interface MoreRules {
  readonly tools?: string;
  readonly rules?: string;
}

/** Files in `open` may be written, those in `held` need a person, and those in `closed` stay. */
export const rulesFor = (project: string, { tools = '', rules = '' }: MoreRules = {}): string => `
id: live
tools:
  claude-code/Agent: { class: read }
  claude-code/Skill: { class: read }
${tools}
rules:
  - { id: look, allow: '*', class: read }
  - { id: open, allow: [files/write, files/edit, shell/write], path: ${project}/open }
  - { id: held, ask: shell/write, path: ${project}/held, because: A person looks first. }
  - { id: closed, deny: shell/write, path: ${project}/closed, because: It stays closed. }
${rules}`;

export const RULED_PRINCIPALS = {
  'agent:claude': {
    kinds: ['agent'],
    grants: [{ trajectories: ['calls'], actions: ['call', 'begin', 'report', 'session'] }],
  },
  'human:grace': { kinds: ['counselor'] },
  'admin:ann': { kinds: ['admin', 'auditor'] },
} as const;

/** The events that Claude Code waits for an answer to. The call is blocked if there is none. */
const BLOCKING = ['PreToolUse', 'PreSkillShellCommand', 'PermissionRequest', 'ConfigChange', 'Elicitation'];
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
export function hookSettings({ url, token, query, timeout = 30 }: HookAddress): Readonly<Record<string, unknown>> {
  const hook = {
    type: 'http',
    url: `${url}/v1/trajectories/calls/hooks/claude-code?${query}`,
    headers: { authorization: `Bearer ${token}` },
    timeout,
  };
  const onFailure = (event: string) => (BLOCKING.includes(event) ? 'block' : 'continue');
  const events = [...BLOCKING, ...RECORDING];
  return {
    hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [{ ...hook, onFailure: onFailure(event) }] }]])),
  };
}

/** A use of Bash that adds a line to the file of a folder: one line for each time it runs. */
export const append = (id: string, line: string, folder = 'open'): ToolUse =>
  use(id, 'Bash', { command: `echo ${line} >> ${folder}/sink.txt` });

/** The lines that commands added to the files of a stage, by folder. */
export function linesIn({ project }: AgentStage): Record<string, string[]> {
  const found = ['open', 'held', 'closed'].map((folder) => {
    const file = join(project, folder, 'sink.txt');
    return [folder, existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []] as const;
  });
  return Object.fromEntries(found.filter(([, lines]) => lines.length > 0));
}

export function ruledStage(): AgentStage {
  const stage = claudeStage();
  for (const folder of ['open', 'held', 'closed']) stage.write(`project/${folder}/readme`, folder);
  onTestFinished(() => stage.remove());
  return stage;
}

/** The lines in the files, the outcomes of the recorded calls, and whether the ledger verifies. */
export interface Story {
  readonly lines: Record<string, string[]>;
  /** By the id of the tool use. A call that was only let through has the outcome `to begin`. */
  readonly calls: Record<string, string>;
  readonly valid: boolean;
}

/** Claude Code in a project whose calls a server in this process rules on. */
export interface Ruled {
  readonly stage: AgentStage;
  readonly server: TestServer;
  readonly api: MessagesApi;
  readonly agentToken: string;
  run(options: Partial<ClaudeOptions>): Promise<ClaudeRun>;
  /** Writes the settings: the query of the hook, and more members. */
  settings(query: string, more?: object, address?: Partial<HookAddress>): void;
  /** Decides the only open question. Fails if there is none. */
  decide(decision: 'approve' | 'reject'): Promise<void>;
  state(): Promise<any>;
  story(): Promise<Story>;
}

export async function ruledClaude(
  script: Script,
  { query = 'wait=0', more = {} }: { readonly query?: string; readonly more?: MoreRules } = {},
): Promise<Ruled> {
  const stage = ruledStage();
  const { rules } = readRules(rulesFor(stage.project, more));
  const server = await start({
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: RULED_PRINCIPALS as never,
    domains: [gateway({ rules }) as unknown as Domain],
    rules,
  });
  const api = await startMessagesApi(script);
  onTestFinished(() => api.close());
  const agentToken = await server.tokenFor('agent:claude');
  const grace = await server.tokenFor('human:grace');
  const ann = await server.tokenFor('admin:ann');
  const ok = async (method: string, path: string, token: string, body?: object): Promise<any> => {
    const answered = await server.ask(method, path, { token, ...(body !== undefined && { body }) });
    if (answered.status >= 300) throw new Error(answered.text);
    return answered.body;
  };
  const state = async () => (await ok('GET', '/v1/trajectories/calls/state', grace)).state;
  const settings: Ruled['settings'] = (given, more = {}, address = {}) => {
    const hook = { url: server.url, token: agentToken, query: given, ...address };
    stage.write('project/.claude/settings.local.json', { ...more, ...hookSettings(hook) }, 0o600);
  };
  settings(query);
  return {
    ...{ stage, server, api, agentToken, settings, state },
    run: (options) => runClaude(stage, { api: api.url, ...options }),
    decide: async (decision) => {
      const { approvals } = await ok('GET', '/v1/approvals', grace);
      if (approvals.length !== 1) throw new Error(`${approvals.length} questions are open`);
      const [{ id, digest }] = approvals;
      const body = { reason: 'looked at', ...(decision === 'approve' && { digest }) };
      await ok('POST', `/v1/approvals/${id}/${decision}`, grace, body);
    },
    story: async () => ({
      lines: linesIn(stage),
      calls: outcomesOf(await state()),
      valid: (await ok('POST', '/v1/verify', ann, {})).valid,
    }),
  };
}

/** The outcomes by the id of the tool use that each call was begun as. */
export function outcomesOf({ calls }: { readonly calls: Record<string, any> }): Record<string, string> {
  const tail = (id: string) => id.slice(id.indexOf('.') + 1);
  return Object.fromEntries(
    Object.entries(calls).map(([id, { begunAs, begunAt, outcome }]) => [
      tail(begunAs ?? id),
      outcome ?? (begunAt === undefined ? 'to begin' : 'open'),
    ]),
  );
}
