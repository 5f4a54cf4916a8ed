/**
 * `assize hook AGENT`: the command hook of Claude Code and of Codex. It runs before each tool call,
 * so it loads no more than it needs. Both let a call through when a hook fails in some ways: this
 * one answers a question with its exit code 2 and a text unless it has a whole answer of the
 * server, or the rules only observe and no server answers.
 */

import { homedir } from 'node:os';
import { type Agent, readAnswer } from './agent-answer.ts';
import { askServer } from './ask-server.ts';
import { type Result, readToken } from './read-token.ts';

export interface HookOptions {
  readonly agent: Agent;
  readonly url: string;
  /** Default: the token is in `ASSIZE_TOKEN`. */
  readonly tokenFile?: string | undefined;
  readonly trajectory: string;
  /** Seconds that a question waits for a person. */
  readonly wait: number;
  /** How Claude Code is answered: `pending` and `confirm` of the operation. */
  readonly terms?: Readonly<Record<string, string>>;
  /** The rules file of the server, if it is on this machine. */
  readonly rules?: string | undefined;
  /** The settings file whose sandbox nothing else may open. */
  readonly sandbox?: string | undefined;
}

/** The end of a hook: its exit code, and what it prints. */
export interface HookEnd {
  readonly code: 0 | 2;
  readonly out: string;
  readonly err: string;
}

/** Seconds beyond the wait in which the server answers. The time-out of the hook is above both. */
export const ANSWER_SECONDS = 10;
/** The time in which the hook judges without the server. */
const ALONE_MS = 8_000;
/** Codex ends these hooks after 3 seconds. */
const SHORT: ReadonlySet<string> = new Set(['SessionEnd', 'Interrupt']);
const SHORT_MS = 2_000;

/** Events that ask for a permission. */
const QUESTIONS: ReadonlySet<string> = new Set([
  ...['PreToolUse', 'PreSkillShellCommand', 'PermissionRequest', 'ConfigChange', 'Elicitation'],
]);

/** Answers the event in the text of standard input. */
export async function answerEvent(
  read: () => Promise<string>,
  options: HookOptions,
): Promise<HookEnd> {
  const limit = (options.wait + ANSWER_SECONDS) * 1_000;
  const given = await within(limit, read(), 'The event did not arrive whole.');
  if ('fault' in given) return failed(undefined, given.fault);
  const event = eventIn(given.value);
  if (event === undefined)
    return failed(undefined, 'Standard input has no event: a JSON object is expected.');
  const [opened] = QUESTIONS.has(event) ? await openedBy(options, given.value) : [];
  if (opened !== undefined) return failed(event, `${opened}.`);
  const asked = await answered(event, given.value, options, SHORT.has(event) ? SHORT_MS : limit);
  if ('value' in asked) return { code: 0, out: asked.value, err: '' };
  const { rules, agent } = options;
  if (rules === undefined || asked.isFinal === true || !QUESTIONS.has(event))
    return failed(event, asked.fault);
  const { withoutServer } = await import('./without-server.ts');
  const judged = withoutServer(JSON.parse(given.value), { agent, rules });
  const own = await within(ALONE_MS, judged, 'It was not judged here in time.');
  const alone = 'fault' in own ? own : own.value;
  return 'value' in alone
    ? { code: 0, out: alone.value, err: '' }
    : failed(event, `${asked.fault} ${alone.fault}`);
}

async function answered(
  event: string,
  body: string,
  { agent, url, tokenFile, trajectory, wait, terms = {} }: HookOptions,
  limit: number,
): Promise<Result<string>> {
  const token = tokenFile === undefined ? environmentToken() : readToken(tokenFile);
  if ('fault' in token) return { ...token, isFinal: true };
  const query = new URLSearchParams({ wait: String(wait), ...terms });
  const path = `/v1/trajectories/${encodeURIComponent(trajectory)}/hooks/${agent}?${query}`;
  const signal = AbortSignal.timeout(limit);
  const answer = await askServer({ url, path, signal, token: token.value, body });
  return 'fault' in answer ? answer : readAnswer(agent, event, answer.value);
}

/** The rules let a call through for its sandbox, so nothing may have opened that. */
async function openedBy(
  { agent, sandbox }: HookOptions,
  event: string,
): Promise<readonly string[]> {
  if (sandbox === undefined) return [];
  if (agent === 'codex') {
    const { turnFaults } = await import('../init/codex/turn-sandbox.ts');
    return turnFaults(JSON.parse(event), sandbox);
  }
  const { openedSandbox, settingsFiles } = await import('../init/claude-code/settings-files.ts');
  const { env, platform } = process;
  const project = env['CLAUDE_PROJECT_DIR'] ?? process.cwd();
  return openedSandbox(settingsFiles({ home: homedir(), project, platform, env }), sandbox);
}

function environmentToken(): Result<string> {
  const value = process.env['ASSIZE_TOKEN'] ?? '';
  return /^\S+$/.test(value)
    ? { value }
    : { fault: 'Set ASSIZE_TOKEN to your token of the hooks.' };
}

/** The name of the event in a text, or undefined if there is none. */
function eventIn(text: string): string | undefined {
  const { hook_event_name: name } = (parsed(text) ?? {}) as { readonly hook_event_name?: unknown };
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A text that is not JSON is not an event.
    return undefined;
  }
}

/** A failure refuses a call, and says so. It stops nothing of an event that only informs. */
function failed(event: string | undefined, fault: string): HookEnd {
  const isQuestion = event === undefined || QUESTIONS.has(event);
  const err = isQuestion
    ? `Assize refused the call, because its hook failed: ${fault}\n`
    : `Assize did not record the event ${event}: ${fault}\n`;
  return { code: isQuestion ? 2 : 0, out: '', err };
}

/** The value of some work, or a fault after a time. */
async function within<T>(ms: number, work: Promise<T>, fault: string): Promise<Result<T>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Result<T>>((done) => {
    timer = setTimeout(() => done({ fault }), ms);
  });
  const value = work.then(
    (value): Result<T> => ({ value }),
    (error: unknown): Result<T> => ({ fault: `${fault} ${String(error)}` }),
  );
  const first = await Promise.race([value, late]);
  clearTimeout(timer);
  return first;
}
