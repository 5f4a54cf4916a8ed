import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CliError } from '@assize/command';

/** An agent program whose hooks Assize installs. */
interface AgentProgram {
  readonly name: string;
  /** The option that names its program. */
  readonly option: string;
  /** Its answer to `--version`, with the three parts of the version. */
  readonly says: RegExp;
  readonly oldest: readonly [number, number, number];
  /** The reason against an earlier version: the end of a sentence that begins with it. */
  readonly because: string;
}

/** Earlier versions ignore `onFailure`. */
export const CLAUDE_CODE: AgentProgram = {
  name: 'Claude Code',
  option: '--claude',
  says: /^(\d+)\.(\d+)\.(\d+)\b.*Claude Code/,
  oldest: [2, 1, 295],
  because: 'lets a call through when its hook fails',
};

/** The version whose hooks were tried in every way to fail. */
export const CODEX: AgentProgram = {
  name: 'Codex',
  option: '--codex',
  says: /^codex(?:-cli)? (\d+)\.(\d+)\.(\d+)\b/,
  oldest: [0, 171, 0],
  because: 'was not tried, and may let a call through when its hook fails',
};

/**
 * The version of an installed agent program.
 *
 * @throws CliError `usage` if it is missing, does not say its version, or is too old
 */
export async function requireVersion(
  path: string,
  { name, option, says, oldest, because }: AgentProgram,
): Promise<string> {
  const least = oldest.join('.');
  let said: string;
  try {
    ({ stdout: said } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new CliError(
        'usage',
        `There is no program ${path}${/[\\/]/.test(path) ? '' : ' on the PATH'}. Install ${name} ${least} or later, or name its program with ${option} PATH.`,
      );
    throw new CliError(
      'usage',
      `The program ${path} did not say its version. Install ${name} ${least} or later, or name its program with ${option} PATH.`,
    );
  }
  const [, ...parts] = says.exec(said) ?? [];
  if (parts.length === 0)
    throw new CliError(
      'usage',
      `${path} --version did not answer with a version of ${name}. Pass ${option} PATH.`,
    );
  const version = parts.join('.');
  if (isBefore(parts.map(Number), oldest))
    throw new CliError('usage', `${name} ${version} ${because}. Update it to ${least} or later.`);
  return version;
}

function isBefore(version: readonly number[], oldest: readonly number[]): boolean {
  const at = oldest.findIndex((part, i) => version[i] !== part);
  return at >= 0 && (version[at] ?? 0) < (oldest[at] as number);
}
