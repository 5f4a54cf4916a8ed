import type { Hash } from '#ledger';
import type { EntryLinks, Mark } from './entry-links.ts';
import { pathsAbove } from './path-set.ts';

/**
 * The links of an entry as 32-bit words, for a fast first search. Names are hashed, so that unequal
 * ones can have one word: the search finds all entries that derive, and a few others.
 *
 * The words of an entry: their number; id; trajectory; position in it; second of its time; flags;
 * the numbers of entries it rests on, rows, observed rows and marks; then these, and then the
 * paths, each with the paths above it and their number first. A branch has the source's trajectory
 * and position as its only path.
 */
export const WORDS_MAX = 12_000;

export const AT = {
  length: 0,
  id: 1,
  trajectory: 2,
  seq: 3,
  second: 4,
  flags: 5,
  restsOn: 6,
  rows: 7,
  observed: 8,
  marks: 9,
  lists: 10,
} as const;

export const FLAG = {
  /** The paths are the source of a branch. */
  inherits: 1,
  /** Its paths are not part of a state: a pending proposal or a rejection. */
  isOpen: 2,
  /** The entry has too many links for words: every search must read it. */
  large: 4,
} as const;

export function wordsOf(links: EntryLinks): number[] {
  const { restsOn, rows, observed, marks, inherits, kind } = links;
  const flags =
    (inherits === undefined ? 0 : FLAG.inherits) |
    (kind === 'pending_approval' || kind === 'rejection' ? FLAG.isOpen : 0);
  const words = [0, ...headOf(links), flags, restsOn.length, rows.length, observed.length, marks.length];
  for (const { entry } of restsOn) words.push(idWord(entry));
  for (const row of rows) words.push(textWord(row));
  for (const { row } of observed) words.push(textWord(row));
  for (const mark of marks) words.push(markWord(mark));
  if (inherits !== undefined) words.push(textWord(inherits.trajectoryId), inherits.seq);
  else for (const path of links.paths) words.push(...pathWords(path));
  if (words.length > WORDS_MAX) return [AT.lists, ...headOf(links), flags | FLAG.large, 0, 0, 0, 0];
  words[AT.length] = words.length;
  return words;
}

function headOf({ id, trajectoryId, seq, at }: EntryLinks): number[] {
  return [idWord(id), textWord(trajectoryId), seq, secondOf(at)];
}

/** The number of paths above, the path, and the paths above it up to the whole document. */
function pathWords(path: string): number[] {
  const above = [...pathsAbove(path)].map(textWord);
  return [above.length, textWord(path), ...above];
}

export function idWord(id: Hash): number {
  return Number.parseInt(id.slice(0, 8), 16);
}

export function markWord({ kind, value }: Mark): number {
  return textWord(`${kind} ${value}`);
}

/** The second since 1970 in which an instant lies. */
export function secondOf(at: string): number {
  return Math.max(0, Math.floor(Date.parse(`${at.slice(0, 19)}Z`) / 1_000)) >>> 0;
}

/** FNV-1a over the code units. */
export function textWord(text: string): number {
  let word = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) word = Math.imul(word ^ text.charCodeAt(i), 0x01000193);
  return word >>> 0;
}
