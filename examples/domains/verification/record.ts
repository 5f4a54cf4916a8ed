/** Functions of the rows of one finding. They read only their arguments. */
import type { Assignment, Evidence, Finding, Report, Sha256, Verdict } from './schema.ts';

type Rows<Row> = Readonly<Record<string, Row>>;

/** The evidence that there was just before event `n`, in order. */
export function evidenceAt(evidence: Rows<Evidence>, n: number): readonly Sha256[] {
  return Object.keys(evidence)
    .filter((hash) => isThere(evidence[hash], n))
    .sort();
}

export function isThere(item: Evidence | undefined, n: number): boolean {
  return item !== undefined && item.n < n && (item.withdrawn ?? Number.POSITIVE_INFINITY) >= n;
}

export function isSameEvidence(a: readonly Sha256[], b: readonly Sha256[]): boolean {
  return a.length === b.length && a.every((hash, i) => hash === b[i]);
}

/**
 * Whether a verdict stood just before event `n`: the evidence has not changed since the verdict. An
 * outdated verdict does not become valid again when the evidence returns to its earlier state.
 */
export function stands(
  verdict: Verdict,
  { evidence }: Pick<Finding, 'evidence'>,
  n: number,
): boolean {
  const isBetween = (event: number | undefined): boolean =>
    event !== undefined && verdict.n < event && event < n;
  return (
    verdict.n < n &&
    !Object.values(evidence).some((item) => isBetween(item.n) || isBetween(item.withdrawn))
  );
}

/** The expert with the finding just before event `n`. */
export function expertAt(assignments: Rows<Assignment>, n: number): string | undefined {
  return Object.values(assignments).find(
    (row) => row.n < n && (row.released ?? Number.POSITIVE_INFINITY) >= n,
  )?.expert;
}

export function stoodAt({ n: made, retracted }: Report, n: number): boolean {
  return made < n && (retracted === undefined || retracted.n >= n);
}
