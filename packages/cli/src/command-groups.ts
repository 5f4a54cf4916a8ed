/**
 * The commands that the help of `assize` shows, by what a person wants to do, at most eight in each
 * group. The help with `--all` has the others too.
 */
export const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Start:': ['init', 'demo', 'serve', 'token', 'domains', 'mcp', 'run'],
  'Decide:': ['pending', 'approve', 'reject', 'standing', 'effects', 'calls', 'agents', 'halt'],
  'Look:': ['log', 'show', 'state', 'diff', 'memory', 'blast', 'runs'],
  'Prove:': ['verify', 'checkpoint', 'bundle', 'report', 'fsck'],
  'Change rules:': ['rules', 'policy', 'backtest', 'mine', 'simulate', 'upgrade', 'branch'],
  'Operate:': ['backup', 'restore', 'export', 'import', 'archive', 'keys', 'writ', 'cells'],
};
