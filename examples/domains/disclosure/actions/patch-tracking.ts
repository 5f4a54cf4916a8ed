/**
 * The Patch Tracking Agent: observations at the receiving organisation and elsewhere about one
 * vulnerability.
 */

import type { Instant } from 'assize/internal/canon';
import { z } from 'zod';
import {
  type AssignedRole,
  cveId,
  cveSource,
  type DisclosureState,
  knowledgeStatus,
  type SignalKind,
  severity,
  text,
} from '../schema.ts';
import { action, ensured } from './action.ts';

interface Bound {
  readonly agent: string;
  readonly vulnerability: string;
}

/** @throws Error unless the desk has assigned the agent to the vulnerability in that role */
export function requireAssigned(
  state: DisclosureState,
  { agent, vulnerability }: Bound,
  role: AssignedRole,
): void {
  if (state.assignments[agent]?.vulnerabilities[vulnerability]?.role !== role) {
    throw new Error(`${agent} is not assigned to ${vulnerability} for ${role}`);
  }
}

/**
 * Records a signal.
 * @returns its index among the vulnerability's signals
 */
function observe(
  state: DisclosureState,
  vulnerability: string,
  kind: SignalKind,
  reference: string,
  at: Instant,
) {
  const signals = ensured(state.signals, vulnerability, []);
  return signals.push({ kind, reference, at }) - 1;
}

export const patchTracking = {
  observe_patch: action({
    process: 'DevelopPatch',
    description:
      'Record that the receiving organisation has developed a patch, and where it can be seen.',
    args: z.object({ kind: z.enum(['commit', 'release', 'advisory']), reference: text }),
    apply: (state, { kind, reference }, { role, at }) => {
      requireAssigned(state, role, 'PatchTracking');
      const patches = ensured(state.patches, role.vulnerability, []);
      if (patches.length > 0 && patches.at(-1)?.review?.robust !== false) {
        throw new Error('a patch exists already, and no review has rejected it');
      }
      patches.push({
        developed: { signal: observe(state, role.vulnerability, kind, reference, at), at },
      });
    },
  }),

  review_patch: action({
    process: 'ReviewPatch',
    description: 'Record the result of a review: whether the patch closes the vulnerability.',
    args: z.object({ robust: z.boolean(), note: text }),
    apply: (state, { robust, note }, { role, at }) => {
      requireAssigned(state, role, 'PatchTracking');
      const patch = state.patches[role.vulnerability]?.at(-1);
      if (patch === undefined)
        throw new Error(`there is no patch of ${role.vulnerability} to review`);
      if (patch.review !== undefined) throw new Error('the patch has been reviewed');
      patch.review = { robust, note, at };
    },
  }),

  observe_release: action({
    process: 'ReleaseFix',
    description: 'Record that the receiving organisation has released the patch, and where.',
    args: z.object({ kind: z.enum(['release', 'advisory']), reference: text }),
    apply: (state, { kind, reference }, { role, at }) => {
      requireAssigned(state, role, 'PatchTracking');
      const patch = state.patches[role.vulnerability]?.at(-1);
      if (patch === undefined)
        throw new Error(`there is no patch of ${role.vulnerability} that could be released`);
      if (patch.released !== undefined) throw new Error('the patch has been released');
      patch.released = { signal: observe(state, role.vulnerability, kind, reference, at), at };
    },
  }),

  revise_severity: action({
    process: 'ReviseSeverity',
    description:
      'Adopt a severity of the receiving organisation. A coordinator decides on a lower one.',
    args: z.object({ severity, reference: text }),
    apply: (state, { severity: to, reference }, { role, at }) => {
      requireAssigned(state, role, 'PatchTracking');
      const record = state.severities[role.vulnerability];
      if (record === undefined) throw new Error(`there is no vulnerability ${role.vulnerability}`);
      if (record.current === to) throw new Error(`the severity is ${to} already`);
      record.revisions.push({ from: record.current, to, reference, at });
      record.current = to;
    },
  }),

  request_cve: action({
    process: 'ObserveSignals',
    description: 'Ask a numbering authority for a CVE identifier.',
    args: z.object({}),
    apply: (state, _, { role, at }) => {
      requireAssigned(state, role, 'PatchTracking');
      const cves = ensured(state.cves, role.vulnerability, { assigned: {} });
      if (cves.requested_at !== undefined)
        throw new Error('an identifier has been requested already');
      cves.requested_at = at;
    },
  }),

  observe_cve: action({
    process: 'ObserveSignals',
    description:
      'Record a CVE identifier: assigned by a numbering authority, or found on record here.',
    args: z.object({ cve: cveId, source: cveSource }),
    apply: (state, { cve, source }, { role, at }) => {
      requireAssigned(state, role, 'PatchTracking');
      const { assigned } = ensured(state.cves, role.vulnerability, { assigned: {} });
      if (assigned[cve] !== undefined) throw new Error(`${cve} is on record already`);
      observe(state, role.vulnerability, 'cve', cve, at);
      assigned[cve] = { source, at };
    },
  }),

  observe_publication: action({
    process: 'ObserveSignals',
    description:
      'Record how public a vulnerability is. A coordinator confirms that it is publicly known.',
    args: z.object({ status: knowledgeStatus, reference: text }),
    apply: (state, { status, reference }, { role, at }) => {
      requireAssigned(state, role, 'PatchTracking');
      if (state.knowledge[role.vulnerability]?.status === 'publicly-known') {
        throw new Error('the vulnerability is publicly known, which cannot be reverted');
      }
      const signal = observe(state, role.vulnerability, 'publication', reference, at);
      state.knowledge[role.vulnerability] = { status, signal, since: at };
    },
  }),
};
