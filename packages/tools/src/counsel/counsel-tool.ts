import { errorMessage, isInstance, type Json } from 'assize/internal/base';
import { copyJson } from 'assize/internal/canon';
import {
  type CallContext,
  declareTool,
  EffectError,
  type Tool,
  type ToolSpec,
} from 'assize/internal/effects';
import { z } from 'zod';
import { callback, readOptions } from '../options.ts';
import { checkedAnswer } from './desk.ts';
import type { CounselAnswer, CounselQuestion } from './question.ts';

export interface CounselToolOptions extends Pick<ToolSpec, 'description' | 'sensitive'> {
  readonly name: string;
  /**
   * Presents the question to a human, and returns the answer. The signal is aborted when the
   * question is cancelled.
   */
  readonly ask: (
    question: CounselQuestion,
    signal: AbortSignal,
  ) => Promise<CounselAnswer> | CounselAnswer;
  /**
   * Milliseconds after which no branch is chosen. Default: the transaction's own deadline; it
   * aborts the transaction.
   */
  readonly deadlineMs?: number;
}

const OPTIONS = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  sensitive: z.boolean().optional(),
  ask: callback,
  deadlineMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional(),
});
const SUMMARY = z.union([
  z.strictObject({ failed: z.literal(false), summary: z.unknown() }),
  z.strictObject({ failed: z.literal(true), why: z.string() }),
]);
const QUESTION = z.strictObject({ question: z.string(), branches: z.array(SUMMARY) });

/**
 * A tool that lets a human choose which branch a transaction continues with. The answer, its author
 * and the question are an observation of the commit. The caller needs a writ for the tool. The
 * transaction keeps its claims while it waits.
 *
 * @throws EffectError `invalid_tool`
 */
export function counselTool(options: CounselToolOptions): Tool {
  const { name, description, sensitive, ask, deadlineMs } = readOptions(
    OPTIONS,
    options,
  ) as unknown as CounselToolOptions;
  return declareTool({
    name,
    input: QUESTION,
    class: 'read',
    ...(description === undefined ? {} : { description }),
    ...(sensitive === undefined ? {} : { sensitive }),
    execute: (given, { signal }: CallContext) =>
      answerTo(given as CounselQuestion, name, ask, signal, deadlineMs),
  });
}

async function answerTo(
  asked: CounselQuestion,
  name: string,
  ask: CounselToolOptions['ask'],
  outer: AbortSignal,
  deadlineMs: number | undefined,
): Promise<Json> {
  const late = deadlineMs === undefined ? undefined : AbortSignal.timeout(deadlineMs);
  const signal = late === undefined ? outer : AbortSignal.any([outer, late]);
  try {
    const answer = checkedAnswer(asked, await before(signal, () => ask(asked, signal)));
    return copyJson({ asked, ...answer }, { foreign: true });
  } catch (error) {
    outer.throwIfAborted();
    if (late?.aborted) return copyJson({ asked, chosen: null, expired: true }, { foreign: true });
    if (isInstance(error, EffectError)) throw error;
    const why = errorMessage(error)?.replace(/\.$/, '') ?? 'no reason was given';
    throw new EffectError('tool_failed', `${name} got no answer: ${why}.`, {
      evidence: { tool: name },
      cause: error,
    });
  }
}

/**
 * Resolves with the made value, or rejects with the signal's reason on abort: the `ask` function
 * may ignore the signal.
 */
async function before<T>(signal: AbortSignal, make: () => T | Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([promise, make()]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The part of a transaction that `chooseByCounsel` uses. */
export interface QuestionPort {
  call(tool: string, input: unknown): Promise<any>;
}

/**
 * A `choose` for `speculate` that asks a counselor through the `counselTool` of that name.
 * `summary`: the displayed part of a branch's result; default: all of it.
 */
export function chooseByCounsel<T>(
  tx: QuestionPort,
  tool: string,
  question: string,
  summary: (value: T) => unknown = (value) => value,
): (
  tried: readonly (
    | { readonly failed: false; readonly value: T }
    | { readonly failed: true; readonly error: unknown }
  )[],
) => Promise<number | undefined> {
  return async (tried) => {
    const branches = tried.map((each) =>
      each.failed
        ? { failed: true, why: errorMessage(each.error) ?? 'no reason was given' }
        : { failed: false, summary: summary(each.value) ?? null },
    );
    const { chosen } = (await tx.call(tool, { question, branches })) as { chosen: number | null };
    return chosen ?? undefined;
  };
}
