import type { AffectedEntry } from 'assize/internal/runtime';
import type { AffectedCall } from './affected-call.ts';
import type { AffectedFact } from './affected-facts.ts';
import type { BlastRadius } from './blast-radius.ts';

/** A blast radius as commands and the server answer it. */
export interface BlastDocument {
  readonly entries: readonly {
    readonly id: string;
    readonly trajectory_id: string;
    readonly seq: number;
    readonly kind: AffectedEntry['kind'];
    readonly at: string;
    readonly action?: string;
    readonly is_start: boolean;
    readonly from: AffectedEntry['from'];
  }[];
  readonly facts: readonly FactDocument[];
  readonly ended: readonly FactDocument[];
  readonly calls: readonly (Omit<AffectedCall, 'trajectoryId'> & {
    readonly trajectory_id: string;
  })[];
  readonly pending: readonly string[];
  readonly total: number;
  readonly erased: number;
}

type FactDocument = Omit<AffectedFact, 'factId'> & { readonly fact_id: string };

export function blastDocument({
  entries,
  facts,
  ended,
  calls,
  pending,
  total,
  erased,
}: BlastRadius): BlastDocument {
  return {
    entries: entries.map(({ trajectoryId, isStart, ...entry }) => ({
      ...entry,
      trajectory_id: trajectoryId,
      is_start: isStart,
    })),
    facts: facts.map(factDocument),
    ended: ended.map(factDocument),
    calls: calls.map(({ trajectoryId, ...call }) => ({ ...call, trajectory_id: trajectoryId })),
    pending,
    total,
    erased,
  };
}

function factDocument({ factId, ...fact }: AffectedFact): FactDocument {
  return { ...fact, fact_id: factId };
}
