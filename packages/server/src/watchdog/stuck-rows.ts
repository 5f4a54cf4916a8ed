import type { Json } from 'assize/internal/base';
import { canonicalize, hashText, readCanonical } from 'assize/internal/canon';
import type { Instant, SideRow } from 'assize/internal/ledger';
import type { DomainRun } from 'assize/internal/runtime';

/** The kind of the rows of runs that blocked a process. */
export const STUCK_KIND = 'stuck';

/** A run of domain code that blocked a process. */
export interface StuckRun {
  readonly step: DomainRun['step'];
  readonly trajectory: string;
  readonly action?: string;
  readonly principal?: string;
  readonly at: Instant;
}

/** The key of a run's row. Another version of the domain gives another key. */
export function stuckKey({ step, domain, id }: DomainRun): string {
  return hashText(canonicalize(['assize/stuck/v1', step, domain, id]));
}

export function stuckOf({ step, trajectoryId, action, principal }: DomainRun, at: Instant): StuckRun {
  return { step, trajectory: trajectoryId, ...(action && { action }), ...(principal && { principal }), at };
}

export function stuckIn({ body }: SideRow): StuckRun {
  return readCanonical(body) as unknown as StuckRun;
}

export function stuckBody(stuck: StuckRun): string {
  return canonicalize(stuck as unknown as Json);
}
