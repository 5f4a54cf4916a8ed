import { type AgentStage, agentStage } from '../../../../../tests/support/agents/stage.ts';
import { codexProgram } from '../../../../../tests/support/codex/program.ts';
import { type ProgramRun, runProgram } from '../agents/run-program.ts';

/** One line of `codex exec --json`. */
export interface CodexMessage {
  readonly type: string;
  readonly thread_id?: string;
  readonly [name: string]: unknown;
}

export interface CodexRun extends ProgramRun {
  readonly messages: readonly CodexMessage[];
  readonly threadId: string | undefined;
}

export interface CodexOptions {
  readonly prompt: string;
  readonly resume?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly started?: (pid: number) => void;
}

/**
 * A configuration with a model on loopback, for a project that the user trusts. `more`: first keys
 * of the whole file, then tables.
 */
export function scriptedConfig(api: string, project: string, more = ''): string {
  return `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
${more}

[analytics]
enabled = false

[model_providers.scripted]
name = "Scripted"
base_url = "${api}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."${project}"]
trust_level = "trusted"
`;
}

/** The same without a sandbox mode. A mode would switch off a permission profile. */
export function profileConfig(api: string, project: string): string {
  return scriptedConfig(api, project).replace(/^sandbox_mode.*\n/m, '');
}

/** A project with such a configuration. */
export function codexStage(
  api: string,
  config = '',
  stage: AgentStage = agentStage('codex'),
): AgentStage {
  stage.write('home/.codex/config.toml', scriptedConfig(api, stage.project, config));
  return stage;
}

/** Tables of `config.toml` for a command hook of an event. */
export function codexHook(event: string, command: string, timeout = 10): string {
  const handler = [
    `type = "command"`,
    `command = ${JSON.stringify(command)}`,
    `timeout = ${timeout}`,
  ];
  return [`[[hooks.${event}]]`, `[[hooks.${event}.hooks]]`, ...handler, ''].join('\n');
}

/** Runs hooks without the trust of the user. Codex otherwise skips them, and says nothing. */
export const UNTRUSTED_HOOKS = '--dangerously-bypass-hook-trust';

/** A model whose tools have `apply_patch`. */
export const WITH_PATCHES = 'gpt-6.1-terra';

/** Runs `codex exec` in the project of a stage. */
export async function runCodex(
  { project, home }: Pick<AgentStage, 'project' | 'home'>,
  { prompt, resume, args = [], env = {}, timeoutMs = 60_000, started }: CodexOptions,
): Promise<CodexRun> {
  const program = codexProgram();
  if (program === undefined) throw new Error('Codex is not installed: npm ci --prefix peers.');
  const line = ['exec', '--json', '--skip-git-repo-check', ...args];
  if (resume !== undefined) line.push('resume', resume);
  const run = await runProgram(program, [...line, '-'], {
    cwd: project,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, SCRIPTED_KEY: 'dummy', ...env },
    input: prompt,
    timeoutMs,
    ...(started === undefined ? {} : { started }),
  });
  const messages = run.out.split('\n').flatMap(messageOf);
  return {
    ...run,
    messages,
    threadId: messages.find(({ thread_id }) => thread_id !== undefined)?.thread_id,
  };
}

function messageOf(line: string): CodexMessage[] {
  return line.startsWith('{') ? [JSON.parse(line) as CodexMessage] : [];
}
