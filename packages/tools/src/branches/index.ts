/**
 * Branches of a transaction that each work in their own copy of a folder.
 * Guarantees: writes of a branch, and of its commands in their folder, change its copy only. The
 * differences of the chosen copy become writes and deletions of the transaction. Each requires
 * that its file is as it was copied, and all are done with the commit or not at all. The copies
 * are removed when the branches end. Copies and commands of a killed process are removed before
 * the next copy is made. A copy that can't be removed stays and is reported. Links in a copy lead
 * to the same path in it. Several branches of one folder can run concurrently, in one process too.
 * When a transaction repeats its reads, a copy is the folder as first copied, and a command's
 * answer is unchanged.
 * Never: follows a link out of the folder, or copies one (the link is refused by name, or left
 * out). Never knows the effects of a command outside of its copy. Never merges links, devices,
 * owners, times or empty folders. Copies share blocks with the folder if the file system supports
 * this. A hard link becomes a separate file in a copy, and can't be written when changes are
 * merged.
 * A file or folder that becomes a link while it is copied is copied unchanged or not at all. On a
 * system that does not name open files (`/proc/self/fd`), this holds for files only, and they
 * share no blocks there.
 * The process number tells whether a process has ended. Copies of another machine or container
 * therefore stay, until a process there removes them.
 */
export {
  type BranchBody,
  type BranchFolder,
  type BranchFolderResult,
  BranchFolders,
  type BranchFoldersOptions,
  type BranchingTransaction,
  type BranchOutcome,
  type ChooseBranch,
} from './branch-folders.ts';
export type { FileChange } from './differences.ts';
