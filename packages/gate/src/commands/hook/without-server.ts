import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { isInstance } from 'assize/internal/base';
import { systemClock } from 'assize/internal/oracle';
import { readRules, unrecordedFileOf } from '#gateway';
import { observedCall, permission } from '#hooks';
import type { Agent } from './agent-answer.ts';
import type { Result } from './read-token.ts';

interface Alone {
  readonly agent: Agent;
  /** The rules file of the server. */
  readonly rules: string;
}

/**
 * The answer to a question while no server answers. A call that the rules only observe goes on, and
 * is noted for the server. Everything else is a fault: a rules file that holds, that cannot be
 * read, or that others could have written, a call that a rule enforces, and any other question.
 */
export async function withoutServer(
  event: { readonly [name: string]: unknown },
  { agent, rules: file }: Alone,
): Promise<Result<string>> {
  const at = systemClock.now();
  try {
    const { uid, mode } = statSync(file);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
      return { fault: `Others can write ${file}. Run chmod go-w ${file}.` };
    const { rules } = readRules(readFileSync(file, 'utf8'), file);
    const found = await observedCall(agent, rules, { event, at });
    if (typeof found === 'string') return { fault: found };
    // The question is left to the person at the terminal.
    if (event['hook_event_name'] === 'PermissionRequest') return { value: '' };
    const line = `${JSON.stringify({ at, agent, ...found })}\n`;
    appendFileSync(unrecordedFileOf(file), line, { mode: 0o600 });
  } catch (error) {
    if (isInstance(error, Error)) return { fault: `It cannot be judged here: ${error.message}` };
    throw error;
  }
  if (agent === 'codex') return { value: '' };
  const why = 'Assize: the rules observe, and no server has recorded the call yet.';
  return { value: JSON.stringify(permission(event['hook_event_name'] as string, 'allow', why)) };
}
