/**
 * Commands as tools: run with a declared class, and compensated by restoring a folder.
 * Guarantees: arguments reach the command one by one, never through a shell. Only a declared
 * script runs in a shell, and receives them as variables. No argument starts with `-` because of
 * its input, unless the declaration permits this. The environment is the declared one. A script
 * also has its input variables. They replace no declared variable. Output is stored up to a limit.
 * When a call times out, the command and all its processes are ended. With `snapshotOf`, the
 * folder is claimed and copied first, and shares blocks if the file system supports this. No other
 * user can access the copy. The folder is restored if the command fails, if a crash interrupted
 * it, or if it is compensated while the folder is unchanged. One process at a time does this. A
 * restored folder is verified, and an incomplete copy is never used.
 * Never: knows the effects of a command. The declaration states its reads and writes, and effects
 * outside of the folder are not compensated. A snapshot survives kill -9, and power loss once the
 * file system has written it. Hard links in a restored folder become separate files.
 */
export { type ShellToolSpec, shellTool } from './shell-tool.ts';
