import { type AgentProgram, requireVersion } from '../agents/program-version.ts';

/** The version whose hooks were tried in every way to fail. Earlier ones were not. */
const CODEX: AgentProgram = {
  name: 'Codex',
  option: '--codex',
  says: /^codex(?:-cli)? (\d+)\.(\d+)\.(\d+)\b/,
  oldest: [0, 171, 0],
  because: 'was not tried, and may let a call through when its hook fails',
};

/** @throws CliError `usage` if it is missing, does not say its version, or is too old */
export function requireCodex(program: string): Promise<string> {
  return requireVersion(program, CODEX);
}
