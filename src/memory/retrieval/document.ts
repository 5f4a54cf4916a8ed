import { form, requireForm } from '#base';
import type { FactRow } from '../fact.ts';
import { OPEN_START } from '../period.ts';
import { lettersOf, WORDS_MAX, wordsOf } from './words.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/**
 * What a version of a fact is found by: the day since when its claim said that it is so, subject, predicate and object; of what lost a
 * contradiction its own object. All versions of a claim have one text, also those that are left over or widened.
 * @throws ArgumentError `bad_argument`
 */
export function documentOf(row: Documented): string {
  requireForm(ROW, row, 'row');
  return partsOf(row)
    .filter((part) => part !== '')
    .join(' ');
}

/**
 * The words that text is found by, part for part: a subject, predicate or object that has only words that stand everywhere, as `The Who` or `it`,
 * is found by those. Behind them single letters.
 * @throws ArgumentError `bad_argument`
 */
export function wordsOfDocument(row: Documented): string[] {
  requireForm(ROW, row, 'row');
  const parts = partsOf(row);
  return [...parts.flatMap(wordsOf), ...parts.flatMap(lettersOf)].slice(0, WORDS_MAX);
}

/** What is read of a version. */
type Documented = Pick<FactRow, 'subject' | 'predicate' | 'object' | 'asserted_from' | 'row_kind'>;

function partsOf(row: Documented): readonly string[] {
  const said = row.row_kind === 'audit' ? lost(row.object) : row.object;
  return [dayText(dayOf(row)), row.subject, row.predicate, said];
}

const DAY = form.members({ asserted_from: form.text });
const ROW = form.members({
  subject: form.text,
  predicate: form.text,
  object: form.text,
  asserted_from: form.text,
  row_kind: form.text,
});

/** The day of its text; empty where it has always been so. @throws ArgumentError `bad_argument` */
export function dayOf(row: Pick<FactRow, 'asserted_from'>): string {
  requireForm(DAY, row, 'row');
  const { asserted_from } = row;
  return asserted_from === OPEN_START ? '' : asserted_from.slice(0, 10);
}

/** In numbers and in words: `2026-04-16 16 April 2026`. */
function dayText(day: string): string {
  if (day === '') return '';
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return `${day} ${date} ${MONTHS[month - 1]} ${day.slice(0, 4)}${year < 1000 ? ` ${year}` : ''}`;
}

/** The object of the loser in a witness; what is none, is itself. */
function lost(object: string): string {
  // To find that out by what parsing it throws takes longer than all else here.
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
