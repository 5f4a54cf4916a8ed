import type { FactVersion } from 'assize/internal/ledger';
import { type FactRow, readWitness } from 'assize/internal/memory';
import { shortId } from 'assize/internal/views';
import { periodText } from '../input/periods.ts';
import type { Column, Output } from '../terminal/output.ts';
import { line, type Printable, type Value } from '../terminal/printable.ts';
import { isErasedText } from './erased-text.ts';

/** Maximum number of characters of a fact in a table; --json has all of it. */
const SHOWN_MAX = 80;

const COLUMNS: readonly Column[] = [
  { title: 'fact' },
  { title: 'subject' },
  { title: 'predicate' },
  { title: 'object' },
  { title: 'confidence', align: 'right' },
  { title: 'valid' },
  { title: 'recorded' },
];

/** One row per fact. A losing assertion names its winner. `marks` are the first column. */
export function printFacts(
  out: Output,
  facts: readonly FactRow[],
  marks?: readonly Value[],
  column: Column = { title: '' },
): void {
  out.table(
    [...(marks === undefined ? [] : [column]), ...COLUMNS],
    facts.map((fact, i) => [...(marks === undefined ? [] : [marks[i] as Value]), ...cells(fact)]),
  );
}

function cells(fact: FactRow): Value[] {
  const {
    fact_id,
    subject,
    predicate,
    confidence,
    valid_from,
    valid_to,
    system_time_start,
    system_time_end,
  } = fact;
  return [
    shortFact(fact_id),
    subject,
    predicate,
    saidOf(fact),
    confidence,
    periodText(valid_from, valid_to),
    periodText(system_time_start, system_time_end),
  ];
}

/** The fact's object, or the winner of a losing assertion. */
export function saidOf(fact: FactRow): Printable {
  if (fact.row_kind === 'current' || isErasedText(fact.object))
    return line`${shortened(fact.object)}`;
  const { members, winner, loser } = readWitness(fact);
  const objectOf = (claim: string): string =>
    members.find((member) => member.claim === claim)?.object ?? claim;
  return line`${shortened(objectOf(loser))} lost to ${shortened(objectOf(winner))}`;
}

/**
 * Enough of an id to distinguish facts: ids of parts and of losing assertions are longer than a
 * claim's.
 */
export function shortFact(id: FactVersion['fact_id']): string {
  return id.replace(/[0-9a-f]{64}/g, shortId);
}

export function shortened(text: string): string {
  return text.length <= SHOWN_MAX
    ? text
    : `${text.slice(0, SHOWN_MAX)} … ${text.length - SHOWN_MAX} more characters`;
}
