import type { Json } from '#base';
import { isBranchPartitionName, isFactObject, isPartitionName } from '../entry/belief-shape.ts';
import type { Payload } from '../entry/entry.ts';

/** The form required of a value in a position. */
export interface PositionForm {
  readonly check: (value: unknown) => boolean;
  readonly what: string;
}

/**
 * The forms of values by their references, in positions that require one. A fold also fails on
 * another form; values that only other folds read have their form checked here.
 */
export function formsOf(payload: Payload): ReadonlyMap<unknown, PositionForm> {
  const forms = new Map<unknown, PositionForm>();
  if (payload.kind === 'root') {
    forms.set(payload.initial_state, OBJECT);
  } else if (payload.kind === 'pending_approval') {
    const { delta, approval } = payload.proposal;
    for (const stored of [delta.state, approval]) forms.set(stored, LIST);
  } else if (payload.kind === 'delegation') {
    forms.set(payload.begins?.initial_state, OBJECT);
  } else if (payload.kind === 'commit') {
    forms.set(payload.delta.state, LIST);
    for (const { partition, insert, inherit } of payload.delta.beliefs) {
      forms.set(partition, inherit === undefined ? PARTITION : BRANCH_PARTITION);
      for (const { object } of [...insert, ...(inherit?.rows ?? [])])
        forms.set(object, FACT_OBJECT);
    }
  }
  return forms;
}

const LIST: PositionForm = { check: Array.isArray, what: 'a list' };
const OBJECT: PositionForm = { check: isObject, what: 'an object' };
export const PARTITION: PositionForm = { check: isPartitionName, what: 'the name of a partition' };
export const BRANCH_PARTITION: PositionForm = {
  check: isBranchPartitionName,
  what: 'the name of a partition of a branch',
};
const FACT_OBJECT: PositionForm = { check: isFactObject, what: 'the object of a fact' };

export function isObject(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
