import type { FactVersion } from '#ledger';
import { type FactRow, readWitness } from '#memory';
import { periodText } from '../input/periods.ts';
import { shortId } from '../store/entries.ts';
import { isErasedText } from '../store/erased-text.ts';
import type { Column, Output } from '../terminal/output.ts';
import { line, type Printable, type Value } from '../terminal/printable.ts';

/** Characters of what is said that are shown in a table; --json has all of it. */
const SHOWN_MAX = 80;

const COLUMNS: readonly Column[] = [
  { title: 'fact' },
  { title: 'subject' },
  { title: 'predicate' },
  { title: 'object' },
  { title: 'confidence', align: 'right' },
  { title: 'valid' },
  { title: 'believed' },
];

/** A row each; of what lost a contradiction, to whom. `marks` stand in a column of their own, before the others. */
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
  const { fact_id, subject, predicate, confidence, valid_from, valid_to, system_time_start, system_time_end } = fact;
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

/** What is said, or who lost to whom. */
export function saidOf(fact: FactRow): Printable {
  if (fact.row_kind === 'current' || isErasedText(fact.object)) return line`${shortened(fact.object)}`;
  const { members, winner, loser } = readWitness(fact);
  const objectOf = (claim: string): string => members.find((member) => member.claim === claim)?.object ?? claim;
  return line`${shortened(objectOf(loser))} lost to ${shortened(objectOf(winner))}`;
}

/** As much of an id as tells facts apart: ids of pieces and of losers have more than a claim. */
export function shortFact(id: FactVersion['fact_id']): string {
  return id.replace(/[0-9a-f]{64}/g, shortId);
}

export function shortened(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)} … ${text.length - SHOWN_MAX} more characters`;
}
