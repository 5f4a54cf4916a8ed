import type { createAssize } from 'assize/internal/config';
import { openStore } from 'assize/internal/stores';
import { OntologyError } from '../errors.ts';
import type { DraftState, draftDomain } from './draft-domain.ts';

/** The ledger of one draft. */
export type DraftWorld = Awaited<ReturnType<typeof createAssize<typeof draftDomain>>>;

/** The trajectories of the drafts in a store. @throws the errors of `openStore` */
export async function draftsIn(storeUrl: string): Promise<string[]> {
  const store = await openStore(storeUrl, { mode: 'existing' });
  try {
    const all = await store.trajectories();
    return all
      .map(({ trajectory_id }) => trajectory_id)
      .filter((name) => name.startsWith('draft-'));
  } finally {
    await store.close();
  }
}

/** A module that a draft submits. */
export type Submission = DraftState['submitted'][string];

/** The submission of a module that waits for a person. */
export function pendingFor(
  world: DraftWorld,
  module: string,
): { readonly id: string; readonly args: Submission } | undefined {
  for (const { id, payload } of world.trajectory.approvals.pending()) {
    const { name, args } = payload.proposal.action;
    const given = args as unknown as Submission;
    if (name === 'submit' && given.module === module) return { id, args: given };
  }
  return undefined;
}

export function stateOf({ trajectory }: DraftWorld): DraftState {
  return trajectory.state() as unknown as DraftState;
}

/** @throws OntologyError `not_acceptable` for another ruling */
export async function requireRuling(
  ruling: Promise<{ readonly ruling: string; readonly detail?: string }>,
  wanted: 'committed' | 'escalated',
): Promise<void> {
  const { ruling: found, detail = '' } = await ruling;
  if (found === wanted) return;
  const why = detail.replace(/\.$/, '');
  throw notAcceptable(
    `The record of the draft is refused (${found}): ${why}. Draft the module again.`,
  );
}

export function notAcceptable(
  message: string,
  evidence: Readonly<Record<string, unknown>> = {},
): OntologyError {
  return new OntologyError('not_acceptable', message, { evidence });
}
