import type { Tool } from '@modelcontextprotocol/client';
import { isAssizeError, isInstance, isRecord, type Json } from 'assize/internal/base';
import { contentHash, DEFAULT_LIMITS } from 'assize/internal/canon';

/** The definition of a tool as it is pinned, with its hash. */
export interface Definition {
  readonly tool: Tool;
  readonly json: Readonly<Record<string, Json>>;
  readonly hash: string;
}

/** The names that a rules file can say. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$/;

/** The longest text of one definition, in characters. */
const DEFINITION_MAX = 200_000;

/** Hears of a tool that is left out, and why. */
export type Hide = (name: string, why: string) => void;

/**
 * The definitions of a list by name. Left out are names that no rule can say, names that occur
 * twice, and definitions that are too long or that have no canonical text.
 */
export function definitionsOf(tools: readonly Tool[], hide: Hide): ReadonlyMap<string, Definition> {
  const found = new Map<string, Definition>();
  const names = new Map<string, number>();
  for (const { name } of tools) names.set(name, (names.get(name) ?? 0) + 1);
  for (const tool of tools) {
    const { name } = tool;
    const made = !NAME.test(name)
      ? 'no rule can have its name'
      : names.get(name) === 1
        ? definitionOf(tool)
        : 'its name occurs twice';
    if (typeof made === 'string') hide(name, made);
    else found.set(name, made);
  }
  return found;
}

/** The definition, or why there is none. */
function definitionOf(tool: Tool): Definition | string {
  const text = JSON.stringify(tool);
  if (text.length > DEFINITION_MAX)
    return `its definition has more than ${DEFINITION_MAX} characters`;
  const json = JSON.parse(text) as Definition['json'];
  try {
    return { tool: JSON.parse(text) as Tool, json, hash: contentHash(json) };
  } catch (error) {
    if (isAssizeError(error)) return error.message;
    throw error;
  }
}

/**
 * The tools of a list as the protocol has them. A null member that may be left out is left out, and
 * a tool that breaks the protocol spoils no other.
 */
export function wellFormedTools(
  tools: readonly unknown[],
  problemOf: (tool: unknown) => string | undefined,
  hide: Hide,
): unknown[] {
  const { depthMax } = DEFAULT_LIMITS;
  return tools.filter((tool, n) => {
    if (isRecord(tool))
      for (const each of [tool, tool['annotations'], tool['inputSchema']]) withoutNulls(each);
    const problem = isDeeper(tool, depthMax)
      ? `it is nested more than ${depthMax} deep`
      : problemOf(tool);
    if (problem !== undefined)
      hide(isRecord(tool) && typeof tool['name'] === 'string' ? tool['name'] : `#${n}`, problem);
    return problem === undefined;
  });
}

/** Whether a value is nested deeper than that. It does not recur, unlike every later reader. */
function isDeeper(value: unknown, depthMax: number): boolean {
  const containersOf = (values: readonly unknown[]) =>
    values.filter((each) => typeof each === 'object' && each !== null);
  let level = containersOf([value]);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === depthMax) return true;
    level = level.flatMap((each) => containersOf(Object.values(each as object)));
  }
  return false;
}

/** The validation of a Standard Schema. */
type Validation = (value: unknown) => Validated | Promise<Validated>;
interface Validated {
  readonly issues?:
    | readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[]
    | undefined;
}

/** The fault that a validation finds. One that fails or answers later accepts nothing. */
export function issueOf(validate: Validation, value: unknown): string | undefined {
  try {
    const validated = validate(value);
    if ('then' in validated) {
      validated.catch(() => undefined);
      return 'the SDK cannot check it';
    }
    const [first] = validated.issues ?? [];
    return first && `${first.path?.map(String).join('.')}: ${first.message}`;
  } catch (error) {
    if (!isInstance(error, Error)) throw error;
    return `the SDK cannot check it: ${error.message}`;
  }
}

function withoutNulls(value: unknown): void {
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(value))
    if (member === null) delete (value as Record<string, unknown>)[name];
}

/** The tool as a client is shown it. Characters that people cannot see are written out. */
export function shownTool({ tool }: Definition): Tool {
  const { _meta, ...rest } = tool;
  return visibleTexts(rest as never) as unknown as Tool;
}

/**
 * The value with visible titles and descriptions. Other texts stay: a changed pattern or a changed
 * value of an enumeration would be another schema.
 */
export function visibleTexts(value: Json, isText: boolean = true): Json {
  if (typeof value === 'string') return isText ? visible(value) : value;
  if (Array.isArray(value)) return value.map((item) => visibleTexts(item, false));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, visibleTexts(member, TEXTS.has(key))]),
  );
}

const TEXTS: ReadonlySet<string> = new Set(['title', 'description', '$comment']);

/** A text in which every control and every invisible character is its number: `\u{200b}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (one) => `\\u{${(one.codePointAt(0) as number).toString(16)}}`);
}

/** The value with all texts and names visible. */
export function visibleDeep(value: unknown): unknown {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map(visibleDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [visible(name), visibleDeep(member)]),
  );
}

const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
