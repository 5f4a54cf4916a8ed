import { z } from 'zod';
import type { Json } from '#base';
import { DidNothing } from '#effects';

// What a command gets of an input: places in its arguments, or variables of its script.

const MEMBER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** The members of the input that a part of a command is filled with. */
export function membersOf(part: string): string[] {
  return [...part.matchAll(MEMBER)].map(([, member]) => member!);
}

/** The members that a part of a command begins with. */
const LEADING = /^(?:\{[A-Za-z_][A-Za-z0-9_]*\})+/;
/** Whatever a shell or a loader goes by begins otherwise: `PATH`, `IFS`, `LD_PRELOAD`, `BASH_ENV`, `_`. */
const VARIABLE = /^[a-z][A-Za-z0-9_]*$/;
/**
 * What programs go by all the same: where they connect to (`http_proxy`, `no_proxy`, by curl, wget, git and most others), and what package
 * managers fetch and run (`npm_config_script_shell`).
 */
const LOWER_CASE_SETTING = /_proxy$|^(?:npm|pnpm|yarn)_/;

/** What is wrong with a script of that environment for such an input, as far as the schema tells its members. */
export function problemOfScript(input: z.ZodType, env: Readonly<Record<string, string>>): string | undefined {
  if (!(input instanceof z.ZodObject)) return undefined;
  for (const member of Object.keys(input.shape)) {
    const problem = problemOfVariable(member, env);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * The environment of a script, with the members of its input that are texts or numbers: none of them takes the place of what was declared.
 *
 * @throws DidNothing for a member that can't be a variable
 */
export function envWith(env: Readonly<Record<string, string>>, given: Json): Record<string, string> {
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
 * An argument of a command with its places filled. Where it begins with members, it is no option, unless they may all be one.
 *
 * @throws DidNothing where the input has nothing that fits there
 */
export function argument(part: string, given: Json, mayBeOptions: readonly string[] = []): string {
  const text = filled(part, given);
  const barred = leading(part).filter((member) => !mayBeOptions.includes(member));
  if (text.startsWith('-') && barred.length > 0)
    throw new DidNothing(
      `its command would take ${part} for an option, as it begins with -; where that is meant, its declaration names ${barred.join(', ')} in mayBeOptions`,
      { final: true },
    );
  return text;
}

/** Members that stand at the beginning of a part of a command: what they are may make an option of it. */
export function leading(part: string): string[] {
  return membersOf(LEADING.exec(part)?.[0] ?? '');
}

function filled(part: string, given: Json): string {
  return part.replaceAll(MEMBER, (_, member: string) => {
    const value = (given as Record<string, unknown> | null)?.[member];
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new DidNothing(`its command needs ${member}, a text or a number`, { final: true });
    return checked(String(value));
  });
}

function problemOfVariable(member: string, env: Readonly<Record<string, string>>): string | undefined {
  if (!VARIABLE.test(member))
    return `the member ${JSON.stringify(member)} of its input can't be a variable of its script: let it begin with a lower-case letter, and have letters, digits and _`;
  if (LOWER_CASE_SETTING.test(member))
    return `the member ${member} of its input can't be a variable of its script, as programs go by it: give it another name, and set ${member} in the script, or in env`;
  if (Object.hasOwn(env, member)) return `its env has ${member}, and so has its input; give one of them another name`;
  return undefined;
}

function checked(text: string): string {
  if (text.includes('\0')) throw new DidNothing('an argument has a character that none can have, NUL', { final: true });
  return text;
}
