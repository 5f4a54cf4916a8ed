import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CliError } from '../../../errors.ts';

/** The first version whose failing hooks refuse a call. Earlier ones ignore `onFailure`. */
const OLDEST = [2, 1, 295] as const;

/**
 * The version of an installed Claude Code.
 *
 * @throws CliError `usage` if it is missing, does not say its version, or is too old
 */
export async function requireClaudeCode(program: string): Promise<string> {
  let said: string;
  try {
    ({ stdout: said } = await promisify(execFile)(program, ['--version'], { timeout: 20_000 }));
  } catch {
    throw new CliError(
      'usage',
      `The program ${program} did not say its version. Install Claude Code ${OLDEST.join('.')} or later, or name its program with --claude PATH.`,
    );
  }
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)\b.*Claude Code/.exec(said) ?? [];
  if (parts.length === 0)
    throw new CliError(
      'usage',
      `${program} --version did not answer with a version of Claude Code. Pass --claude PATH.`,
    );
  const version = parts.join('.');
  if (isBefore(parts.map(Number), OLDEST))
    throw new CliError(
      'usage',
      `Claude Code ${version} lets a call through when its hook fails. Update it to ${OLDEST.join('.')} or later.`,
    );
  return version;
}

function isBefore(version: readonly number[], oldest: readonly number[]): boolean {
  const at = oldest.findIndex((part, i) => version[i] !== part);
  return at >= 0 && (version[at] ?? 0) < (oldest[at] as number);
}
