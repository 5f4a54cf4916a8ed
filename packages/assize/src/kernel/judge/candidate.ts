import { deepFreeze, isInstance } from '#base';
import { toPointer } from '#canon';
import type { ProposedCall } from '../domain/call.ts';
import type { Change } from '../domain/change.ts';
import { changeOutside } from '../domain/footprint.ts';
import { refusePromise } from '../domain/host-code.ts';
import { changesFault } from '../domain/schema.ts';
import { FootprintFault, messageOf, ValueFault } from '../errors.ts';
import { changesOf } from '../state/changes.ts';
import type { Draft } from '../state/draft.ts';
import type { Compiled, Refusal } from './compiled.ts';
import type { Inputs } from './inputs.ts';
import type { World } from './world.ts';

/** A changed state that is not yet kept. The caller must keep it or undo it in every case. */
export interface Candidate {
  readonly draft: Draft;
  readonly changes: readonly Change[];
}

/**
 * Runs `apply` on the state in place, and checks footprint and types of the changes. A refusal
 * leaves no change.
 */
export function candidateOf(world: World, compiled: Compiled, inputs: Inputs): Candidate | Refusal {
  const draft = world.draft();
  try {
    runApply(draft, compiled, inputs);
    const changes = changesOf(draft);
    const refusal = faultOfChanges(world, compiled, draft, changes);
    if (refusal === undefined) return { draft, changes };
    world.rollback(draft);
    return refusal;
  } catch (error) {
    world.rollback(draft);
    return refusalOf(error, compiled.name);
  }
}

export function runApply(
  draft: Draft,
  { action, role, args, binding }: Compiled,
  inputs: Inputs,
): void {
  const { at, observations } = inputs;
  const context = {
    role: role.params,
    at,
    observations: deepFreeze(observations),
    calls: callsOfBody(inputs),
  };
  draft.within(binding.scope, (state) =>
    refusePromise(action.apply(state, args, context), 'apply'),
  );
}

/**
 * `apply` decides which calls the action declares, so it cannot see them. All are frozen, because
 * `apply` runs before every rule, and the rules receive all.
 */
function callsOfBody({ calls }: Inputs): readonly ProposedCall[] {
  if (calls === undefined || calls.length === 0) return NO_CALLS;
  return Object.freeze(deepFreeze(calls).filter(({ isDeclared }) => isDeclared !== true));
}

const NO_CALLS: readonly ProposedCall[] = Object.freeze([]);

/** The refusal of changes outside the footprint or of other types. */
export function faultOfChanges(
  world: World,
  compiled: Compiled,
  draft: Draft,
  changes: readonly Change[],
): Refusal | undefined {
  const outside = changeOutside(compiled.binding.writes, changes);
  if (outside !== undefined) {
    return {
      reason: 'invalid_authority',
      detail: `${compiled.name} may not change ${toPointer(outside.keys)}`,
    };
  }
  const fault = changesFault(world.domain.state, draft.state, changes);
  if (fault === undefined) return undefined;
  return {
    reason: 'type_mismatch',
    detail: `the result of ${compiled.name} does not fit: ${fault}`,
  };
}

/** The refusal of an error of `apply`. */
export function refusalOf(error: unknown, name: string): Refusal {
  if (isInstance(error, FootprintFault))
    return { reason: 'invalid_authority', detail: `${name}: ${error.message}` };
  if (isInstance(error, ValueFault))
    return {
      reason: 'type_mismatch',
      detail: `the result of ${name} does not fit: ${error.message}`,
    };
  const text = messageOf(error);
  const hint = FROZEN.test(text) ? `. ${READ_BACK}` : '';
  return { reason: 'precondition_failed', detail: `${text}${hint}` };
}

/** The messages of the engine for a change of a frozen value. */
const FROZEN = /object is not extensible|read only property|Cannot delete property/;
const READ_BACK =
  'Arguments, context and assigned objects are frozen; to change an assigned value further, read it back from `state`';
