import { detailOf, type Finding } from 'assize/internal/kernel';
import type { VectorItem } from 'assize/internal/ledger';
import { type EntryPlace, type Findings, isSame } from './report.ts';

/** The invariants that fail in a recorded vector. */
export function brokenBy(vector: readonly VectorItem[]): BrokenByRecord {
  return new Set(
    vector.filter(({ result }) => result !== 'pass').map(({ invariant_id }) => invariant_id),
  );
}

/**
 * The violations as a vector has them: the first member of each invariant. Findings come in the
 * order of the rules.
 */
export function vectorOf(findings: readonly Finding[]): VectorItem[] {
  const byRule = new Map<string, VectorItem>();
  for (const finding of findings) {
    const { rule, result } = finding;
    if (byRule.has(rule.id)) continue;
    byRule.set(rule.id, {
      invariant_id: rule.id,
      result: result.result,
      detail: detailOf(finding),
    });
  }
  return [...byRule.values()];
}

/**
 * Compares the results of every invariant on a state. Without a recorded vector all of them passed.
 */
export function compareVectors(
  findings: Findings,
  place: EntryPlace,
  recorded: readonly VectorItem[],
  now: readonly VectorItem[],
): boolean {
  const [then, later] = [broken(recorded), broken(now)];
  const alike = isSame(then.map(short), later.map(short));
  if (!alike) findings.differs(place, 'vector', then, later);
  else if (!isSame(then, later)) findings.reworded++;
  return alike;
}

function broken(vector: readonly VectorItem[]): VectorItem[] {
  return vector.filter(({ result }) => result !== 'pass');
}

function short({ invariant_id, result }: VectorItem) {
  return { invariant_id, result };
}

/** Invariants that fail according to the record, by id. */
export type BrokenByRecord = ReadonlySet<string>;
