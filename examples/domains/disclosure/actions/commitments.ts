/**
 * The Commitment Management Agent: commits to undisclosed artifacts, and opens the commitments at
 * disclosure.
 */
import { z } from 'zod';
import { artifact, sha256, text } from '../schema.ts';
import { action, ensured } from './action.ts';
import { requireAssigned } from './patch-tracking.ts';

export const commitments = {
  publish_commitment: action({
    process: 'ManageCommitments',
    description: 'Publish the commitment to an unpublished artifact (`commitmentOf`).',
    args: z.object({ artifact, hash: sha256 }),
    apply: (state, { artifact, hash }, { role, at }) => {
      requireAssigned(state, role, 'CommitmentManagement');
      const published = ensured(state.commitments, role.vulnerability, {});
      if (published[hash] !== undefined) throw new Error(`${hash} has been published already`);
      published[hash] = { artifact, at };
    },
  }),

  resolve_commitment: action({
    process: 'ManageCommitments',
    description: 'Open a commitment: reveal its salt, and the SHA-256 of the artifact.',
    args: z.object({ hash: sha256, salt: text, digest: sha256 }),
    apply: (state, { hash, salt, digest }, { role, at }) => {
      requireAssigned(state, role, 'CommitmentManagement');
      // The registry's rules check whether the commitment exists and whether this opens it.
      ensured(state.resolutions, role.vulnerability, []).push({ hash, salt, digest, at });
    },
  }),
};
