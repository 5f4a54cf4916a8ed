import { type AgentStage, agentStage } from '../../../../../tests/support/agents/stage.ts';
import { claudeProgram } from '../../../../../tests/support/claude-code/program.ts';
import { type ProgramRun, runProgram } from '../agents/run-program.ts';

/** One line of `--output-format stream-json`. */
export interface StreamMessage {
  readonly type: string;
  readonly subtype?: string;
  readonly session_id?: string;
  readonly [name: string]: unknown;
}

/** A result that the model was given. */
export interface ToolResult {
  readonly tool_use_id: string;
  readonly is_error?: boolean;
  readonly content: unknown;
}

export interface ClaudeRun extends ProgramRun {
  readonly messages: readonly StreamMessage[];
  /** The last message, if the program came to an end. */
  readonly result: StreamMessage | undefined;
  readonly sessionId: string | undefined;
  readonly told: readonly ToolResult[];
}

export interface ClaudeOptions {
  /** Of the Messages API. */
  readonly api: string;
  readonly prompt?: string;
  /** The session to go on with. */
  readonly resume?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly started?: (pid: number) => void;
}

/** A project that the user trusts. Its allow rules would be ignored without the trust. */
export function claudeStage(): AgentStage {
  const stage = agentStage('claude');
  stage.write('home/.claude.json', {
    projects: { [stage.project]: { hasTrustDialogAccepted: true } },
  });
  return stage;
}

/** Nothing but the model is asked: no telemetry, no updates, no other request. */
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
};

/** Runs Claude Code in the project of a stage, without a terminal. */
export async function runClaude(
  { project, home }: Pick<AgentStage, 'project' | 'home'>,
  { api, prompt, resume, args = [], env = {}, timeoutMs = 60_000, started }: ClaudeOptions,
): Promise<ClaudeRun> {
  const program = claudeProgram();
  if (program === undefined)
    throw new Error('Claude Code is not installed: npm ci --prefix peers.');
  const line = ['-p', '--output-format', 'stream-json', '--verbose'];
  if (resume !== undefined) line.push('--resume', resume);
  const run = await runProgram(program, [...line, ...args], {
    cwd: project,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      ANTHROPIC_BASE_URL: api,
      ANTHROPIC_API_KEY: 'dummy',
      ...QUIET,
      ...env,
    },
    ...(prompt === undefined ? {} : { input: prompt }),
    timeoutMs,
    ...(started === undefined ? {} : { started }),
  });
  const messages = run.out.split('\n').flatMap(messageOf);
  return {
    ...run,
    messages,
    result: messages.findLast(({ type }) => type === 'result'),
    sessionId: messages.find(({ session_id }) => session_id !== undefined)?.session_id,
    told: messages.flatMap(resultsIn),
  };
}

function messageOf(line: string): StreamMessage[] {
  return line.startsWith('{') ? [JSON.parse(line) as StreamMessage] : [];
}

function resultsIn({ type, message }: StreamMessage): ToolResult[] {
  const content = (message as { readonly content?: unknown } | undefined)?.content;
  if (type !== 'user' || !Array.isArray(content)) return [];
  return content.filter((block) => block.type === 'tool_result');
}
