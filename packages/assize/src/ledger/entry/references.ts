import type { Json } from '#base';
import { readCanonical } from '#canon';
import { blobOf, isBlobRef } from './blob.ts';
import type { AmendmentRecord, Delta, Observation, Payload } from './entry.ts';
import type { BeliefChange } from './fact-rows.ts';
import type { Hash, Stored } from './hash.ts';
import type { Patch } from './patch.ts';
import { revokedBy } from './system-actions.ts';

/** Hashes of the blobs that a payload refers to, in every position that can hold a reference. */
export function referencesOf(payload: Payload): Hash[] {
  return positionsOf(payload).flatMap((stored) =>
    stored === undefined ? [] : (blobOf(stored) ?? []),
  );
}

/** Hashes of the erasable blobs that a payload refers to. */
export function erasableHashesOf(payload: Payload): Hash[] {
  return positionsOf(payload).flatMap((stored) =>
    isBlobRef(stored) && stored.salted === true ? [stored.$blob] : [],
  );
}

/** The writs that a payload names and that may be stored as blobs under their own ids. */
export function writsNamedBy(payload: Payload): Hash[] {
  if (payload.kind === 'commit')
    return [payload.writ_id, revokedBy(payload)].filter((id) => id !== undefined);
  // The entry contains the delegated writ. Its parent may be newer than the root.
  if (payload.kind === 'delegation') return aboveOf(payload.writ);
  if (payload.kind === 'pending_approval') return [payload.proposal.writ_id];
  return payload.kind === 'rejection' && payload.writ_id !== undefined ? [payload.writ_id] : [];
}

/** The parent of a stored writ, if it has one. */
export function writParent(text: string): Hash | undefined {
  return aboveOf(readCanonical(text))[0];
}

function aboveOf(writ: Json): Hash[] {
  const parent = (writ as { readonly parent?: unknown } | null)?.parent;
  return typeof parent === 'string' ? [parent] : [];
}

/** The values of a payload in positions that can hold a reference. */
export function positionsOf(payload: Payload): (Stored | undefined)[] {
  switch (payload.kind) {
    case 'root':
      return [payload.initial_state, ...valuesIn(payload.sensitive)];
    case 'commit':
      return [
        payload.action.args,
        ...ofAmendment(payload.amended),
        ...ofDelta(payload.delta),
        ...valuesOf(payload.observations),
      ];
    case 'rejection':
      return [payload.intent.args, payload.intent.calls, ...valuesOf(payload.intent.observations)];
    case 'pending_approval': {
      const { action, delta, approval, observations, questions } = payload.proposal;
      return [
        action.args,
        ...ofDelta(delta),
        ...changesOf(approval),
        questions,
        ...valuesOf(observations),
      ];
    }
    case 'delegation':
      return [
        payload.begins?.initial_state,
        ...valuesIn(payload.begins?.sensitive),
        payload.final_answer,
      ];
    case 'branch':
    case 'key_change':
      return [];
  }
}

function ofAmendment(amended: AmendmentRecord | undefined): (Stored | undefined)[] {
  return amended === undefined ? [] : [amended.action.args, amended.difference];
}

function ofDelta({ state, effects, beliefs }: Delta): (Stored | undefined)[] {
  return [
    ...changesOf(state),
    ...effects.map(({ effect }) => effect),
    ...beliefs.flatMap(ofBeliefs),
  ];
}

function ofBeliefs({ partition, insert, inherit }: BeliefChange): Stored[] {
  return [
    partition,
    ...insert.map(({ object }) => object),
    ...(inherit?.rows ?? []).map(({ object }) => object),
  ];
}

/**
 * The values of a list of operations in positions that can hold a reference, or the list itself.
 */
export function changesOf(patches: Stored<readonly Patch[]>): (Stored | undefined)[] {
  return isBlobRef(patches) ? [patches] : valuesIn(patches);
}

/** The values of operations. The fold reports an operation without a value. */
export function valuesIn(patches: readonly Patch[] = []): (Stored | undefined)[] {
  return patches.map((patch) => (patch as { readonly value?: Stored } | null)?.value);
}

function valuesOf(observations: readonly Observation[]): (Stored | undefined)[] {
  return observations.map(({ value }) => value);
}
