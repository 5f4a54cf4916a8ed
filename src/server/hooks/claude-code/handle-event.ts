import { z } from 'zod';
import { isAssizeError, isInstance } from '#base';
import type { GatewayDesk } from '../gateway-desk.ts';
import type { HookAnswer } from './answers.ts';
import type { HookOptions } from './hook-options.ts';
import { QUESTIONS } from './questions.ts';
import { recorded } from './reports.ts';

/**
 * The answer to one event of Claude Code. A question that cannot be read or decided is refused. An
 * event that only informs is recorded if it belongs to a recorded call.
 */
export async function handleEvent(desk: GatewayDesk, given: unknown, options: HookOptions): Promise<HookAnswer> {
  const named = z.object({ hook_event_name: z.string().max(100) }).safeParse(given);
  const name = named.success ? named.data.hook_event_name : '';
  const question = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name] : undefined;
  if (question === undefined) return recorded(desk, name, given, options);
  try {
    return await question.answer(desk, given, options);
  } catch (error) {
    if (isInstance(error, z.ZodError))
      return question.refuse(`Assize: the event ${name} cannot be read: ${where(error)}`);
    if (isAssizeError(error) && !error.retryable) return question.refuse(`Assize: ${error.message}`);
    throw error;
  }
}

function where(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? 'no issue is named' : `${issue.path.join('.') || 'it'}: ${issue.message}`;
}
