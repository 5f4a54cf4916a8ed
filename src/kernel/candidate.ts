import { toPointer } from '#canon';
import { type Change, changesOf } from './changes.ts';
import { type Compiled, frozen, type Refusal } from './compile.ts';
import type { Instant, Observed } from './domain.ts';
import { Draft } from './draft.ts';
import { FootprintFault, messageOf, ValueFault } from './errors.ts';
import { changeOutside } from './footprint.ts';
import { changesFault } from './schema.ts';
import type { World } from './world.ts';

/** What `apply` depends on beside state, role and arguments. */
export interface Inputs {
  readonly at: Instant;
  readonly observations: readonly Observed[];
}

/** A changed state that is not yet kept: every way out of the caller must keep it or undo it. */
export interface Candidate {
  readonly draft: Draft;
  readonly changes: readonly Change[];
}

/** Runs `apply` on the world in place, checks footprint and types of what changed; on a refusal nothing stays. */
export function candidateOf(world: World, compiled: Compiled, inputs: Inputs): Candidate | Refusal {
  const draft = new Draft(world.state, world.owned);
  try {
    runApply(draft, compiled, inputs);
    const changes = changesOf(draft);
    const refusal = faultOfChanges(world, compiled, draft, changes);
    if (refusal === undefined) return { draft, changes };
    world.takeBack(draft);
    return refusal;
  } catch (error) {
    world.takeBack(draft);
    return refusalOf(error, compiled.name);
  }
}

export function runApply(draft: Draft, { action, role, args, binding }: Compiled, { at, observations }: Inputs): void {
  const context = { role: role.params, at, observations: frozen(observations) };
  draft.within(binding.scope, (state) => refusePromise(action.apply(state, args, context), 'apply'));
}

/** Whatever an asynchronous function does later meets a draft that has ended, and must not end the process. */
export function refusePromise(returned: unknown, what: string): void {
  if (!isThenable(returned)) return;
  if (returned instanceof Promise) returned.then(undefined, () => undefined);
  throw new ValueFault(`${what} returned a promise; it must be synchronous, with results from outside as observations`);
}

function faultOfChanges(
  world: World,
  compiled: Compiled,
  draft: Draft,
  changes: readonly Change[],
): Refusal | undefined {
  const outside = changeOutside(compiled.binding.writes, changes);
  if (outside !== undefined) {
    return { reason: 'invalid_authority', detail: `${compiled.name} may not change ${toPointer(outside.keys)}` };
  }
  const fault = changesFault(world.domain.state, draft.state, changes);
  if (fault === undefined) return undefined;
  return { reason: 'type_mismatch', detail: `the result of ${compiled.name} does not fit: ${fault}` };
}

function refusalOf(error: unknown, name: string): Refusal {
  if (error instanceof FootprintFault) return { reason: 'invalid_authority', detail: `${name}: ${error.message}` };
  if (error instanceof ValueFault)
    return { reason: 'type_mismatch', detail: `the result of ${name} does not fit: ${error.message}` };
  return { reason: 'precondition_failed', detail: messageOf(error) };
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function';
}
