/**
 * Files as tools: written, edited, moved and deleted as part of a transaction.
 * Guarantees: a file has its old or its new content, and never a mixture, across kill -9 and power
 * loss. A compensated file has its earlier bytes and mode, or is removed if it did not exist. A
 * file is compensated only while it is as the call left it. After a crash the journal tells
 * whether an operation was done, or reports that the outcome is unknown. One call at a time,
 * across all processes, works on a path (for a move, the source path). A late process therefore
 * records no outdated outcome. One file has one path and one scope. Spellings with `..` and links
 * are resolved, and so are case and Unicode form if the file system folds them. The plan refuses
 * an operation before the commit if the current files show the problem. New bytes never carry
 * setuid-like bits, and restored bytes carry them only if their owner is the same. A rewritten
 * file keeps its owner if the system permits this process to set it: root may, and others may
 * within their groups.
 * Never: follows a symbolic link that was created after the call was claimed. Never changes a path
 * outside of its root, a file with a second name (a hard link), or a folder that it did not
 * create. Never keeps times or extended attributes of replaced files, and never runs on systems
 * with paths that have no `/`. A write by another program between the last check and the rename is
 * not detected: file systems have no conditional rename.
 * The tools store their data below `.assize` in the root: the last operation at each path, until a
 * later transaction works there.
 */
export type { Disk, FileContents, FolderItem, PathContents } from './disk.ts';
export { type FileToolsOptions, fileScope, fileTools } from './file-tools.ts';
export { fileResolver } from './resolver.ts';
