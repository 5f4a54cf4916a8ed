/**
 * Files as tools: written, edited, moved and deleted as part of a transaction.
 *
 * Guarantees: a file is what it was or what it was to be, and never in between, across kill -9 and power loss; what is undone has the
 * bytes and the mode that it had, or is not there if it was not; it is only undone while it stands as it was left; after a crash
 * the journal tells whether a thing was done, or says that nobody can tell. About one path one call is at work at a time (of a move, about the one that it takes a file from), in whatever
 * process, so that who is late takes nothing down that is not so any more. One file has one path and one scope, whatever `..`,
 * links and, where the file system takes them for the same, case and Unicode form it is named by. What is refused is refused by the
 * plan, before the commit, as far as it stands there then. New bytes never act for an owner (setuid and the like), and what was there
 * before does so again only where its owner is the same. What is written again stays its owner's, as far as the system lets this process say so: root
 * may, and whoever else, of a group that they are in.
 *
 * Never: follows a symbolic link that was not there when the call was claimed; touches anything outside of its root, or a file
 * with a second name (a hard link), or a folder that it did not make; keeps times or extended attributes of what it
 * replaces; runs where paths have no `/`. Somebody who writes there by other means, between its last look and its rename, is not
 * noticed: a file system has no condition on a rename.
 *
 * What it keeps is below `.assize` in the root: what was done last at each path, until a later transaction acts there.
 */
export type { Disk, FileSeen, Named, Seen } from './disk.ts';
export { type FileToolsOptions, fileScope, fileTools } from './file-tools.ts';
export { fileResolver } from './resolver.ts';
