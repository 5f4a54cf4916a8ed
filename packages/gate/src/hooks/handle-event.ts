import { isAssizeError, isInstance } from 'assize/internal/base';
import { z } from 'zod';
import type { CallWorld } from '#calls';
import type { HookAnswer } from './answers.ts';

/** An event that asks for a permission. */
export interface Question<Options> {
  readonly answer: (world: CallWorld, given: unknown, options: Options) => Promise<HookAnswer>;
  readonly refuse: (reason: string) => HookAnswer;
}

/** The events of one agent program. */
export interface HookProgram<Options> {
  /** By the name of the event. */
  readonly questions: Readonly<Record<string, Question<Options>>>;
  /** Records an event that only informs. An unknown one is let pass. */
  readonly recorded: (
    world: CallWorld,
    name: string,
    given: unknown,
    options: Options,
  ) => Promise<HookAnswer>;
}

/**
 * The answer to one event of an agent program. A question that cannot be read or decided is
 * refused. An event that only informs is recorded if it belongs to a recorded call.
 */
export async function handleEvent<Options>(
  { questions, recorded }: HookProgram<Options>,
  world: CallWorld,
  given: unknown,
  options: Options,
): Promise<HookAnswer> {
  const named = z.object({ hook_event_name: z.string().max(100) }).safeParse(given);
  const name = named.success ? named.data.hook_event_name : '';
  const question = Object.hasOwn(questions, name) ? questions[name] : undefined;
  if (question === undefined) return recorded(world, name, given, options);
  try {
    return await question.answer(world, given, options);
  } catch (error) {
    if (isInstance(error, z.ZodError))
      return question.refuse(`Assize: the event ${name} cannot be read: ${where(error)}`);
    if (isAssizeError(error) && !error.retryable)
      return question.refuse(`Assize: ${error.message}`);
    throw error;
  }
}

function where(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined
    ? 'no issue is named'
    : `${issue.path.join('.') || 'it'}: ${issue.message}`;
}
