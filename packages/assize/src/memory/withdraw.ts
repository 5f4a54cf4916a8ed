import { displacedBy, tokensOf } from './displaced.ts';
import type { FactRow } from './fact.ts';
import { Polynomial } from './provenance/polynomial.ts';
import { preferred, type Strategy } from './strategy.ts';

/** The claim of a write token, as the ledger has it. */
export interface StatedClaim {
  readonly claim: string;
  readonly object: string;
  readonly confidence: number;
  readonly source?: string | undefined;
  readonly assertedSeq: number;
  readonly assertedFrom: string;
  readonly isOfAssistant?: boolean;
}

/** The claims of write tokens; undefined if a claim was erased. */
export type StatedClaims = ReadonlyMap<string, StatedClaim | undefined>;

/** The tokens of statements that name one of the sources. */
export function tokensOfSources(sources: readonly string[], claims: StatedClaims): Set<string> {
  const isOfOne = (claim: StatedClaim | undefined): boolean =>
    claim?.source !== undefined && sources.includes(claim.source);
  return new Set([...claims].flatMap(([token, claim]) => (isOfOne(claim) ? [token] : [])));
}

/** The facts of a withdrawal's commit that it does not take over from facts that it closed. */
export function restoredIn(history: readonly FactRow[], entry: string): FactRow[] {
  const isFrom = (before: FactRow, row: FactRow): boolean =>
    before.system_time_end === row.system_time_start &&
    tokensOf(before).some((token) => tokensOf(row).includes(token));
  return history.filter(
    (row) =>
      row.entry_id === entry &&
      row.row_kind === 'current' &&
      !history.some((before) => isFrom(before, row)),
  );
}

/** Those of the writes that lost in a partition's history, and could hold again. */
export function lostWrites(
  history: readonly FactRow[],
  writes: ReadonlySet<string>,
): readonly string[] {
  const without = (row: FactRow, withdrawn: ReadonlySet<string>): FactRow | undefined =>
    withoutWrites(row, { withdrawn, claims: new Map(), strategy: 'lww' });
  return displacedBy({ history, withdrawn: writes, strategy: 'lww', without }).lost;
}

/**
 * The fact without some writes: its provenance with X := 0. The same row if it does
 * not rest on them, and undefined if it rests on nothing else. Otherwise it is the fact that the
 * other claims state, with the confidence that the strategy prefers among them.
 */
export function withoutWrites(
  row: FactRow,
  {
    withdrawn: gone,
    claims,
    strategy,
  }: {
    readonly withdrawn: ReadonlySet<string>;
    readonly claims: StatedClaims;
    readonly strategy: Strategy;
  },
): FactRow | undefined {
  const before = Polynomial.read(row.provenance_id);
  const withdrawn = before.tokens.filter((token) => gone.has(token));
  if (withdrawn.length === 0) return row;
  const left = withdrawn.reduce((sum, token) => sum.substitute(token, Polynomial.zero), before);
  if (left.terms.size === 0) return undefined;
  const others = left.tokens.flatMap((token) => claims.get(token) ?? []);
  const provenance_id = String(left);
  // An erased claim still stands behind the fact, and gave it its columns.
  if (others.length === 0) return { ...row, provenance_id };
  const best = preferred(strategy, others, (claim) => claim);
  const isHeadLeft = others.some(({ claim }) => claim === row.lineage);
  const head =
    strategy === 'lww-valid' || !isHeadLeft
      ? {
          fact_id: best.claim,
          lineage: best.claim,
          object: best.object,
        }
      : {};
  // The fact ranks by the preferred claim that is left, also under the name of an earlier one.
  const rank = {
    confidence: best.confidence,
    asserted_seq: best.assertedSeq,
    asserted_from: best.assertedFrom,
  };
  return { ...row, ...head, ...rank, provenance_id };
}
