import { issueText, issueWords } from 'assize/internal/canon';
import { EffectError, inputMembers, type ToolSpec } from 'assize/internal/effects';
import { z } from 'zod';

/** A function of the caller. It is not inspected. */
export const callback = z.custom<(...args: any[]) => any>((value) => typeof value === 'function', {
  params: { expected: 'function' },
});

/** A zod schema for the input of a tool. */
export const zodSchema = z.custom<z.ZodType>((value) => value instanceof z.ZodType, 'a zod schema');

/** Scopes as a tool declares them. The declaration checks their content. */
export const scopes = z.union([z.array(z.string()), callback]);

/** Options that every tool has. */
export const COMMON_OPTIONS = {
  name: z.string(),
  description: z.string().optional(),
  cost: callback.optional(),
  sensitive: z.boolean().optional(),
  parallel: z.boolean().optional(),
};

/** Options that every tool with effects also has. */
export const ACTING_OPTIONS = {
  ...COMMON_OPTIONS,
  reads: scopes.optional(),
  writes: scopes.optional(),
  plan: callback.optional(),
  undoCost: callback.optional(),
  uncompensated: z.string().optional(),
  channel: z.string().optional(),
  mitigate: callback.optional(),
};

export type CommonToolOptions<Schema extends z.ZodType = z.ZodType> = Pick<
  ToolSpec<Schema>,
  keyof typeof COMMON_OPTIONS
>;

export type ActingToolOptions<Schema extends z.ZodType = z.ZodType> = Pick<
  ToolSpec<Schema>,
  keyof typeof ACTING_OPTIONS
>;

/** The common options of a tool, for its declaration. */
export function pickToolOptions<Options extends object>(
  options: Options,
): Pick<Options, keyof Options & keyof ActingToolOptions> {
  const there = Object.entries(options).filter(([name]) => Object.hasOwn(ACTING_OPTIONS, name));
  return Object.fromEntries(there) as ReturnType<typeof pickToolOptions<Options>>;
}

/**
 * The options of a tool, checked before use. `byDefault` is the name of an option that has a
 * default.
 *
 * @throws EffectError `invalid_tool`, naming the tool and the invalid option
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

/** A misspelled option resembles one of these names. */
function membersOf(schema: z.ZodType, { issues }: z.ZodError): string {
  const isUnknown = issues.find(({ code }) => code === 'unrecognized_keys')?.path.length === 0;
  return isUnknown && schema instanceof z.ZodObject
    ? `. The options are ${Object.keys(schema.shape).join(', ')}`
    : '';
}

/**
 * Refuses a template with a field that no input can have, because it could never be filled.
 *
 * @throws EffectError `invalid_tool`
 */
export function requireMembers(
  tool: string,
  part: string,
  named: readonly string[],
  input: z.ZodType,
): void {
  const members = inputMembers(input);
  const stray = named.find((member) => members?.has(member) === false);
  if (members === undefined || stray === undefined) return;
  const there = [...members].join(', ') || 'none';
  throw invalidTool(
    tool,
    `its ${part} has {${stray}}, which is not a field of its input (fields: ${there})`,
  );
}

export function invalidTool(name: unknown, what: string, cause?: unknown): EffectError {
  const tool = String(name);
  return new EffectError('invalid_tool', `The tool ${tool} cannot be used: ${what}.`, {
    evidence: { tool },
    cause,
  });
}
