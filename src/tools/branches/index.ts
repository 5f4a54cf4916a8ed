/**
 * Branches of a transaction that work in copies of a folder, each in its own.
 *
 * Guarantees: what a branch writes, and its commands write in their folder, is in its copy alone; what of the chosen one differs from what
 * was copied becomes writes and deletions of the transaction, on condition that each file is as it was, done with its commit or
 * not at all; the copies are gone when the branches have ended, and those of a process that was killed, with the commands that it
 * left running, before the next copy is made. What can't be taken away stays, and is told of. Links in a copy lead to the same place
 * in it. Several may branch one folder at once, in one process too. Where a transaction asks again what it has read, a copy is what
 * the folder was when it was made, and what a command answered in it stays so.
 *
 * Never: follows a link out of the folder, or copies one (it is refused by name, or left out); knows what a command does elsewhere than in
 * its copy; takes over links, devices, owners, times or empty folders. Copies share blocks with the folder where the file system
 * can; a hard link is a file by itself in a copy, and can't be written to when it is taken over.
 *
 * A file or a folder that becomes a link while it is copied is copied as it was, or not at all; where the system does not name what is
 * open (`/proc/self/fd`), that is so of files alone, which share no blocks there.
 *
 * Whether a process has ended is told by its number, so what another machine or container left stays, for who runs there to take away.
 */
export {
  type BranchBody,
  type Branched,
  type BranchFolder,
  BranchFolders,
  type BranchFoldersOptions,
  type Branching,
  type ChooseBranch,
  type Outcome,
} from './branch-folders.ts';
export type { FileChange } from './differences.ts';
