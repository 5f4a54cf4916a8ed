import { type AgentProgram, requireVersion } from '../agents/program-version.ts';

/** The first version whose failing hooks refuse a call. Earlier ones ignore `onFailure`. */
const CLAUDE_CODE: AgentProgram = {
  name: 'Claude Code',
  option: '--claude',
  says: /^(\d+)\.(\d+)\.(\d+)\b.*Claude Code/,
  oldest: [2, 1, 295],
  because: 'lets a call through when its hook fails',
};

/** @throws CliError `usage` if it is missing, does not say its version, or is too old */
export function requireClaudeCode(program: string): Promise<string> {
  return requireVersion(program, CLAUDE_CODE);
}
