import { z } from 'zod';
import { issueText, issueWords } from '#canon';
import { EffectError, inputMembers, type ToolSpec } from '#effects';

/** A function, which is the caller's code and not looked at. */
export const callback = z.custom<(...args: any[]) => any>((value) => typeof value === 'function', {
  params: { expected: 'function' },
});

/** A schema of zod, for what a tool is called with. */
export const zodSchema = z.custom<z.ZodType>((value) => value instanceof z.ZodType, 'a zod schema');

/** Scopes as a tool declares them; what they say is read with the declaration. */
export const scopes = z.union([z.array(z.string()), callback]);

/** What every tool may say of itself. */
export const SAID = {
  name: z.string(),
  description: z.string().optional(),
  cost: callback.optional(),
  sensitive: z.boolean().optional(),
  parallel: z.boolean().optional(),
};

/** What one that acts may say as well, whatever it acts by. */
export const SAID_OF_ACTS = {
  ...SAID,
  reads: scopes.optional(),
  writes: scopes.optional(),
  plan: callback.optional(),
  undoCost: callback.optional(),
  uncompensated: z.string().optional(),
  channel: z.string().optional(),
  mitigate: callback.optional(),
};

export type Said<Schema extends z.ZodType = z.ZodType> = Pick<ToolSpec<Schema>, keyof typeof SAID>;

export type SaidOfActs<Schema extends z.ZodType = z.ZodType> = Pick<ToolSpec<Schema>, keyof typeof SAID_OF_ACTS>;

/** Of all that a tool is made of, what it says of itself, for its declaration. */
export function said<Options extends object>(options: Options): Pick<Options, keyof Options & keyof SaidOfActs> {
  const there = Object.entries(options).filter(([name]) => Object.hasOwn(SAID_OF_ACTS, name));
  return Object.fromEntries(there) as ReturnType<typeof said<Options>>;
}

/**
 * What a tool is made of, checked before anything of it is used. `byDefault` is the name of what may be made without one.
 *
 * @throws EffectError `invalid_tool`, naming the tool and what of it is wrong
 */
export function readOptions<Schema extends z.ZodType>(
  schema: Schema,
  options: unknown,
  byDefault?: string,
): z.infer<Schema> {
  const read = schema.safeParse(options, { error: issueWords });
  if (read.success) return read.data;
  const name = (options as { readonly name?: unknown } | null | undefined)?.name ?? byDefault;
  throw invalidTool(name, issueText(read.error) + membersOf(schema, read.error));
}

/** What is misspelled is one of these. */
function membersOf(schema: z.ZodType, { issues }: z.ZodError): string {
  const isUnknown = issues.find(({ code }) => code === 'unrecognized_keys')?.path.length === 0;
  return isUnknown && schema instanceof z.ZodObject ? `; there are ${Object.keys(schema.shape).join(', ')}` : '';
}

/**
 * Refuses a template that names a member which no input can have: it could never be filled.
 *
 * @throws EffectError `invalid_tool`
 */
export function requireMembers(tool: string, part: string, named: readonly string[], input: z.ZodType): void {
  const members = inputMembers(input);
  const stray = named.find((member) => members?.has(member) === false);
  if (members === undefined || stray === undefined) return;
  const there = [...members].join(', ') || 'none';
  throw invalidTool(tool, `its ${part} has {${stray}}, and its input has no such member; there are ${there}`);
}

export function invalidTool(name: unknown, what: string, cause?: unknown): EffectError {
  const tool = String(name);
  return new EffectError('invalid_tool', `The tool ${tool} can't be used: ${what}.`, { evidence: { tool }, cause });
}
