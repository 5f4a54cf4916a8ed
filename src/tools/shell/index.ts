/**
 * Commands as tools: run with a declared class, and undone by putting a folder back.
 *
 * Guarantees: arguments reach the command one by one, never through a shell, unless a script is asked for, and then as variables;
 * none begins with `-` by its input, unless that may be; its environment is what the declaration says, and in a script such variables, which
 * take the place of nothing there; output is kept up to a bound; when a call may take no longer, the
 * command is ended with all that it started. With `snapshotOf`, the folder is claimed, copied before (sharing blocks where the file system
 * can) to where nobody else gets at it, put back where the command fails, was interrupted by a crash, or is undone while the folder stands as it left it,
 * by one process at a time. It is said to be put back only where it then is what it was; nothing is put back of a copy that is not whole.
 *
 * Never: knows what a command really does; what it reads and writes is what its declaration says, and what it does elsewhere than in
 * that folder is not undone. A snapshot is there across kill -9; after power loss, as far as the file system had written it. Hard
 * links in a folder that is put back are files by themselves.
 */
export { type ShellToolSpec, shellTool } from './shell-tool.ts';
