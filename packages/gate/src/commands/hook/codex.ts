/**
 * `assize hook codex`: the command hook of Codex. It runs before each tool call, so it loads no
 * more than it needs. Codex lets a call through when a hook fails in most ways: this one answers a
 * question with its exit code 2 and a text unless it has a whole answer of the server.
 */
import { askServer } from './ask-server.ts';
import { readCodexAnswer } from './codex-answer.ts';
import { type Result, readToken } from './read-token.ts';

export interface CodexHookOptions {
  readonly url: string;
  readonly tokenFile: string;
  readonly trajectory: string;
  /** Seconds that a question waits for a person. */
  readonly wait: number;
}

/** The end of a hook: its exit code, and what it prints. */
export interface HookEnd {
  readonly code: 0 | 2;
  readonly out: string;
  readonly err: string;
}

/** Seconds beyond the wait in which the server answers. The time-out of the hook is above both. */
export const ANSWER_SECONDS = 10;

/** Codex ends these hooks after 3 seconds. */
const SHORT: ReadonlySet<string> = new Set(['SessionEnd', 'Interrupt']);
const SHORT_MS = 2_000;

/** Events that ask for a permission. */
const QUESTIONS: ReadonlySet<string> = new Set(['PreToolUse', 'PermissionRequest']);

/** Answers one event, which is the text of standard input. */
export async function answerCodex(
  read: () => Promise<string>,
  options: CodexHookOptions,
): Promise<HookEnd> {
  const limit = (options.wait + ANSWER_SECONDS) * 1_000;
  const given = await within(limit, read(), 'The event of Codex did not arrive whole.');
  if ('fault' in given) return failed(undefined, given.fault);
  const event = eventIn(given.value);
  if (event === undefined)
    return failed(undefined, 'Standard input has no event of Codex: a JSON object is expected.');
  const asked = await answered(event, given.value, options, SHORT.has(event) ? SHORT_MS : limit);
  return 'fault' in asked ? failed(event, asked.fault) : { code: 0, out: asked.value, err: '' };
}

async function answered(
  event: string,
  body: string,
  { url, tokenFile, trajectory, wait }: CodexHookOptions,
  limit: number,
): Promise<Result<string>> {
  const token = readToken(tokenFile);
  if ('fault' in token) return token;
  const path = `/v1/trajectories/${encodeURIComponent(trajectory)}/hooks/codex?wait=${wait}`;
  const signal = AbortSignal.timeout(limit);
  const answer = await askServer({ url, path, signal, event: { token: token.value, body } });
  return 'fault' in answer ? answer : readCodexAnswer(event, answer.value);
}

/** The name of the event in a text, or undefined if it is none. */
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
export async function within<T>(ms: number, work: Promise<T>, fault: string): Promise<Result<T>> {
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
