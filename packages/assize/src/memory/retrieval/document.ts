import type { FactRow } from '../fact.ts';
import { OPEN_START } from '../period.ts';
import { lettersOf, WORDS_MAX, wordsOf } from './words.ts';

const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

/**
 * The searchable text of a fact: the first valid day of its claim, subject, predicate and object.
 * For a lost contradiction, the losing object. All versions of a claim share one text, including
 * leftover and widened rows.
 */
export function documentOf(row: Documented): string {
  return partsOf(row)
    .filter((part) => part !== '')
    .join(' ');
}

/**
 * The index words of that text, part by part, followed by single letters. A subject, predicate or
 * object with stop words only, such as `The Who` or `it`, is indexed by them.
 */
export function wordsOfDocument(row: Documented): string[] {
  const parts = partsOf(row);
  return [...parts.flatMap(wordsOf), ...parts.flatMap(lettersOf)].slice(0, WORDS_MAX);
}

/** The columns read from a version. */
type Documented = Pick<FactRow, 'subject' | 'predicate' | 'object' | 'asserted_from' | 'row_kind'>;

function partsOf(row: Documented): readonly string[] {
  const said = row.row_kind === 'audit' ? lost(row.object) : row.object;
  return [dayText(dayOf(row)), row.subject, row.predicate, said];
}

/** The day in its text. Empty for an open start. */
export function dayOf(row: Pick<FactRow, 'asserted_from'>): string {
  const { asserted_from } = row;
  return asserted_from === OPEN_START ? '' : asserted_from.slice(0, 10);
}

/** The day in digits and in words: `2026-04-16 16 April 2026`. */
function dayText(day: string): string {
  if (day === '') return '';
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return `${day} ${date} ${MONTHS[month - 1]} ${day.slice(0, 4)}${year < 1000 ? ` ${year}` : ''}`;
}

/** The losing object of a witness. Any other object stays unchanged. */
function lost(object: string): string {
  // Faster than catching the error of a failed parse.
  if (!/^\s*\{/.test(object)) return object;
  let witness: { readonly loser?: unknown; readonly members?: unknown } | null;
  try {
    witness = JSON.parse(object);
  } catch {
    return object;
  }
  if (typeof witness !== 'object' || !Array.isArray(witness?.members)) return object;
  const loser = witness.members.find((member) => member?.claim === witness.loser)?.object;
  return typeof loser === 'string' ? loser : object;
}
