import type { Json } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';

/** The change of a file by a call, so that it can be taken back. */
export interface FileChange {
  readonly [name: string]: Json;
  readonly path: string;
  /** The text before the call. Null: there was no file. */
  readonly before: string | null;
  /** The hash of the text after the call. */
  readonly after: string;
}

/** The largest text before a call that is kept. */
const BEFORE_BYTES_MAX = 200_000;

/**
 * The change of a call of Write, Edit or NotebookEdit, from its response. Undefined if it is none,
 * or the text before it is not known or too large.
 */
export function fileChange(tool: string, input: object, response: unknown): FileChange | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  const { originalFile, original_file, updated_file, content, replaceAll } = response as Record<string, unknown>;
  const { file_path, notebook_path, old_string, new_string } = input as Record<string, unknown>;
  // The person can change an edit at the terminal, and then only the response has it.
  const { oldString = old_string, newString = new_string } = response as Record<string, unknown>;
  const path = file_path ?? notebook_path;
  const before = originalFile === undefined ? original_file : originalFile;
  if (typeof path !== 'string' || !(typeof before === 'string' || before === null)) return undefined;
  if (before !== null && Buffer.byteLength(before) > BEFORE_BYTES_MAX) return undefined;
  const after =
    tool === 'Write' ? content : tool === 'Edit' ? edited(before, oldString, newString, replaceAll) : updated_file;
  return typeof after === 'string' ? { path, before, after: hashText(after) } : undefined;
}

function edited(before: string | null, from: unknown, to: unknown, isAll: unknown): string | undefined {
  if (typeof from !== 'string' || typeof to !== 'string') return undefined;
  const text = before ?? '';
  if (from === '') return to;
  if (isAll === true) return text.replaceAll(from, () => to);
  return text.replace(from, () => to);
}
