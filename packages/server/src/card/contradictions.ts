import type { Json } from 'assize/internal/base';

/** A fact of a memory, as an agent recalled it. */
export interface Remembered {
  readonly space: string;
  readonly fact: string;
  /** The start of the version in system time. */
  readonly since: string;
  readonly subject: string;
  readonly predicate: string;
  readonly text: string;
}

/** Values that a proposal has from elsewhere: an observation, or its arguments. */
export interface Given {
  readonly name: string;
  readonly value: Json;
}

/** A text that says something else than a recalled fact about the same subject. */
export interface Contradiction {
  readonly given: { readonly name: string; readonly text: string };
  readonly remembered: Remembered;
}

/** The most texts of all values, and the most characters of one that are compared. */
const TEXTS_MAX = 1_000;
const TEXT_MAX = 400;

/**
 * The recalled facts that a proposal contradicts by its own texts. The proposal names the subject,
 * and a text of it has another number of the same thing ("four nights", "3 nights"), or a member
 * with the name of the predicate has another value. A hint for a person: other differences are
 * possible.
 */
export function contradictionsIn(
  given: readonly Given[],
  facts: readonly Remembered[],
): readonly Contradiction[] {
  const leaves = given
    .flatMap(({ name, value }) => leavesOf(value).map((leaf) => ({ ...leaf, source: name })))
    .slice(0, TEXTS_MAX)
    .map((leaf) => ({ ...leaf, counts: countsIn(leaf.text) }));
  const all = leaves.map(({ text }) => text.toLowerCase());
  return facts.flatMap((remembered) => {
    const { subject, predicate, text } = remembered;
    if (!all.some((one) => hasWord(one, subject.toLowerCase()))) return [];
    const counts = countsIn(text);
    const other = leaves.find(
      (leaf) =>
        differs(counts, leaf.counts) ||
        (wordsOf(leaf.name) === wordsOf(predicate) && !isSame(leaf.text, text)),
    );
    if (other === undefined) return [];
    return [{ given: { name: other.source, text: other.text }, remembered }];
  });
}

interface Leaf {
  readonly name: string;
  readonly text: string;
}

function leavesOf(value: Json, name = '', found: Leaf[] = []): Leaf[] {
  if (found.length >= TEXTS_MAX || value === null || value === undefined) return found;
  if (typeof value !== 'object') found.push({ name, text: String(value).slice(0, TEXT_MAX) });
  else if (Array.isArray(value)) for (const one of value) leavesOf(one, name, found);
  else for (const [member, one] of Object.entries(value)) leavesOf(one, member, found);
  return found;
}

/** Of each counted thing its numbers: `{nights: ['4']}` of "four nights at 310.00". */
function countsIn(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const words =
    text
      .slice(0, TEXT_MAX)
      .toLowerCase()
      .match(/\p{L}+|\d+(?:[.,]\d+)*/gu) ?? [];
  const counts = new Map<string, Set<string>>();
  for (const [n, word] of words.entries()) {
    const number = /^\d/.test(word) ? word : NUMBERS.get(word);
    const thing = words[n + 1];
    if (number === undefined || thing === undefined || !/^\p{L}{3,}$/u.test(thing)) continue;
    const one = thing.replace(/s$/, '');
    counts.set(one, (counts.get(one) ?? new Set()).add(number));
  }
  return counts;
}

const NUMBERS: ReadonlyMap<string, string> = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve'
    .split(' ')
    .map((word, number) => [word, String(number)]),
);

function differs(
  one: ReadonlyMap<string, ReadonlySet<string>>,
  other: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  return [...one].some(([thing, numbers]) => {
    const others = other.get(thing);
    return others !== undefined && ![...numbers].some((number) => others.has(number));
  });
}

function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** `payTo` and `pay_to` as `pay to`. */
function wordsOf(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_\s-]+/g, ' ')
    .toLowerCase();
}

function hasWord(text: string, word: string): boolean {
  const at = text.indexOf(word);
  const isLetter = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);
  return word !== '' && at >= 0 && !isLetter(text[at - 1]) && !isLetter(text[at + word.length]);
}
