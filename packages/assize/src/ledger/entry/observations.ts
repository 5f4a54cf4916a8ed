import type { Observation, Payload } from './entry.ts';

/** The observations of a proposal, in each kind of entry that records one. */
export function observationsOf(payload: Payload): readonly Observation[] {
  switch (payload.kind) {
    case 'commit':
      return payload.observations;
    case 'pending_approval':
      return payload.proposal.observations;
    case 'rejection':
      return payload.intent.observations;
    default:
      return [];
  }
}
