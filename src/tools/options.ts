import { z } from 'zod';
import { issueText, issueWords } from '#canon';
import { EffectError } from '#effects';

/** A function, which is the caller's code and not looked at. */
export const callback = z.custom<(...args: any[]) => any>((value) => typeof value === 'function', 'a function');

/** Scopes as a tool declares them; what they say is read with the declaration. */
export const scopes = z.union([z.array(z.string()), callback]);

/**
 * What a tool is made of, checked before anything of it is used.
 *
 * @throws EffectError `invalid_tool`, naming the tool and what of it is wrong
 */
export function readOptions<Schema extends z.ZodType>(schema: Schema, options: unknown): z.infer<Schema> {
  const read = schema.safeParse(options, { error: issueWords });
  if (read.success) return read.data;
  throw invalidTool((options as { readonly name?: unknown } | null | undefined)?.name, issueText(read.error));
}

export function invalidTool(name: unknown, what: string, cause?: unknown): EffectError {
  const tool = String(name);
  return new EffectError('invalid_tool', `The tool ${tool} can't be used: ${what}.`, { evidence: { tool }, cause });
}
