import type { Hash } from '#ledger';
import type { EntryLinks, Mark } from './entry-links.ts';
import { pathsAbove } from './path-set.ts';

/** The most 32-bit words of one row of the index. */
export const WORDS_MAX = 12_000;

/**
 * The places of the words of an entry, which begin with their number. From `lists` on, the words of
 * the lists follow in the order of their counts, and then the paths that the entry writes.
 */
export const AT = {
  length: 0,
  id: 1,
  trajectory: 2,
  seq: 3,
  /** The second of its time, since 1970. */
  second: 4,
  flags: 5,
  /** The number of words of each list. */
  restsOn: 6,
  rows: 7,
  observed: 8,
  marks: 9,
  judgedBy: 10,
  lists: 11,
} as const;

export const FLAG = {
  /** The paths are the source of a branch. */
  inherits: 1,
  /** Its paths are not part of a state: a pending proposal or a rejection. */
  isOpen: 2,
  /** The paths are too many for words: the entry may write any of them. */
  anyPath: 4,
  /** The entry derives from all entries of its trajectory before it. */
  isAnswer: 8,
} as const;

/**
 * The links of an entry as 32-bit words, for a fast first search. Names are hashed, so unequal ones
 * can have one word: a search finds all entries that derive, and a few others. Each path has the
 * number of paths above it first, and these paths last. A branch has the trajectory and the
 * position of its source as its only path. An entry with more than `wordsMax` words gets no
 * written paths.
 */
export function wordsOf(links: EntryLinks, wordsMax: number): number[] {
  const { restsOn, rows, observed, marks, inherits, kind } = links;
  const flags =
    (inherits === undefined ? 0 : FLAG.inherits) |
    (kind === 'pending_approval' || kind === 'rejection' ? FLAG.isOpen : 0) |
    (links.isAnswer ? FLAG.isAnswer : 0);
  const judgedBy = links.judgedBy.flatMap(pathWords);
  const counts = [restsOn.length, rows.length, observed.length, marks.length, judgedBy.length];
  const words = [0, ...headOf(links), flags, ...counts];
  for (const { entry } of restsOn) words.push(idWord(entry));
  for (const { row } of rows) words.push(textWord(row));
  for (const { row } of observed) words.push(textWord(row));
  for (const mark of marks) words.push(markWord(mark));
  for (const word of judgedBy) words.push(word);
  const written = links.paths.flatMap(pathWords);
  if (inherits !== undefined) words.push(textWord(inherits.trajectoryId), inherits.seq);
  else if (words.length + written.length > wordsMax) words[AT.flags] = flags | FLAG.anyPath;
  else for (const word of written) words.push(word);
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
