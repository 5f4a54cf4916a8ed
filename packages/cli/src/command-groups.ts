/**
 * The commands that the help of `assize` shows, by what a person wants to do, at most eight in each
 * group. The help with `--all` has the others too.
 */
export const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Start:': ['init', 'serve', 'token', 'domains', 'mcp', 'doctor'],
  'Decide:': ['pending', 'approve', 'reject', 'standing', 'effects', 'halt', 'agents'],
  'Look:': ['log', 'show', 'state', 'diff', 'memory', 'blast'],
  'Prove:': ['verify', 'checkpoint', 'bundle', 'report'],
  'Change rules:': ['rules', 'policy', 'lab', 'upgrade'],
  'Operate:': ['backup', 'restore', 'export', 'import', 'archive', 'keys'],
};
