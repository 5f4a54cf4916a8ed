import { MemoryError } from './errors.ts';
import { type GivenPeriod, readPeriod } from './period.ts';

/** The thirteen relations of two periods. Exactly one holds (Allen 1983). */
export const ALLEN_RELATIONS = Object.freeze([
  'before',
  'meets',
  'overlaps',
  'starts',
  'during',
  'finishes',
  'equals',
  'finished-by',
  'contains',
  'started-by',
  'overlapped-by',
  'met-by',
  'after',
] as const);

export type AllenRelation = (typeof ALLEN_RELATIONS)[number];

/**
 * The relation of the first period to the second.
 * @throws MemoryError `no_instant`, `empty_period`, `reversed_period`
 */
export function allenRelation(first: GivenPeriod, second: GivenPeriod): AllenRelation {
  const a = readPeriod(first);
  const b = readPeriod(second);
  if (a.to <= b.from) return a.to === b.from ? 'meets' : 'before';
  if (b.to <= a.from) return b.to === a.from ? 'met-by' : 'after';
  if (a.from === b.from) return a.to === b.to ? 'equals' : a.to < b.to ? 'starts' : 'started-by';
  if (a.to === b.to) return a.from > b.from ? 'finishes' : 'finished-by';
  if (a.from < b.from) return a.to > b.to ? 'contains' : 'overlaps';
  return a.to < b.to ? 'during' : 'overlapped-by';
}

/** @throws MemoryError `bad_argument` */
export function requireRelation(relation: AllenRelation): void {
  if (ALLEN_RELATIONS.includes(relation)) return;
  throw new MemoryError(
    'bad_argument',
    `The relation is not valid. Use one of ${ALLEN_RELATIONS.join(', ')}.`,
  );
}
