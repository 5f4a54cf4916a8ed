import type { LedgerStore } from 'assize';
import { hashText, type Json, parseStrict, WORLD_LIMITS } from 'assize/canon';
import { isBlobRef, type Observation, type Payload, type Stored } from 'assize/ledger';

/** A value that a payload names by hash, because it is large. */
export interface NamedBlob {
  /** JSON pointer of its place in the payload. */
  readonly pointer: string;
  readonly hash: string;
  readonly bytes: number;
}

/** Every large value of a payload. References stand in these places only: elsewhere the same words are plain data. */
export function blobsOf(payload: Payload): NamedBlob[] {
  return placesOf(payload).flatMap(([pointer, value]) =>
    isBlobRef(value) && value.$blob !== undefined ? [{ pointer, hash: value.$blob, bytes: value.bytes }] : [],
  );
}

/** The value of a blob; undefined when the store does not have it, or has something else under that name. */
export async function blobValue(store: LedgerStore, hash: string): Promise<Json | undefined> {
  const text = await store.blob(hash);
  return text === undefined || hashText(text) !== hash ? undefined : parseStrict(text, WORLD_LIMITS);
}

type Place = readonly [pointer: string, value: Stored | undefined];

function placesOf(payload: Payload): Place[] {
  switch (payload.kind) {
    case 'root':
      return [['/initial_state', payload.initial_state]];
    case 'branch':
      return [];
    case 'commit':
      return [
        ['/action/args', payload.action.args],
        ['/delta/state', payload.delta.state as Stored],
        ...observed('/observations', payload.observations),
      ];
    case 'rejection':
      return [['/intent/args', payload.intent.args], ...observed('/intent/observations', payload.intent.observations)];
    case 'pending_approval':
      return [
        ['/proposal/action/args', payload.proposal.action.args],
        ['/proposal/delta/state', payload.proposal.delta.state as Stored],
        ['/proposal/approval', payload.proposal.approval as Stored],
        ...observed('/proposal/observations', payload.proposal.observations),
      ];
    case 'delegation':
      return [
        ['/begins/initial_state', payload.begins?.initial_state],
        ['/final_answer', payload.final_answer],
      ];
  }
}

function observed(pointer: string, observations: readonly Observation[]): Place[] {
  return observations.map(({ value }, i) => [`${pointer}/${i}/value`, value]);
}
