/**
 * `assize hook claude-code`: the command hook beside the HTTP hook of Claude Code, which takes any
 * answer without a decision for no objection, also one of another program at the address. This hook
 * refuses the call unless Assize is there.
 */

import { homedir } from 'node:os';
import { askServer } from './ask-server.ts';
import { ANSWER_SECONDS, type HookEnd, within } from './codex.ts';

const LIMIT_MS = ANSWER_SECONDS * 1_000;

/** Answers one event, which standard input has: Claude Code waits until it is read. */
export async function guardClaudeCode(
  read: () => Promise<string>,
  url: string,
  sandbox?: string,
): Promise<HookEnd> {
  const event = await within(LIMIT_MS, read(), 'The event of Claude Code did not arrive whole.');
  if ('fault' in event) return refused(event.fault);
  const answer = await askServer({ url, path: '/healthz', signal: AbortSignal.timeout(LIMIT_MS) });
  if ('fault' in answer) return refused(answer.fault);
  const { server } = (answer.value ?? {}) as { readonly server?: unknown };
  if (server !== 'assize')
    return refused(
      `Another program than Assize answers at ${url}. Stop it, and start assize serve.`,
    );
  const [opened] = sandbox === undefined ? [] : await openedBy(sandbox);
  return opened === undefined ? { code: 0, out: '', err: '' } : refused(`${opened}.`);
}

/** The rules let a call through for its sandbox, so no settings file may open that. */
async function openedBy(sandbox: string): Promise<readonly string[]> {
  const { openedSandbox, settingsFiles } = await import('../init/claude-code/settings-files.ts');
  const { env, platform } = process;
  const project = env['CLAUDE_PROJECT_DIR'] ?? process.cwd();
  return openedSandbox(settingsFiles({ home: homedir(), project, platform, env }), sandbox);
}

function refused(fault: string): HookEnd {
  return { code: 2, out: '', err: `Assize refused the call, because its hook failed: ${fault}\n` };
}
