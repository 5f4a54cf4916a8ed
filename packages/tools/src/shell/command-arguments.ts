import type { Json } from 'assize/internal/base';
import { DidNothing } from 'assize/internal/effects';
import { z } from 'zod';

// Fills the input into a command: placeholders in its arguments, or variables of its script.

const MEMBER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** The input fields of a part of a command. */
export function membersOf(part: string): string[] {
  return [...part.matchAll(MEMBER)].map(([, member]) => member!);
}

/** The fields at the start of a part of a command. */
const LEADING = /^(?:\{[A-Za-z_][A-Za-z0-9_]*\})+/;
/**
 * The names of a shell's or loader's own variables start differently: `PATH`, `IFS`, `LD_PRELOAD`,
 * `BASH_ENV`, `_`.
 */
const VARIABLE = /^[a-z][A-Za-z0-9_]*$/;
/**
 * Lower-case variables that programs use: connection settings (`http_proxy`, `no_proxy`, by curl,
 * wget, git and others), and settings of package managers (`npm_config_script_shell`).
 */
const LOWER_CASE_SETTING = /_proxy$|^(?:npm|pnpm|yarn)_/;

/**
 * Why a script of that environment can't run with such an input. Checks the fields that the schema
 * names.
 */
export function problemOfScript(
  input: z.ZodType,
  env: Readonly<Record<string, string>>,
): string | undefined {
  if (!(input instanceof z.ZodObject)) return undefined;
  for (const member of Object.keys(input.shape)) {
    const problem = problemOfVariable(member, env);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * The environment of a script, with the strings and numbers of its input. No input field replaces a
 * declared variable.
 *
 * @throws DidNothing for a field that can't be a variable
 */
export function envWith(
  env: Readonly<Record<string, string>>,
  given: Json,
): Record<string, string> {
  const all: Record<string, string> = { ...env };
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return all;
  for (const [member, value] of Object.entries(given)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const problem = problemOfVariable(member, env);
    if (problem !== undefined) throw new DidNothing(problem, { final: true });
    all[member] = checked(String(value));
  }
  return all;
}

/**
 * An argument of a command with its placeholders filled. An argument that starts with fields must
 * not be an option, unless all these fields may be options.
 *
 * @throws DidNothing if the input has no suitable value
 */
export function argument(part: string, given: Json, mayBeOptions: readonly string[] = []): string {
  const text = filled(part, given);
  const barred = leading(part).filter((member) => !mayBeOptions.includes(member));
  if (text.startsWith('-') && barred.length > 0)
    throw new DidNothing(
      `its command would read ${part} as an option, because it starts with -. To allow this, name ${barred.join(', ')} in mayBeOptions`,
      { final: true },
    );
  return text;
}

/**
 * The fields at the start of a part of a command. Their values may turn the part into an option.
 */
export function leading(part: string): string[] {
  return membersOf(LEADING.exec(part)?.[0] ?? '');
}

function filled(part: string, given: Json): string {
  return part.replaceAll(MEMBER, (_, member: string) => {
    const value = (given as Record<string, unknown> | null)?.[member];
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new DidNothing(`its command needs ${member} as a string or a number`, { final: true });
    return checked(String(value));
  });
}

function problemOfVariable(
  member: string,
  env: Readonly<Record<string, string>>,
): string | undefined {
  if (!VARIABLE.test(member))
    return `the input field ${JSON.stringify(member)} cannot be a variable of its script. Use a lower-case letter first, then letters, digits and _`;
  if (LOWER_CASE_SETTING.test(member))
    return `the input field ${member} cannot be a variable of its script, because programs read it. Rename the field, and set ${member} in the script or in env`;
  if (Object.hasOwn(env, member))
    return `its env and its input both have ${member}. Rename one of them`;
  return undefined;
}

function checked(text: string): string {
  if (text.includes('\0')) throw new DidNothing('an argument has a NUL character', { final: true });
  return text;
}
