import { type GatheredProposal, proposalIdOf } from '../../records/intent.ts';
import type { NamedRun } from '../../writer/domain-watch.ts';

/** The run of a proposal. Without a key, equal content has an equal id. */
export function proposalRun({ keyHash, principal, ...read }: GatheredProposal, trajectoryId: string): NamedRun {
  const id = keyHash ?? proposalIdOf(read, { trajectoryId, nonce: '', writ: '' });
  return { step: 'proposal', id, action: read.intent.action, principal };
}
